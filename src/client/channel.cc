// SPDX-License-Identifier: Apache-2.0
#include "src/client/channel.h"

#include <algorithm>

namespace berth::client {

Transport& Channel::For(const IdentityPtr& identity) {
  if (current_ != nullptr && !current_->identity()->SameTls(*identity)) Retire();
  if (current_ == nullptr) current_ = std::make_unique<Transport>(loop_, config_, identity);
  return *current_;
}

void Channel::Distrust(const Transport* transport) {
  if (current_.get() == transport) Retire();
}

void Channel::Retire() {
  if (current_ != nullptr) old_.push_back(std::move(current_));
}

void Channel::EndOld() {
  for (const auto& one : old_) one->EndAll("the connection was renewed: certificates have changed");
}

bool Channel::needs_sweep() const {
  return std::any_of(old_.begin(), old_.end(), [](const auto& one) { return one->active() == 0; });
}

void Channel::Sweep() {
  std::erase_if(old_, [](const auto& one) { return one->active() == 0; });
}

void Channel::Clear() {
  current_.reset();
  old_.clear();
}

}  // namespace berth::client
