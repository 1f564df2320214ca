// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/relocation/relocation.h"

// How Relocation makes room for a pod group.
namespace berth::plugins {

Status Relocation::RejectGroup(const CycleState& state, std::string_view why) const {
  return state.reasons().Make(Code::kUnschedulable, "pod group relocation: " + std::string(why));
}

void Relocation::GiveBack(const PodGroupInfo& group, RelocationBooks::Waiting& waiting) {
  for (const PodInfo* pod : group.unscheduled_pods) {
    const api::ObjectMeta& metadata = pod->pod->metadata;
    const auto nominated = waiting.nodes.find(metadata.uid);
    if (nominated == waiting.nodes.end()) continue;
    const auto newest = handle_.FindPendingPod(metadata.namespace_, metadata.name);
    if (newest == nullptr) continue;
    // It may be written, and not be shown yet.
    const std::string& shown = newest->status.nominated_node_name;
    if (!shown.empty() && shown != nominated->second) continue;
    auto as_written = std::make_shared<api::Pod>(*newest);
    as_written->status.nominated_node_name = nominated->second;
    PodInfo info = *pod;
    info.pod = std::move(as_written);
    handle_.ClearNominatedNode(info);
  }
  waiting.nodes.clear();
}

PodGroupPostFilterResult Relocation::PodGroupPostFilter(CycleState& state,
                                                        const PodGroupInfo& group,
                                                        const Snapshot& snapshot,
                                                        PodGroupDryRun& dry_run) {
  if (!MayEvictOthers(group, handle_.features())) {
    return {RejectGroup(state, "not eligible due to preemptionPolicy=Never.")};
  }
  const std::string& uid = group.object.metadata().uid;
  std::vector<RelocationBooks::Waiting::PodName> pods;
  for (const PodInfo* pod : group.unscheduled_pods) {
    const api::ObjectMeta& metadata = pod->pod->metadata;
    pods.push_back({metadata.namespace_, metadata.name, metadata.uid});
  }
  const size_t num_pods = pods.size();
  RelocationBooks::Waiting& waiting =
      books_->Note(uid, std::move(pods), std::chrono::seconds(args_.min_pending_seconds));
  // Where moves for the group are under way it keeps its nodes.
  const auto await = [&](std::string_view why) -> PodGroupPostFilterResult {
    if (waiting.given_up) GiveBack(group, waiting);
    PodGroupPostFilterResult result{RejectGroup(state, why)};
    for (const PodInfo* pod : group.unscheduled_pods) {
      const auto node = waiting.nodes.find(pod->pod->metadata.uid);
      if (node != waiting.nodes.end()) result.nominations.push_back({node->first, node->second});
    }
    if (!result.nominations.empty()) {
      result.status =
          state.reasons().Make(Code::kSuccess, "pod group relocation: pods move for this group");
    }
    return result;
  };
  const auto refuse = [&](std::string_view why) -> PodGroupPostFilterResult {
    GiveBack(group, waiting);
    return {RejectGroup(state, why)};
  };
  if (books_->Running(uid)) return await("pods are being moved for this group");
  switch (WhenToSearch(waiting)) {
    case When::kNow:
      break;
    case When::kYoung:
      return await("the group has not waited for minPendingSeconds");
    case When::kPaused:
      return await("moves were sought a short time ago");
  }
  GroupRoomSearch search(handle_, state, group, snapshot, dry_run);
  std::string_view why;
  const size_t most = MovesLeft(waiting, num_pods, why);
  const bool comes = search.RoomComes();
  const std::optional<GroupRoom> room = comes || most == 0 ? std::nullopt : search.Find(most);
  dry_run.Reset();
  NoteSearch(waiting, search.steps());
  if (state.budget().spent()) return {state.reasons().Error(state.budget().Message())};
  if (comes) return await("the group fits once pods that are being deleted have ended");
  if (most == 0 && why.starts_with("maxMovesPerPod")) {
    why = "maxMovesPerPod pods have moved for each of its pods";
  }
  if (most == 0) return refuse(why);
  if (!room) {
    handle_.CountMetric("berth_relocations_total", {"no_moves"}, 1);
    return refuse("no moves of other pods make room");
  }
  books_->Begin(group, waiting, *room, snapshot);
  const std::string moves = std::to_string(room->moves.size());
  return {state.reasons().Make(Code::kSuccess,
                               "pod group relocation: found a placement for "
                               "podgroup, moving " +
                                   moves + " pods"),
          room->nominations};
}

}  // namespace berth::plugins
