// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "berth/in_tree/inputs.h"
#include "berth/pod_info.h"
#include "src/base/string_map.h"
#include "src/cache/resource_table.h"
#include "src/cache/tested_label_keys.h"

namespace berth::cache {

// How many PodParts bits have a meaning.
inline constexpr size_t kNumPodParts = 19;

// Parts of a pod, one behind the other, in a form that is equal for equal parts and different for
// different ones. Its room is used again.
class PodFragments {
 public:
  // `parts` must have a meaning.
  void Write(PodParts parts, const PodInfo& pod, const TestedLabelKeys& tested);

  // Of a part that was written; `part` is the number of its PodParts bit.
  std::string_view text(size_t part) const {
    const size_t begin = part == 0 ? 0 : ends_[part - 1];
    return std::string_view(texts_).substr(begin, ends_[part] - begin);
  }
  // Of pods of which the same parts were written: whether they are alike.
  friend bool operator==(const PodFragments&, const PodFragments&) = default;

 private:
  std::string texts_;
  std::array<size_t, kNumPodParts>
      ends_{};  // by part; of one that was not written, that of the one before
};

// One part of a pod in canonical form, interned. Never reused; 0 stands for "part not in use".
using FragmentId = uint32_t;
// Bit i of PodParts is fragment i of a class.
using Fragments = std::array<FragmentId, kNumPodParts>;

// Puts pods that are alike in the parts in use into one class.
//
// A class is the tuple of the pod's fragments. It lives as long as a PodInfo names it; ids are
// never given to another class, so what is kept for a dead class can only go to waste. When
// a plugin reads the whole pod (pod_part::kEverything), or ids run out, pods get kNoPodClass; so
// does one whose resize is deferred.
//
// Thread safety: one owner; a PodInfo may be dropped on any thread.
class PodClasses {
 public:
  // The parts of the pod that plugins read.
  void SetParts(PodParts parts);
  // From now on pods that differ in a label which these terms, this object's selector or a plugin
  // tests are not alike in their tested labels.
  void TestTermsOf(const api::PodSpec& spec) { Tested(tested_.AddTermsOf(spec)); }
  void TestSelectorOf(const api::ObjectPtr& object) { Tested(tested_.AddSelectorOf(object)); }
  void TestLabelKeys(std::span<const std::string> keys) { Tested(tested_.AddKeys(keys)); }
  // Grows when either of them changed; a PodInfo of another epoch may be in the wrong class.
  uint32_t epoch() const { return epoch_; }

  // The same PodInfo with class and epoch set. It keeps `names`, those of its resources, and so
  // does its class: what is kept of verdicts for the class knows them by their ids.
  PodInfoPtr Assign(PodInfo&& info, ResourceTable::Hold names = nullptr);

  // The fragments of a live class; nullptr for a dead one and kNoPodClass.
  const Fragments* Find(PodClassId id) const;
  // How long the parts of a live class are: what a plugin derives from its pods is mostly no
  // larger. 0 for others.
  size_t BytesOf(PodClassId id) const;
  size_t num_classes() const { return classes_.size(); }
  size_t num_fragments() const { return fragments_.size(); }
  // Of the parts that live classes, and dead ones not yet swept, are made of.
  size_t fragment_bytes() const { return fragment_bytes_; }
  // Drops the classes that no PodInfo names. Assign() does it now and then.
  void Sweep();

 private:
  struct Fragment {
    std::string text;
    FragmentId id = 0;
    size_t uses = 0;  // classes that contain it
  };
  struct PodClass {
    PodClassId id = kNoPodClass;
    Fragments ids{};
    std::array<Fragment*, kNumPodParts> fragments{};  // nullptr where the part is not in use
    ResourceTable::Hold names;
  };
  using PodClassPtr = std::shared_ptr<const PodClass>;
  // A PodInfo that keeps its class alive.
  struct ClassedPodInfo;

  // nullptr: the pod is in no class.
  PodClassPtr Classify(const PodInfo& info, const ResourceTable::Hold& names);
  // The fragment of a part with that text; nullptr when ids have run out.
  Fragment* InternFragment(size_t part, std::string_view text);
  PodClassPtr NewClass(const PodClass& prototype);
  void Tested(bool new_key) {
    if (new_key && (parts_ & pod_part::kTestedLabels) != 0) ++epoch_;
  }

  PodParts parts_ = 0;
  TestedLabelKeys tested_;
  uint32_t epoch_ = 1;
  FragmentId last_fragment_ = 0;
  PodClassId next_class_ = 0;
  size_t sweep_at_ = 1024;     // classes
  size_t fragment_bytes_ = 0;  // of their texts
  size_t sweep_at_bytes_ = 1u << 20;
  // Of the pod that comes, and of the one that came last, whose class is beside it: pods that come
  // together are mostly alike. Until Sweep(), or until other parts count.
  PodFragments texts_;
  PodFragments last_texts_;
  PodClassPtr last_class_;
  // By their text.
  absl::flat_hash_map<std::string_view, std::unique_ptr<Fragment>, base::StringHash> fragments_;
  // By part, the one found last. Until Sweep().
  std::array<Fragment*, kNumPodParts> last_found_{};
  absl::flat_hash_map<Fragments, PodClassPtr> classes_;
  absl::flat_hash_map<PodClassId, const PodClass*> by_id_;
};

}  // namespace berth::cache
