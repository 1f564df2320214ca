// SPDX-License-Identifier: Apache-2.0
#include "src/cache/labelled_pods.h"

#include <utility>

namespace berth::cache {
namespace {

constexpr size_t kMaxEmpty = 32;

void AppendText(const std::string& part, std::string& text) {
  const auto size = static_cast<uint32_t>(part.size());
  text.append(reinterpret_cast<const char*>(&size), sizeof(size));
  text += part;
}

void AppendIdentity(const api::ObjectMeta& metadata, std::string& text) {
  text += metadata.deletion_timestamp ? '\1' : '\0';
  AppendText(metadata.namespace_, text);
  for (const auto& [key, value] : metadata.labels) {
    AppendText(key, text);
    AppendText(value, text);
  }
}

}  // namespace

LabelledPodsTable::Found LabelledPodsTable::Count(NodeRow row,
                                                  const std::shared_ptr<const api::Pod>& pod,
                                                  int32_t delta) {
  if (num_empty_ > kMaxEmpty && num_empty_ > groups_.size() / 2) Sweep();
  scratch_.clear();
  AppendIdentity(pod->metadata, scratch_);
  auto at = groups_.find(scratch_);
  const bool added = at == groups_.end();
  if (added) {
    auto group = std::make_unique<LabelledPods>(LabelledPods{scratch_, pod, Counts(), {}});
    const std::string_view identity = group->identity;
    at = groups_.emplace(identity, std::move(group)).first;
    ++num_empty_;
  }
  LabelledPods& group = *at->second;
  if (group.by_row.empty()) --num_empty_;
  group.by_row.Add(row, delta);
  if (group.by_row.empty()) ++num_empty_;
  return {group, added};
}

void LabelledPodsTable::Sweep() {
  absl::erase_if(groups_, [](const auto& entry) { return entry.second->by_row.empty(); });
  num_empty_ = 0;
}

}  // namespace berth::cache
