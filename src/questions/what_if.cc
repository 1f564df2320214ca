// SPDX-License-Identifier: Apache-2.0
#include "src/questions/what_if.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/workloads.h"
#include "berth/field_errors.h"
#include "berth/in_tree/eviction.h"
#include "berth/label_selector.h"
#include "src/base/suggestion.h"
#include "src/documents/parse.h"
#include "src/questions/node_changes.h"
#include "src/simulator/cluster_files.h"
#include "src/simulator/missing_references.h"
#include "src/simulator/picture.h"
#include "src/simulator/simulation.h"

namespace berth::questions {
namespace {

using informers::Kind;
using simulator::Simulation;

// Brings PodDisruptionBudgets up to date once workloads have fewer pods, as the disruption
// controller does: fewer are healthy and, where the budget goes by the scale of those who make the
// pods (maxUnavailable, or a percentage), fewer need be. A controller counts with the pods that it
// has here. Pods that came make no difference: they are not ready yet.
//
// Thread safety: as the simulation's.
class ScaledBudgets {
 public:
  // The budgets of the namespace and what they select now.
  ScaledBudgets(std::string namespace_name, const simulator::Simulation& simulation);

  // Applies those that select fewer pods than then; `disruptions` goes by them from now on.
  void Update(simulator::Simulation& simulation, Disruptions& disruptions) const;

 private:
  struct Selected {
    int64_t pods = 0;
    int64_t controlled = 0;  // by someone who makes them again, and not being deleted
    int64_t healthy = 0;
  };
  static Selected Count(const api::PodDisruptionBudget& budget, const std::vector<PodPtr>& pods);
  // Those of the namespace.
  std::vector<PodPtr> Pods(const simulator::Simulation& simulation) const;
  // As the controller leaves it; the budget had `before`.
  static api::PodDisruptionBudget Scaled(api::PodDisruptionBudget budget, const Selected& before,
                                         const Selected& now);

