// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "berth/in_tree/plugin.h"
#include "berth/in_tree/points.h"

namespace berth::test {

// Does to a pod what its annotation of this name asks for, so differently for pods of one class, as
// plugins do that read a pod's claims.
class OwnNodes final : public PreFilterPlugin,
                       public ColumnFilterPlugin,
                       public PreScorePlugin,
                       public ScorePlugin,
                       public ReservePlugin {
 public:
  static constexpr std::string_view kName = "OwnNodes";
  // The values of the annotation. Others are numbers: nodes on rows which they divide are rejected.
  static constexpr std::string_view kNone = "none";          // no node
  static constexpr std::string_view kRejected = "rejected";  // no node, says PreFilter
  static constexpr std::string_view kNamed = "named";        // two nodes, by name
  static constexpr std::string_view kScored = "scored";      // all, with scores
  static constexpr std::string_view kFails = "fails";        // an error on some nodes

  // What Reserve needs.
  struct State {
    std::string asks;
  };

  Inputs DeclaredInputs() const { return Inputs::EachPod(); }

  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod, const Snapshot&) override {
    const std::string* asks = api::Find(pod.pod->metadata.annotations, kName);
    if (asks == nullptr) return {.status = Status::Skip()};
    state.Write(State{*asks});
    if (*asks == kRejected) {
      return {.status = state.reasons().Make(Code::kUnschedulable, "no node at all")};
    }
    if (*asks == kNamed) return {.status = Status::Success(), .node_names = {{"node-0", "node-1"}}};
    return {};
  }

  Status Filter(const CycleState& state, const PodInfo&, const NodeView& node) const override {
    if (state.Read<State>().asks == kFails) {
      return node.row() % 4 == 3 ? state.reasons().Error("no verdict") : Status::Success();
    }
    if (Takes(state, node.row())) return Status::Success();
    return state.reasons().Make(Code::kUnschedulable, "not this node");
  }
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override {
    return FilterEach(nodes,
                      [&](NodeRow row) { return Filter(state, pod, NodeView(snapshot, row)); });
  }

  Status PreScore(CycleState& state, const PodInfo&, const Snapshot&, const NodeSet&) override {
    const State* own = state.Find<State>();
    return own != nullptr && own->asks == kScored ? Status::Success() : Status::Skip();
  }
  ScoreResult Score(const CycleState&, const PodInfo&, const NodeView& node) const override {
    return {.score = static_cast<int64_t>(node.row() * 7 % 13)};
  }

  Status Reserve(CycleState&, const PodInfo&, std::string_view) override {
    return Status::Success();
  }
  void Unreserve(CycleState&, const PodInfo&, std::string_view) override {}

 private:
  static bool Takes(const CycleState& state, NodeRow row) {
    const std::string& asks = state.Read<State>().asks;
    if (asks == kNone) return false;
    if (asks == kNamed || asks == kScored) return true;
    return row % std::stoul(asks) != 0;
  }
};

}  // namespace berth::test
