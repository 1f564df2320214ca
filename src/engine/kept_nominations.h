// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "src/engine/counted_bytes.h"
#include "src/engine/kept_answers.h"

namespace berth::engine {

// Which nodes do not take the pods of a class together with the pods that are nominated for them.
//
// A row's answer holds until one of these changes; Refresh() has the rule:
//   - which pods are nominated there and count for the pod, or what node it is;
//   - the row itself, or its pods;
//   - anything at all, where a filter that reads more than the row is not skipped, or was not.
//
// Thread safety: the scheduling thread.
class KeptNominations {
 public:
  // Adds what it takes to `kept_bytes`, which must outlive it.
  explicit KeptNominations(size_t& kept_bytes) : bytes_(kept_bytes) {}

  // Makes the answers those of now. `verdicts`: those of all filters, brought up to date; the pod
  // must not be nominated itself. False: a plugin failed, and only an evaluation can tell how.
  bool Refresh(const DecisionInput& input,
               const std::vector<std::shared_ptr<KeptVerdicts>>& verdicts);
  // No nomination counts for the pod.
  void Clear();

  // Rows that are nodes for the pod no more; they may repeat others' rejections.
  const std::vector<NodeRow>& rejected() const { return rejected_; }

 private:
  struct Answer {
    std::vector<PodInfoPtr> pods;  // in the order of nomination
    bool known = false;
    bool passes = false;
  };

  // A filter that was not skipped. One that wants to hear of imagined pods may keep the pod itself
  // in its state, so it gets a state of the pod's own.
  struct Asked {
    const KeptVerdicts* verdicts = nullptr;
    CycleState own;
    bool has_own = false;
  };

  void FindRows(const DecisionInput& input);
  bool AskPreFilters(const DecisionInput& input);
  bool Ask(const DecisionInput& input, NodeRow row, Answer& answer) const;
  bool AskAll(const DecisionInput& input);
  void CountBytes();

  bool valid_ = false;
  bool local_ = false;  // whether all filters that were asked last read no more than the row
  int32_t priority_ = 0;
  uint64_t nominations_generation_ = 0;
  uint64_t generation_ = 0;
  uint64_t objects_generation_ = 0;
  absl::flat_hash_map<NodeRow, Answer> answers_;
  std::vector<Asked> asked_;  // in the running refresh
  std::vector<NodeRow> rejected_;
  CountedBytes bytes_;
};

}  // namespace berth::engine