  const std::string namespace_;
  std::map<std::string, Selected> before_;  // by name
};

// So many of `total`, of a percentage rounded up. nullopt: it is neither a number nor a percentage.
std::optional<int64_t> PodsOfShare(const api::IntOrString& share, int64_t total) {
  if (const auto* number = std::get_if<int32_t>(&share)) return *number;
  const std::string_view text = std::get<std::string>(share);
  int32_t percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || std::string_view(end, text.data() + text.size()) != "%") {
    return std::nullopt;
  }
  const int64_t parts = int64_t{percent} * total;
  return parts / 100 + (parts % 100 > 0 ? 1 : 0);
}

ScaledBudgets::ScaledBudgets(std::string namespace_name, const simulator::Simulation& simulation)
    : namespace_(std::move(namespace_name)) {
  const std::vector<PodPtr> pods = Pods(simulation);
  simulation.api().ForEach(Kind::kPodDisruptionBudget, [&](const api::ObjectPtr& object) {
    const auto& budget = *api::As<api::PodDisruptionBudget>(object);
    if (budget.metadata.namespace_ == namespace_) {
      before_.emplace(budget.metadata.name, Count(budget, pods));
    }
  });
}

ScaledBudgets::Selected ScaledBudgets::Count(const api::PodDisruptionBudget& budget,
                                             const std::vector<PodPtr>& pods) {
  Selected selected;
  const auto selector = LabelSelectorMatcher::Make(budget.spec.selector);
  if (!selector) return selected;
  for (const PodPtr& pod : pods) {
    if (!selector->Matches(pod->metadata.labels)) continue;
    ++selected.pods;
    if (pod->metadata.deletion_timestamp) continue;
    if (ControllerOf(pod->metadata) != nullptr) ++selected.controlled;
    if (IsReady(*pod)) ++selected.healthy;
  }
  return selected;
}

std::vector<PodPtr> ScaledBudgets::Pods(const simulator::Simulation& simulation) const {
  std::vector<PodPtr> pods;
  simulation.api().ForEachUnsorted(Kind::kPod, [&](const api::ObjectPtr& object) {
    const auto& pod = std::get<PodPtr>(object);
    if (pod->metadata.namespace_ == namespace_) pods.push_back(pod);
  });
  return pods;
}

api::PodDisruptionBudget ScaledBudgets::Scaled(api::PodDisruptionBudget budget,
                                               const Selected& before, const Selected& now) {
  api::PodDisruptionBudgetStatus& status = budget.status;
  const auto& most_gone = budget.spec.max_unavailable;
  const auto& fewest = budget.spec.min_available;
  int64_t expected = now.controlled;
  std::optional<int64_t> desired;
  if (most_gone) {
    desired = PodsOfShare(*most_gone, expected);
    if (desired) desired = std::max<int64_t>(expected - *desired, 0);
  } else if (fewest) {
    if (std::holds_alternative<int32_t>(*fewest)) expected = now.pods;
    desired = PodsOfShare(*fewest, expected);
  }
  if (!desired) return budget;  // what it says is for the controller alone to know
  const int64_t healthy =
      std::max<int64_t>(status.current_healthy - (before.healthy - now.healthy), 0);
  const int64_t allowed = expected > 0 ? std::max<int64_t>(healthy - *desired, 0) : 0;
  status.current_healthy = static_cast<int32_t>(healthy);
  status.desired_healthy = static_cast<int32_t>(std::min<int64_t>(*desired, INT32_MAX));
  status.disruptions_allowed = static_cast<int32_t>(allowed);
  return budget;
}

void ScaledBudgets::Update(simulator::Simulation& simulation, Disruptions& disruptions) const {
  const std::vector<PodPtr> pods = Pods(simulation);
  std::vector<std::pair<api::PodDisruptionBudget, api::PodDisruptionBudget>> changed;
  simulation.api().ForEach(Kind::kPodDisruptionBudget, [&](const api::ObjectPtr& object) {
    const auto& budget = *api::As<api::PodDisruptionBudget>(object);
    if (budget.metadata.namespace_ != namespace_) return;
    const auto before = before_.find(budget.metadata.name);
    if (before == before_.end()) return;
    const Selected now = Count(budget, pods);
    if (now.pods >= before->second.pods) return;
    changed.emplace_back(budget, Scaled(budget, before->second, now));
  });
  for (auto& [before, after] : changed) {
    disruptions.Replace(before, after);
    simulation.Apply(std::make_shared<const api::PodDisruptionBudget>(std::move(after)));
  }
}

// Leaves `out` alone where the field is absent or its number is not in [least, most].
void ReadCount(FieldReader& fields, std::string_view field, size_t least, size_t most,
               size_t& out) {
  int64_t count = 0;
  if (!fields.Read(field, count)) return;
  if (count < static_cast<int64_t>(least) || count > static_cast<int64_t>(most)) {
    fields.Invalid(field, std::to_string(count),
                   "must be between " + std::to_string(least) + " and " + std::to_string(most));
    return;
  }
  out = static_cast<size_t>(count);
}

void Require(FieldReader& fields, std::string_view field, std::string_view value) {
  if (value.empty()) fields.Problem(RequiredField(fields.PathOf(field), ""));
}

void TooMany(FieldReader& fields, std::string_view field, size_t most) {
  fields.Problem(fields.PathOf(field) + ": Too many: must have at most " + std::to_string(most) +
                 " items");
}

// One that stands twice counts once.
void ReadNames(FieldReader& fields, std::string_view field, std::vector<std::string>& out) {
  std::vector<std::string> names;
  fields.Read(field, names);
  if (names.size() > kMostNames) return TooMany(fields, field, kMostNames);
  for (std::string& name : names) {
    if (std::ranges::find(out, name) == out.end()) out.push_back(std::move(name));
  }
}

void ReadAddNodes(FieldReader& fields, WhatIf& out) {
  const ConfigValue* value = fields.Get("addNodes");
  if (value == nullptr) return;
  FieldReader members = fields.Nested(*value, "addNodes");
  ReadCount(members, "count", 1, kMostNewNodes, out.add_nodes);
  members.Read("like", out.like);
  Require(members, "like", out.like);
  if (members.Get("count") == nullptr) Require(members, "count", "");
  fields.Merge(members);
}

Scale ReadScale(const ConfigValue& value, const std::string& path, FieldReader& fields) {
  FieldReader members = fields.Nested(value, path);
  Scale scale;
  scale.namespace_ = "default";
  members.Read("namespace", scale.namespace_);
  members.Read("kind", scale.kind);
  scale.kind = Scale::KindOf(scale.kind);
  members.Read("name", scale.name);
  ReadCount(members, "replicas", 0, kMostReplicas, scale.replicas);
  Require(members, "namespace", scale.namespace_);
  Require(members, "kind", scale.kind);
  Require(members, "name", scale.name);
  if (members.Get("replicas") == nullptr) Require(members, "replicas", "");
  fields.Merge(members);
  return scale;
}

void ReadScales(FieldReader& fields, WhatIf& out) {
  const ConfigValue::List& values = fields.GetList("scale");
  if (values.size() > kMostNames) return TooMany(fields, "scale", kMostNames);
  for (size_t i = 0; i < values.size(); ++i) {
    out.scale.push_back(ReadScale(values[i], "scale[" + std::to_string(i) + "]", fields));
  }
}

// The pod of a fill, unread.
const ConfigValue* ReadFill(FieldReader& fields, WhatIf& out) {
  const ConfigValue* value = fields.Get("fill");
  if (value == nullptr) return nullptr;
  FieldReader members = fields.Nested(*value, "fill");
  ReadCount(members, "most", 1, kMostCopies, out.most);
  const ConfigValue* pod = members.Get("pod");
  if (pod == nullptr) Require(members, "pod", "");
  fields.Merge(members);
  return pod;
}

Result<void> ApplyNew(const api::ObjectPtr& object, Admission& admission, Simulation& simulation) {
  if (const auto* node = api::As<api::Node>(object); node != nullptr && node->spec.unschedulable) {
    simulation.Apply(simulator::Cordoned(*node));
    return {};
  }
  const auto* pod = std::get_if<PodPtr>(&object);
  if (pod == nullptr) {
    simulation.Apply(object);
    return {};
  }
  auto admitted = admission.Admit(*pod);
  if (!admitted) return Fail(admitted.error().Within((*pod)->metadata.Key()));
  simulation.Apply(*std::move(admitted));
  return {};
}

// What the controllers make in the simulation as it is now.
Result<void> Expand(std::vector<simulator::PodController> controllers, Admission& admission,
                    Simulation& simulation) {
  if (controllers.empty()) return {};
  simulator::PodMaker maker;
  for (const Kind kind :
       {Kind::kNode, Kind::kReplicaSet, Kind::kPersistentVolumeClaim, Kind::kPod}) {
    simulation.api().ForEach(kind, [&maker](const api::ObjectPtr& object) { maker.See(object); });
  }
  maker.Name(controllers);
  for (const simulator::PodController& controller : controllers) {
    const auto made = maker.Make(controller);
    if (!made) return Fail(made.error());
    for (const api::ObjectPtr& object : *made) {
      if (auto applied = ApplyNew(object, admission, simulation); !applied) {
        return Fail(applied.error());
      }
    }
  }
  return {};
}

// The objects to add, pods with a generateName under the first names that are free in the cluster,
// too.
std::vector<api::ObjectPtr> WithFreeNames(const WhatIf& question, const Simulation& simulation) {
  std::vector<api::ObjectPtr> objects = question.add;
  if (question.generated_pods.empty()) return objects;
  std::set<std::string> keys;
  for (const api::ObjectPtr& object : objects) {
    if (const auto* pod = api::As<api::Pod>(object)) keys.insert(pod->metadata.Key());
  }
  std::map<std::string, size_t> next;
  for (api::ObjectPtr& object : objects) {
    const auto* pod = api::As<api::Pod>(object);
    if (pod == nullptr || simulation.FindPod(pod->metadata.Key()) == nullptr) continue;
    const auto generated = question.generated_pods.find(pod->metadata.Key());
    if (generated == question.generated_pods.end()) continue;
    auto renamed = std::make_shared<api::Pod>(*pod);
    api::ObjectMeta& meta = renamed->metadata;
    do {
      const std::string form = api::NamespacedKey(meta.namespace_, generated->second);
      meta.name = generated->second + std::to_string(++next[form]);
    } while (keys.contains(meta.Key()) || simulation.FindPod(meta.Key()) != nullptr);
    meta.uid = "Pod/" + meta.Key();
    keys.insert(meta.Key());
    object = std::shared_ptr<const api::Pod>(std::move(renamed));
  }
  return objects;
}

Result<void> Add(const WhatIf& question, Admission& admission, Simulation& simulation) {
  for (const api::ObjectPtr& object : WithFreeNames(question, simulation)) {
    if (auto applied = ApplyNew(object, admission, simulation); !applied) return applied;
  }
  for (const api::ObjectPtr& object : question.add) {
    const auto* pod = api::As<api::Pod>(object);
    if (pod == nullptr || pod->spec.node_name.empty()) continue;
    if (simulation.api().Find(Kind::kNode, pod->spec.node_name).index() > 0) continue;
    return Fail(pod->metadata.Key() + ": spec.nodeName: Not found: " + Quoted(pod->spec.node_name));
  }
  if (auto made = Expand(question.controllers, admission, simulation); !made) return made;
  Settle(simulation);
  return {};
}

// The pods of a workload that has none are those of its template.
Result<void> CarryOne(const Scale& scale, const WhatIf& question, Admission& admission,
                      Simulation& simulation) {
  if (scale.kind == "DaemonSet") {
    return Fail("a DaemonSet is not scaled: each node that it is for has one of its pods");
  }
  const auto is_it = [&scale](const simulator::PodController& controller) {
    return controller.kind == scale.kind && controller.metadata.name == scale.name &&
           controller.metadata.namespace_ == scale.namespace_;
  };
  if (HasPods(scale, simulation)) return Carry(scale, simulation);
  std::optional<simulator::PodController> scaled;
  for (const auto* controllers : {&question.controllers, &question.idle}) {
    const auto found = std::ranges::find_if(*controllers, is_it);
    if (!scaled && found != controllers->end()) scaled = *found;
  }
  if (!scaled && question.find_workload) {
    auto found = question.find_workload(scale);
    if (!found) return Fail(found.error());
    scaled = *std::move(found);
  }
  if (!scaled) return Carry(scale, simulation);
  scaled->pods = static_cast<int64_t>(scale.replicas);
  if (auto made = Expand({*std::move(scaled)}, admission, simulation); !made) return made;
  Settle(simulation);
  return {};
}

// Cordons those of the nodes that are there; `left`: the others.
void CordonThere(const std::vector<std::string>& nodes, Simulation& simulation,
                 std::vector<std::string>& left) {
  for (const std::string& name : nodes) {
    if (!Cordon(name, simulation)) left.push_back(name);
  }
  simulation.RunDue();
}

Result<void> Carry(const WhatIf& question, const PartNames& names, Simulation& simulation,
                   WhatIfAnswer& answer) {
  std::vector<std::string> to_cordon;
  CordonThere(question.cordon, simulation, to_cordon);
  Admission admission(simulation);
  admission.Add(question.admission);
  if (!question.add.empty() || !question.controllers.empty()) {
    if (auto added = Add(question, admission, simulation); !added) {
      return Fail(added.error().Within(names.add));
    }
  }
  for (const std::string& node : to_cordon) {
    if (auto cordoned = Cordon(node, simulation); !cordoned)
      return Fail(cordoned.error().Within(names.cordon));
  }
  simulation.RunDue();
  if (question.add_nodes > 0) {
    if (auto added = AddNodes(question.add_nodes, question.like, simulation); !added) {
      return Fail(added.error().Within(names.like));
    }
  }
  const auto interrupted = [&simulation] { return simulation.interrupted(); };
  Disruptions disruptions(simulation);
  for (const std::string& node : question.remove_nodes) {
    if (interrupted()) break;
    if (auto removed = RemoveNode(node, disruptions, simulation); !removed) {
      return Fail(removed.error().Within(names.remove_nodes));
    }
  }
  for (const Scale& scale : question.scale) {
    if (interrupted()) break;
    const ScaledBudgets budgets(scale.namespace_, simulation);
    if (auto scaled = CarryOne(scale, question, admission, simulation); !scaled) {
      return Fail(scaled.error().Within(names.scale));
    }
    budgets.Update(simulation, disruptions);
  }
  for (const std::string& node : question.drain) {
    if (interrupted()) break;
    auto drained = Drain(node, disruptions, simulation);
    if (!drained) return Fail(drained.error().Within(names.drain));
    answer.drained.push_back(*std::move(drained));
  }
  if (question.reschedule && !interrupted()) Reschedule(simulation);
  if (question.fill != nullptr && !interrupted()) {
    const auto pod = admission.Admit(question.fill);
    if (!pod) return Fail(pod.error().Within(names.fill));
    answer.filled = Fill(*pod, simulation, question.most);
  }
  return {};
}

// What the question brings; of controllers, what each of their pods is like, and their claims.
std::vector<api::ObjectPtr> ObjectsOf(const WhatIf& question) {
  std::vector<api::ObjectPtr> objects = question.add;
  for (const simulator::PodController& controller : question.controllers) {
    api::Pod pod = *controller.pod;
    for (api::PersistentVolumeClaim claim : controller.claims) {
      std::erase_if(pod.spec.volumes, [&claim](const api::Volume& volume) {
        return volume.name == claim.metadata.name;
      });
      claim.metadata.namespace_ = pod.metadata.namespace_;
      // No pod of the question names it so.
      claim.metadata.name = controller.kind + "/" + controller.metadata.name;
      objects.emplace_back(std::make_shared<const api::PersistentVolumeClaim>(std::move(claim)));
    }
    objects.emplace_back(std::make_shared<const api::Pod>(std::move(pod)));
  }
  if (question.fill != nullptr) objects.emplace_back(question.fill);
  return objects;
}

}  // namespace

