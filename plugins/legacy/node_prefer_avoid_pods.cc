// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "plugins/legacy/json_text.h"
#include "plugins/legacy/library.h"

namespace berth::legacy {
namespace {

constexpr std::string_view kAnnotation = "scheduler.alpha.kubernetes.io/preferAvoidPods";
constexpr int64_t kMaxScore = 100;

// What nodes may avoid; `kind` is "" where it is nothing.
struct Controller {
  explicit Controller(const PodView& pod) : kind(pod.owner_kind()), uid(pod.owner_uid()) {
    if (kind != "ReplicationController" && kind != "ReplicaSet") kind = {};
  }

  std::string_view kind;
  std::string_view uid;
};

// Sets `member` to a member, nullptr where it is not there. False: it is of another type.
bool ReadMember(const Json& value, std::string_view name, Json::Type type, const Json** member) {
  *member = value.Find(name);
  return *member == nullptr || (*member)->type == type;
}

// Whether the text is in order and names the controller.
bool Names(std::string_view annotation, const Controller& controller) {
  const auto document = ParseJson(annotation);
  if (!document || document->type != Json::Type::kObject) return false;
  const Json* list = nullptr;
  if (!ReadMember(*document, "preferAvoidPods", Json::Type::kList, &list) || list == nullptr) {
    return false;
  }
  bool named = false;
  for (const Json& entry : list->items) {
    if (entry.type == Json::Type::kNull) continue;
    const Json* signature = nullptr;
    const Json* owner = nullptr;
    const Json* kind = nullptr;
    const Json* uid = nullptr;
    if (entry.type != Json::Type::kObject ||
        !ReadMember(entry, "podSignature", Json::Type::kObject, &signature)) {
      return false;
    }
    if (signature == nullptr) continue;
    if (!ReadMember(*signature, "podController", Json::Type::kObject, &owner)) return false;
    if (owner == nullptr) continue;
    if (!ReadMember(*owner, "kind", Json::Type::kText, &kind) ||
        !ReadMember(*owner, "uid", Json::Type::kText, &uid)) {
      return false;
    }
    named = named || (kind != nullptr && uid != nullptr && kind->text == controller.kind &&
                      uid->text == controller.uid);
  }
  return named;
}

int64_t ScoreOf(const Controller& controller, const NodeView& node) {
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
    return {ScoreOf(Controller(pod), node)};
  }
  void ScoreNodes(const CycleState&, const PodView& pod, const Snapshot& snapshot,
                  const uint32_t* rows, int64_t* scores, size_t n) const override {
    const Controller controller(pod);
    for (size_t i = 0; i < n; ++i) scores[i] = ScoreOf(controller, snapshot.node(rows[i]));
  }
};

}  // namespace

berth_plugin NodePreferAvoidPodsPlugin() {
  return Define<NodePreferAvoidPods>(
      "NodePreferAvoidPods",
      {.declares_inputs = true, .pod_parts = BERTH_READS_POD_OWNER, .reach = BERTH_REACH_NODE});
}

}  // namespace berth::legacy
