// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/engine/judgement.h"
#include "src/engine/pod_group_preview.h"
#include "src/explain/fix.h"
#include "src/explain/standing.h"

namespace berth::explain {

// "scheduled", "unschedulable", "gated", "ignored" or "error".
std::string_view ResultName(engine::Judgement::Kind kind);

// What a verdict gives as the reason where PreFilter did not leave the node.
inline constexpr std::string_view kPreFilterReason = "prefilter";

// Writes judgements as verdict documents (docs/explain.md), each on one line. Members are in the
// order of their names.
//
// Thread safety: the scheduling thread; the cluster must stay as it is while the writer is in use.
class VerdictWriter {
 public:
  // `snapshot` must outlive the writer; it is the one that the judgements were made against.
  explicit VerdictWriter(const Snapshot& snapshot);

  // Appends the document of a judgement that has been explained, and a newline. `group` is the
  // pod's, or nullptr; `fixes` would let it schedule, nullptr where they were not asked for;
  // `standing`: nullptr where no scheduler runs.
  void Append(const engine::Judgement& judgement, std::string& out,
              const engine::PodGroupPreview* group = nullptr, const Fixes* fixes = nullptr,
              const Standing* standing = nullptr) const;

 private:
  void AppendNodes(const engine::Judgement& judgement, std::string& out) const;
  // Sorted.
  void AppendNames(const std::vector<NodeRow>& rows, std::string& out) const;
  void AppendPreemption(const PreemptionPreview& preview, std::string& out) const;

  const Snapshot& snapshot_;
  std::vector<NodeRow> by_name_;
  // `"node-1":` of the rows in by_name_, ready to be copied.
  std::vector<std::string> names_;
};

}  // namespace berth::explain