bool WhatIf::any() const {
  return !add.empty() || !controllers.empty() || add_nodes > 0 || !remove_nodes.empty() ||
         !scale.empty() || !cordon.empty() || !drain.empty() || reschedule || fill != nullptr ||
         !new_config.empty();
}

std::vector<std::string> MissingOf(const WhatIf& question, const Simulation& cluster) {
  return MissingOf(ObjectsOf(question), question.admission, cluster);
}

std::vector<std::string> MissingOf(const std::vector<api::ObjectPtr>& objects,
                                   const simulator::AdmissionObjects& admission,
                                   const Simulation& cluster) {
  std::set<std::string> runtime_classes;
  for (const api::ObjectPtr& object : objects) {
    if (const auto* pod = api::As<api::Pod>(object))
      runtime_classes.emplace(simulator::NotedRuntimeClass(*pod));
  }
  std::vector<std::string> texts =
      simulator::MissingRuntimeClasses(std::move(runtime_classes), admission);
  if (!objects.empty())
    std::ranges::move(simulator::MissingReferences(objects, cluster.api()),
                      std::back_inserter(texts));
  return texts;
}

Result<WhatIf> ParseWhatIf(const ConfigValue& document) {
  FieldReader fields(document, "", base::SuggestedField);
  WhatIf question;
  const ConfigValue::List& add = fields.GetList("add");
  if (add.size() > kMostObjects) TooMany(fields, "add", kMostObjects);
  ReadAddNodes(fields, question);
  ReadNames(fields, "removeNodes", question.remove_nodes);
  ReadScales(fields, question);
  ReadNames(fields, "cordon", question.cordon);
  ReadNames(fields, "drain", question.drain);
  fields.Read("reschedule", question.reschedule);
  fields.Read("newConfig", question.new_config);
  const ConfigValue* pod = ReadFill(fields, question);
  if (auto error = fields.Finish()) return Fail(*std::move(error));
  auto objects = simulator::ReadObjects(add, "add");
  if (!objects) return Fail(objects.error());
  question.add = std::move(objects->objects);
  question.controllers = std::move(objects->controllers);
  question.admission = std::move(objects->admission);
  question.generated_pods = std::move(objects->generated_pods);
  if (pod != nullptr) {
    auto read = simulator::ReadPod(*pod, "fill.pod");
    if (!read) return Fail(read.error());
    question.fill = *std::move(read);
  }
  return question;
}

