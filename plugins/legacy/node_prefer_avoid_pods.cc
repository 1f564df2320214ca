// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "plugins/legacy/library.h"

namespace berth::legacy {
namespace {

constexpr std::string_view kAnnotation = "scheduler.alpha.kubernetes.io/preferAvoidPods";

// What nodes may avoid; `kind` is "" where it is nothing.
struct Controller {
  explicit Controller(const PodView& pod) : kind(pod.owner_kind()), uid(pod.owner_uid()) {
    if (kind != "ReplicationController" && kind != "ReplicaSet") kind = {};
  }

  std::string_view kind;
  std::string_view uid;
};

using Json = nlohmann::ordered_json;

// The annotation's JSON; discarded where it is none, or is nested more than 64 deep.
Json Parse(std::string_view annotation) {
  constexpr int kMaxDepth = 64;
  bool too_deep = false;
  const auto check = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kMaxDepth;
    return !too_deep;
  };
  Json document = Json::parse(annotation, check, /*allow_exceptions=*/false);
  return too_deep ? Json(Json::value_t::discarded) : document;
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Sets `member` to the last member of that name, upper and lower case apart, as Go decodes JSON;
// nullptr where it is not there, or null. False: it is of another type.
bool ReadMember(const Json& object, std::string_view name, Json::value_t type,
                const Json** member) {
  for (const auto& [key, value] : object.items()) {
    const bool same = std::ranges::equal(key, name, {}, Lower, Lower);
    if (same) *member = value.is_null() ? nullptr : &value;
  }
  return *member == nullptr || (*member)->type() == type;
}

// Whether the text is in order and names the controller.
bool Names(std::string_view annotation, const Controller& controller) {
  using Type = Json::value_t;
  const Json document = Parse(annotation);
  const Json* list = nullptr;
  if (!document.is_object() || !ReadMember(document, "preferAvoidPods", Type::array, &list) ||
      list == nullptr) {
    return false;
  }
  bool named = false;
  for (const Json& entry : *list) {
    if (entry.is_null()) continue;
    const Json* signature = nullptr;
    const Json* owner = nullptr;
    const Json* kind = nullptr;
    const Json* uid = nullptr;
    if (!entry.is_object() || !ReadMember(entry, "podSignature", Type::object, &signature)) {
      return false;
    }
    if (signature == nullptr) continue;
    if (!ReadMember(*signature, "podController", Type::object, &owner)) return false;
    if (owner == nullptr) continue;
    if (!ReadMember(*owner, "kind", Type::string, &kind) ||
        !ReadMember(*owner, "uid", Type::string, &uid)) {
      return false;
    }
    named = named || (kind != nullptr && uid != nullptr && *kind == controller.kind &&
                      *uid == controller.uid);
  }
  return named;
}

int64_t PointsOf(const Controller& controller, const NodeView& node) {
  if (controller.kind.empty()) return kMaxScore;
  const auto annotation = node.annotations().Find(kAnnotation);
  return annotation && Names(*annotation, controller) ? 0 : kMaxScore;
}

// Keeps the pods of a ReplicationController or ReplicaSet, as far as other nodes will do, off nodes
// whose annotation scheduler.alpha.kubernetes.io/preferAvoidPods names their controller.
// Kubernetes had it up to 1.22; a PreferNoSchedule taint says the same.
//
// Thread safety: stateless; every method may run concurrently.
class NodePreferAvoidPods final : public ColumnScorePlugin {
 public:
  NodePreferAvoidPods(const ConfigValue&, Handle) {}

  // 0 on nodes that avoid the pod, 100 on all others. An annotation that cannot be read avoids
  // nothing.
  ScoreResult Score(const CycleState&, const PodView& pod, const NodeView& node) const override {
    return {PointsOf(Controller(pod), node)};
  }
  void ScoreNodes(const CycleState&, const PodView& pod, const Snapshot& snapshot,
                  const uint32_t* rows, int64_t* scores, size_t n) const override {
    const Controller controller(pod);
    for (size_t i = 0; i < n; ++i) scores[i] = PointsOf(controller, snapshot.node(rows[i]));
  }
};

}  // namespace

berth_plugin NodePreferAvoidPodsPlugin() {
  return Define<NodePreferAvoidPods>(
      "NodePreferAvoidPods",
      {.declares_inputs = true, .pod_parts = BERTH_READS_POD_OWNER, .reach = BERTH_REACH_NODE});
}

}  // namespace berth::legacy
