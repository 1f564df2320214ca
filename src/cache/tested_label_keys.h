// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "berth/api/object.h"
#include "berth/api/pod.h"
#include "src/base/string_map.h"

namespace berth::cache {

// The label keys that some selector may test, so that pods which differ in other labels, such
// as the number of a StatefulSet's pod, are still alike.
//
// Keys are never dropped: most come back, and each new key has all classes made again. Beyond
// kMax keys every key counts as tested.
//
// Thread safety: one owner.
class TestedLabelKeys {
 public:
  static constexpr size_t kMax = 1024;

  // Each returns whether there was a key that is new.
  // Of the pod's affinity and anti-affinity terms, which may test any pod's labels.
  bool AddTermsOf(const api::PodSpec& spec);
  // Of the pods that a Service, ReplicationController, ReplicaSet or StatefulSet selects; of other
  // objects nothing.
  bool AddSelectorOf(const api::ObjectPtr& object);
  // Those that plugins test.
  bool AddKeys(std::span<const std::string> keys);

  bool Contains(std::string_view key) const { return all_ || keys_.contains(key); }

 private:
  bool Add(std::string_view key);

  bool all_ = false;
  absl::flat_hash_set<std::string, base::StringHash, std::equal_to<>> keys_;
};

// Whether the pod's own affinity, anti-affinity or spread terms test labels of this key.
bool OwnTermsTest(const api::PodSpec& spec, std::string_view key);

}  // namespace berth::cache
