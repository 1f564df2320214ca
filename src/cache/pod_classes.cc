// SPDX-License-Identifier: Apache-2.0
#include "src/cache/pod_classes.h"

#include <algorithm>
#include <utility>

namespace berth::cache {
namespace {

constexpr PodParts kKnownParts = (PodParts{1} << kNumPodParts) - 1;
constexpr size_t kMinSweptClasses = 1024;
constexpr size_t kMinSweepBytes = 1u << 20;

}  // namespace

struct PodClasses::ClassedPodInfo : PodInfo {
  ClassedPodInfo(PodInfo&& info, PodClassPtr its_class, ResourceTable::Hold its_names)
      : PodInfo(std::move(info)), keeps_alive(std::move(its_class)), names(std::move(its_names)) {}

  PodClassPtr keeps_alive;
  ResourceTable::Hold names;
};

void PodClasses::SetParts(PodParts parts) {
  if (parts == parts_) return;
  parts_ = parts;
  last_class_ = nullptr;
  ++epoch_;
}

PodInfoPtr PodClasses::Assign(PodInfo&& info, ResourceTable::Hold names) {
  if (classes_.size() >= sweep_at_ || fragment_bytes_ >= sweep_at_bytes_) {
    Sweep();
    sweep_at_ = std::max(kMinSweptClasses, 2 * classes_.size());
    sweep_at_bytes_ = std::max(kMinSweepBytes, 2 * fragment_bytes_);
  }
  PodClassPtr pod_class = Classify(info, names);
  const PodClassId id = pod_class == nullptr ? kNoPodClass : pod_class->id;
  auto classed =
      std::make_shared<ClassedPodInfo>(std::move(info), std::move(pod_class), std::move(names));
  classed->pod_class = id;
  classed->class_epoch = epoch_;
  return classed;
}

const Fragments* PodClasses::Find(PodClassId id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &it->second->ids;
}

size_t PodClasses::BytesOf(PodClassId id) const {
  const auto it = by_id_.find(id);
  if (it == by_id_.end()) return 0;
  size_t bytes = 0;
  for (const Fragment* fragment : it->second->fragments)
    if (fragment != nullptr) bytes += fragment->text.size();
  return bytes;
}

void PodClasses::Sweep() {
  last_class_ = nullptr;
  last_found_.fill(nullptr);
  // The table's own reference is the only one left, and only the table hands out new ones, so
  // the count cannot grow again behind our back.
  absl::erase_if(classes_, [this](const auto& entry) {
    const PodClassPtr& pod_class = entry.second;
    if (pod_class.use_count() > 1) return false;
    by_id_.erase(pod_class->id);
    for (Fragment* fragment : pod_class->fragments) {
      if (fragment == nullptr || --fragment->uses > 0) continue;
      fragment_bytes_ -= fragment->text.size();
      fragments_.erase(fragment->text);
    }
    return true;
  });
}

PodClasses::PodClassPtr PodClasses::Classify(const PodInfo& info,
                                             const ResourceTable::Hold& names) {
  if ((parts_ & ~kKnownParts) != 0) return nullptr;
  texts_.Write(parts_, info, tested_);
  if (last_class_ != nullptr && texts_ == last_texts_) return last_class_;
  PodClass prototype;
  for (size_t part = 0; part < kNumPodParts; ++part) {
    if ((parts_ & (PodParts{1} << part)) == 0) continue;
    Fragment* fragment = InternFragment(part, texts_.text(part));
    if (fragment == nullptr) return nullptr;
    prototype.fragments[part] = fragment;
    prototype.ids[part] = fragment->id;
  }
  std::swap(texts_, last_texts_);
  if (const auto it = classes_.find(prototype.ids); it != classes_.end()) {
    last_class_ = it->second;
  } else {
    prototype.names = names;
    last_class_ = NewClass(prototype);
  }
  return last_class_;
}

PodClasses::Fragment* PodClasses::InternFragment(size_t part, std::string_view text) {
  Fragment*& last = last_found_[part];
  if (last != nullptr && last->text == text) return last;
  if (const auto it = fragments_.find(text); it != fragments_.end()) {
    return last = it->second.get();
  }
  if (last_fragment_ == UINT32_MAX) return nullptr;
  auto fragment = std::make_unique<Fragment>(Fragment{std::string(text), ++last_fragment_, 0});
  const std::string_view kept = fragment->text;
  fragment_bytes_ += kept.size();
  return last = fragments_.emplace(kept, std::move(fragment)).first->second.get();
}

PodClasses::PodClassPtr PodClasses::NewClass(const PodClass& prototype) {
  if (next_class_ == kNoPodClass) return nullptr;
  auto pod_class = std::make_shared<PodClass>(prototype);
  pod_class->id = next_class_++;
  for (Fragment* fragment : pod_class->fragments)
    if (fragment != nullptr) ++fragment->uses;
  by_id_.emplace(pod_class->id, pod_class.get());
  return classes_.emplace(pod_class->ids, std::move(pod_class)).first->second;
}

}  // namespace berth::cache
