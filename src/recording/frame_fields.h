// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>

#include "src/recording/frames.h"

// The fields of frames, and of what they hold, in the order that they have on disk; frame_writer.h
// and reader.cc say how a field of a type stands there. What is not here is written and read by
// them in its own way.
namespace berth::recording {

// T, to be written or to be filled.
template <typename T, typename U>
concept A = std::same_as<std::remove_const_t<T>, U>;

auto FieldsOf(A<TurnBegan> auto& frame) { return std::tie(frame.now, frame.wall_offset); }
auto FieldsOf(A<CycleEnded> auto& frame) { return std::tie(frame.now); }
auto FieldsOf(A<AttemptEnded> auto& frame) {
  return std::tie(frame.pod_uid, frame.code, frame.node_name, frame.message);
}
auto FieldsOf(A<AsyncStatus> auto& status) { return std::tie(status.code, status.message); }
auto FieldsOf(A<BindEnded> auto& frame) {
  return std::tie(frame.pod_uid, frame.node_name, frame.status, frame.stage, frame.unknown);
}
auto FieldsOf(A<scheduler::PreBindDone> auto& frame) { return std::tie(frame.pod_uid); }
auto FieldsOf(A<scheduler::BindUnconfirmed> auto& frame) { return std::tie(frame.pod_uid); }
auto FieldsOf(A<scheduler::StopRequested> auto& frame) { return std::tie(frame.patience); }
auto FieldsOf(A<scheduler::BinderClosed> auto& frame) { return std::tie(frame.given_up); }
auto FieldsOf(A<scheduler::LeadingBegan> auto& frame) { return std::tie(frame.unfinished_uids); }
auto FieldsOf(A<EvictionAnswered> auto& frame) {
  return std::tie(frame.scheduler_name, frame.victim_uid, frame.number, frame.in_memory,
                  frame.answer);
}
auto FieldsOf(A<PreBindCancelled> auto& frame) { return std::tie(frame.cancelled); }
auto FieldsOf(A<Reloaded> auto& frame) { return std::tie(frame.configuration); }
auto FieldsOf(A<PodsActivated> auto& frame) { return std::tie(frame.pod_keys); }
auto FieldsOf(A<ClaimsSettled> auto& frame) { return std::tie(frame.uids); }
auto FieldsOf(A<VolumeWritten> auto& frame) {
  return std::tie(frame.kind, frame.key, frame.resource_version);
}
auto FieldsOf(A<extender::Rejection> auto& rejection) {
  return std::tie(rejection.row, rejection.code, rejection.reason);
}
auto FieldsOf(A<ExtenderFiltered> auto& frame) {
  return std::tie(frame.error, frame.result.nodes, frame.result.rejected);
}
auto FieldsOf(A<extender::HostPriority> auto& priority) {
  return std::tie(priority.row, priority.score);
}
auto FieldsOf(A<ExtenderPrioritized> auto& frame) { return std::tie(frame.error, frame.scores); }
auto FieldsOf(A<LeftCandidate> auto& candidate) {
  return std::tie(candidate.row, candidate.num_pdb_violations, candidate.victim_uids);
}
auto FieldsOf(A<ExtenderPreempted> auto& frame) { return std::tie(frame.error, frame.candidates); }
auto FieldsOf(A<NodeMetrics> auto& node) { return std::tie(node.name, node.cpu, node.memory); }
auto FieldsOf(A<NodesMeasured> auto& frame) {
  return std::tie(frame.source, frame.window_end, frame.amounts, frame.nodes);
}
auto FieldsOf(A<Ended> auto& frame) { return std::tie(frame.reason); }
auto FieldsOf(A<informers::Undecodable> auto& damage) {
  return std::tie(damage.key, damage.uid, damage.node_name, damage.scheduler_name, damage.error);
}

template <typename T>
concept HasFields = requires(T& value) { FieldsOf(value); };

template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;

}  // namespace berth::recording
