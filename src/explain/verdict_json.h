// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/engine/judgement.h"
#include "src/explain/explanation.h"

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
  // `snapshot` must outlive the writer; it is the one that the judgements were made against. With
  // `in_the_way` documents tell what is in the way on each node (InTheWay).
  explicit VerdictWriter(const Snapshot& snapshot, bool in_the_way = false);

  // Appends the document and a newline.
  void Append(const Explanation& explanation, std::string& out) const {
    Append(*explanation.judgement, &explanation, out);
  }
  // The same of a judgement alone, which has been explained.
  void Append(const engine::Judgement& judgement, std::string& out) const {
    Append(judgement, nullptr, out);
  }

 private:
  // `beside`: nullptr where nothing was asked beside the judgement.
  void Append(const engine::Judgement& judgement, const Explanation* beside,
              std::string& out) const;
  void AppendNodes(const engine::Judgement& judgement, std::string& out) const;
  // Sorted.
  void AppendNames(const std::vector<NodeRow>& rows, std::string& out) const;
  void AppendPreemption(const PreemptionPreview& preview, std::string& out) const;

  void AppendInTheWay(const engine::Judgement& judgement, std::string& out) const;

  const Snapshot& snapshot_;
  const bool in_the_way_;
  std::vector<NodeRow> by_name_;
  // `"node-1":` of the rows in by_name_, ready to be copied.
  std::vector<std::string> names_;
};

}  // namespace berth::explain