Result<WhatIf> ParseWhatIf(std::string_view json) {
  const auto document = documents::ParseJson(json, "");
  if (!document) return Fail(document.error());
  return ParseWhatIf(*document);
}

Result<WhatIfAnswer> AskWhatIf(const WhatIf& question, Simulation& today, Simulation* other,
                               const PartNames& names) {
  Simulation& changed = other == nullptr ? today : *other;
  WhatIfAnswer answer;
  answer.warnings = MissingOf(question, today);
  today.RunDue();
  answer.now = Take(today);
  Settle(today);
  if (other != nullptr) {
    if (question.reschedule) Reschedule(today);
    Settle(changed);
  }
  answer.before = Take(today);
  // What another configuration evicts counts as part of the difference.
  const size_t evicted = other == nullptr ? answer.before.evicted : 0;
  if (auto carried = Carry(question, names, changed, answer); !carried) {
    return Fail(carried.error());
  }
  if (today.interrupted() || changed.interrupted()) return Fail("there was no time to answer");
  answer.after = Take(changed);
  answer.evicted_before = today.api().evicted();
  answer.evicted_before.resize(answer.before.evicted);
  const std::vector<std::string>& all = changed.api().evicted();
  answer.evicted.assign(all.begin() + static_cast<std::ptrdiff_t>(evicted), all.end());
  return answer;
}

}  // namespace berth::questions
