// SPDX-License-Identifier: Apache-2.0
#include "src/client/request_slots.h"

namespace berth::client {

std::string_view NamespaceOf(std::string_view path) {
  constexpr std::string_view kBefore = "/namespaces/";
  path = path.substr(0, path.find('?'));
  const size_t found = path.find(kBefore);
  if (found == std::string_view::npos) return {};
  const std::string_view rest = path.substr(found + kBefore.size());
  const size_t end = rest.find('/');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

bool RequestSlots::MayTake(std::string_view owner) const {
  constexpr size_t kTimesFree = 3;
  const auto found = held_.find(owner);
  if (found == held_.end()) return free() > 0;
  return free() > 0 && found->second < kTimesFree * (free() - 1);
}

void RequestSlots::Take(std::string_view owner) {
  ++taken_;
  ++held_.try_emplace(owner).first->second;
}

void RequestSlots::Free(std::string_view owner) {
  --taken_;
  const auto found = held_.find(owner);
  if (--found->second == 0) held_.erase(found);
}

}  // namespace berth::client
