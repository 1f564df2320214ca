// SPDX-License-Identifier: Apache-2.0
#include "src/ui/story.h"

#include <algorithm>
#include <chrono>
#include <variant>

#include "berth/status.h"
#include "src/base/json.h"
#include "src/simulator/memory_api.h"
#include "src/ui/object_facts.h"

namespace berth::ui {
namespace {

using informers::EventType;
using informers::Kind;

template <typename T>
std::shared_ptr<const T> Held(const api::ObjectPtr& object) {
  const auto* held = std::get_if<std::shared_ptr<const T>>(&object);
  return held == nullptr ? nullptr : *held;
}

// Whether the map shows both alike.
bool LookAlike(const api::Node& a, const api::Node& b) {
  return a.spec.unschedulable == b.spec.unschedulable && a.metadata.labels == b.metadata.labels &&
         a.status.allocatable == b.status.allocatable;
}

bool HasEnded(const api::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

// The name's number; -1 for "".
int64_t NumberOf(std::string_view name, NameTable& names) {
  return name.empty() ? -1 : int64_t{names.Intern(name)};
}

}  // namespace

Story::Story(recording::RecordingReader& reader, const Limits& limits) {
  now_ = reader.header().start;
  while (const auto frame = reader.Next()) {
    cut_short_ =
        pods_.size() == limits.decisions || map_.num_nodes() + map_.num_pods() >= limits.rows;
    if (cut_short_) return;
    Take(*frame);
  }
}

void Story::Take(const recording::Frame& frame) {
  if (const auto* turn = std::get_if<recording::TurnBegan>(&frame)) {
    now_ = turn->now + turn->wall_offset;
  } else if (const auto* event = std::get_if<informers::InformerEvent>(&frame)) {
    TakeEvent(*event);
  } else if (const auto* decision = std::get_if<recording::AttemptEnded>(&frame)) {
    TakeDecision(*decision);
  } else if (const auto* bind = std::get_if<recording::BindEnded>(&frame)) {
    const auto found = pods_by_uid_.find(bind->pod_uid);
    const bool failed = !bind->status.ok() && !bind->unknown;
    if (failed && found != pods_by_uid_.end() && found->second.pod->spec.node_name.empty()) {
      Move(found->second, "");
    }
  }
}

void Story::TakeEvent(const informers::InformerEvent& event) {
  const bool gone = event.type == EventType::kDeleted;
  const api::ObjectPtr& object = gone ? event.old_object : event.new_object;
  const api::ObjectMeta* meta = api::MetaOf(object);
  if (meta == nullptr) return;
  if (const auto pod = Held<api::Pod>(object)) {
    if (!gone && !HasEnded(*pod)) return TakePod(pod);
    const auto found = pods_by_uid_.find(meta->uid);
    if (found == pods_by_uid_.end()) return;
    map_.EndPod(found->second.row, step());
    pods_by_uid_.erase(found);
  } else if (const auto node = Held<api::Node>(object)) {
    if (!gone) return TakeNode(node);
    const auto found = nodes_by_name_.find(meta->name);
    if (found == nodes_by_name_.end()) return;
    map_.EndNode(found->second.row, step());
    nodes_by_name_.erase(found);
    MovePodsOf(meta->name);
  } else if (gone) {
    others_[event.kind].erase(meta->Key());
  } else {
    others_[event.kind].insert_or_assign(meta->Key(), object);
  }
}

void Story::TakeNode(const std::shared_ptr<const api::Node>& node) {
  KnownNode& known = nodes_by_name_[node->metadata.name];
  const bool alike = known.node != nullptr && LookAlike(*known.node, *node);
  if (!alike) {
    if (known.node != nullptr) map_.EndNode(known.row, step());
    known.row = map_.AddNode(*node, step());
  }
  known.node = node;
  if (!alike) MovePodsOf(node->metadata.name);
}

void Story::MovePodsOf(std::string_view node) {
  for (auto& [uid, pod] : pods_by_uid_) {
    if (pod.node == node) Move(pod, node);
  }
}

void Story::TakePod(const std::shared_ptr<const api::Pod>& pod) {
  KnownPod& known = pods_by_uid_[pod->metadata.uid];
  const bool is_new = known.pod == nullptr;
  const std::string& seen = pod->spec.node_name;
  const bool resized = !is_new && known.pod->spec.containers != pod->spec.containers;
  known.pod = pod;
  if (is_new || resized || (!seen.empty() && seen != known.node)) {
    Move(known, seen.empty() ? std::string(known.node) : seen);
  }
}

void Story::Move(KnownPod& pod, std::string_view name) {
  if (pod.row != ClusterMap::kNone) map_.EndPod(pod.row, step());
  const auto node = nodes_by_name_.find(name);
  const ClusterMap::Row row = node == nodes_by_name_.end() ? ClusterMap::kNone : node->second.row;
  pod.row = map_.AddPod(*pod.pod, row, step());
  if (pod.node != name) pod.node = name;
}

void Story::TakeDecision(const recording::AttemptEnded& decision) {
  const auto known = pods_by_uid_.find(decision.pod_uid);
  const bool is_known = known != pods_by_uid_.end();
  pods_.push_back(is_known ? known->second.pod->metadata.Key() : decision.pod_uid);
  decided_nodes_.push_back(NumberOf(decision.node_name, node_names_));
  messages_.push_back(NumberOf(decision.message, message_texts_));
  codes_.push_back(CodeName(decision.code));
  times_.push_back(
      std::chrono::duration_cast<std::chrono::milliseconds>(now_.time_since_epoch()).count());
  if (is_known && !decision.node_name.empty()) Move(known->second, decision.node_name);
}

std::vector<api::ObjectPtr> Story::Objects() const {
  std::vector<api::ObjectPtr> objects;
  for (const auto& [name, known] : nodes_by_name_) objects.emplace_back(known.node);
  for (const auto& [kind, by_key] : others_) {
    for (const auto& [key, object] : by_key) objects.push_back(object);
  }
  const auto pods = static_cast<std::ptrdiff_t>(objects.size());
  for (const auto& [uid, known] : pods_by_uid_) objects.emplace_back(known.pod);
  // The tables above have no order of their own.
  const auto key = [](const api::ObjectPtr& object) { return api::MetaOf(object)->Key(); };
  std::ranges::sort(objects.begin(),
                    objects.begin() + static_cast<std::ptrdiff_t>(nodes_by_name_.size()), {}, key);
  std::ranges::sort(objects.begin() + pods, objects.end(), {}, key);
  std::ranges::stable_sort(
      objects.begin() + pods, objects.end(), simulator::CreatedBefore,
      [](const api::ObjectPtr& pod) -> const api::ObjectMeta& { return *api::MetaOf(pod); });
  return objects;
}

void Story::AppendDecisions(std::string& out) const {
  base::JsonObject document(out);
  base::AppendJsonList(codes_, document.Key("code"));
  AppendJsonNumbers(messages_, document.Key("message"));
  base::AppendJsonList(message_texts_.names(), document.Key("messages"));
  AppendJsonNumbers(decided_nodes_, document.Key("node"));
  base::AppendJsonList(node_names_.names(), document.Key("nodes"));
  base::AppendJsonList(pods_, document.Key("pod"));
  AppendJsonNumbers(times_, document.Key("time"));
}

}  // namespace berth::ui
