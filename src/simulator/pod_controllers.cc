// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/pod_controllers.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "berth/check.h"
#include "berth/field_errors.h"
#include "berth/matching.h"
#include "src/api/decode.h"
#include "src/base/json.h"
#include "src/documents/parse.h"
#include "src/simulator/admission.h"
#include "src/simulator/answers.h"
#include "src/simulator/object_checks.h"

namespace berth::simulator {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kPodControllers = {{
    {"apps/v1", "Deployment"},
    {"apps/v1", "ReplicaSet"},
    {"apps/v1", "StatefulSet"},
    {"apps/v1", "DaemonSet"},
    {"batch/v1", "Job"},
    {"batch/v1", "CronJob"},
    {"v1", "ReplicationController"},
}};

// What Kubernetes ends in a hash of the template, or in chance.
constexpr std::string_view kNew = "new";
constexpr std::string_view kNodeName = "metadata.name";

// A tree of which only some members matter.
const ConfigValue& Member(const ConfigValue& value, std::string_view name) {
  static const ConfigValue nothing;
  const ConfigValue* member = value.Find(name);
  return member == nullptr ? nothing : *member;
}

// Whether the API server would take the template: many a file has controllers for their selectors
// alone, and no pods are to come of these.
bool HasContainers(const ConfigValue& pod_template) {
  const ConfigValue::List* containers = Member(Member(pod_template, "spec"), "containers").list();
  return containers != nullptr && !containers->empty();
}

// A count that must not be negative; `out` is left alone where it is absent.
Result<void> ReadCount(const ConfigValue& spec, std::string_view field, const std::string& path,
                       std::optional<int64_t>& out) {
  const ConfigValue* value = spec.Find(field);
  if (value == nullptr) return {};
  const int64_t* number = value->integer();
  if (number == nullptr || *number < 0) {
    return Fail(InvalidField(path + "." + std::string(field), value->ToJson(),
                             "must be a number that is not negative"));
  }
  out = *number;
  return {};
}

bool IsTrue(const ConfigValue& spec, std::string_view field) {
  const bool* value = Member(spec, field).boolean();
  return value != nullptr && *value;
}

Result<api::ObjectMeta> ReadMeta(const ConfigValue& value, const std::string& path) {
  ConfigValue::Map members;
  members.emplace_back("metadata", Member(value, "metadata"));
  auto read = api::DecodeValue<api::Namespace>(ConfigValue(std::move(members)), path);
  if (!read) return Fail(read.error());
  api::ObjectMeta meta = std::move(read->metadata);
  if (meta.namespace_.empty()) meta.namespace_ = "default";
  return meta;
}

// The tolerations that the DaemonSet controller gives its pods.
void TolerateAsDaemon(api::PodSpec& spec) {
  const auto tolerate = [&spec](std::string_view condition, std::string_view effect) {
    api::Toleration toleration;
    toleration.key = "node.kubernetes.io/" + std::string(condition);
    toleration.operator_ = "Exists";
    toleration.effect = effect;
    std::erase_if(spec.tolerations, [&toleration](const api::Toleration& other) {
      return other.key == toleration.key && other.effect == toleration.effect &&
             other.operator_ == toleration.operator_ && other.value.empty();
    });
    spec.tolerations.push_back(std::move(toleration));
  };
  for (const char* condition : {"not-ready", "unreachable"}) tolerate(condition, "NoExecute");
  for (const char* condition :
       {"disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"}) {
    tolerate(condition, "NoSchedule");
  }
  if (spec.host_network) tolerate("network-unavailable", "NoSchedule");
}

// Whether the DaemonSet controller makes a pod for the node.
bool WantsDaemon(const api::Pod& pod, const RequiredNodeAffinity& affinity, const api::Node& node) {
  if (!pod.spec.node_name.empty() && pod.spec.node_name != node.metadata.name) return false;
  if (!affinity.Matches(node)) return false;
  return std::ranges::all_of(node.spec.taints, [&](const api::Taint& taint) {
    return (taint.effect != "NoSchedule" && taint.effect != "NoExecute") ||
           Tolerates(std::span<const api::Toleration>(pod.spec.tolerations), taint, false);
  });
}

void PinToNode(std::string_view node, api::PodSpec& spec) {
  api::NodeSelectorRequirement requirement;
  requirement.key = kNodeName;
  requirement.operator_ = "In";
  requirement.values = {std::string(node)};
  api::NodeSelectorTerm term;
  term.match_fields.push_back(std::move(requirement));
  api::Affinity affinity = spec.affinity ? *spec.affinity : api::Affinity();
  if (!affinity.node_affinity) affinity.node_affinity.emplace();
  affinity.node_affinity->required_during_scheduling_ignored_during_execution =
      api::NodeSelector{{std::move(term)}};
  spec.affinity = std::move(affinity);
}

// The node that a DaemonSet's pod is on or meant for; "": it is not said.
std::string NodeOf(const api::Pod& pod) {
  if (!pod.spec.node_name.empty() || !pod.spec.affinity || !pod.spec.affinity->node_affinity)
    return pod.spec.node_name;
  const auto& required =
      pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  if (!required) return "";
  for (const api::NodeSelectorTerm& term : required->node_selector_terms) {
    for (const api::NodeSelectorRequirement& field : term.match_fields) {
      if (field.key == kNodeName && field.values.size() == 1) return field.values.front();
    }
  }
  return "";
}

std::string KeyOf(std::string_view kind, const api::ObjectMeta& meta) {
  return std::string(kind) + "/" + meta.Key();
}

api::OwnerReference OwnerOf(std::string_view api_version, std::string_view kind,
                            const api::ObjectMeta& meta) {
  api::OwnerReference owner;
  owner.api_version = api_version;
  owner.kind = kind;
  owner.name = meta.name;
  owner.uid = meta.uid.empty() ? KeyOf(kind, meta) : meta.uid;
  owner.controller = true;
  return owner;
}

const api::OwnerReference* ControllerIn(const api::ObjectMeta& meta) {
  const auto found = std::ranges::find_if(meta.owner_references, &api::OwnerReference::controller);
  return found == meta.owner_references.end() ? nullptr : &*found;
}

Result<std::vector<api::PersistentVolumeClaim>> ReadClaims(const ConfigValue& spec,
                                                           const std::string& path) {
  std::vector<api::PersistentVolumeClaim> claims;
  const ConfigValue::List* list = Member(spec, "volumeClaimTemplates").list();
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const std::string place = IndexedPath(path + ".volumeClaimTemplates", i);
    auto claim = api::DecodeValue<api::PersistentVolumeClaim>((*list)[i], place);
    if (!claim) return Fail(claim.error());
    if (claim->metadata.name.empty()) return Fail(RequiredField(place + ".metadata.name", ""));
    claims.push_back(*std::move(claim));
  }
  return claims;
}

// How many pods of a job run at once.
Result<void> ReadJob(const ConfigValue& spec, const std::string& path, PodController& out) {
  std::optional<int64_t> parallelism;
  std::optional<int64_t> completions;
  if (auto read = ReadCount(spec, "parallelism", path, parallelism); !read) return read;
  if (auto read = ReadCount(spec, "completions", path, completions); !read) return read;
  out.pods = parallelism.value_or(1);
  if (completions) out.pods = std::min(out.pods, *completions);
  if (IsTrue(spec, "suspend")) out.pods = 0;
  const std::string* mode = Member(spec, "completionMode").string();
  out.indexed = mode != nullptr && *mode == "Indexed";
  return {};
}

Result<void> ReadReplicas(const ConfigValue& spec, const std::string& path, PodController& out) {
  std::optional<int64_t> replicas;
  if (auto read = ReadCount(spec, "replicas", path, replicas); !read) return read;
  out.pods = replicas.value_or(1);
  std::optional<int64_t> start;
  if (auto read = ReadCount(Member(spec, "ordinals"), "start", path + ".ordinals", start); !read)
    return read;
  out.first_ordinal = start.value_or(0);
  if (const ConfigValue* selector = spec.Find("selector");
      selector != nullptr && out.kind != "ReplicationController") {
    auto read = api::DecodeValue<api::LabelSelector>(*selector, path + ".selector");
    if (!read) return Fail(read.error());
    out.selector = *std::move(read);
  }
  auto claims = ReadClaims(spec, path);
  if (!claims) return Fail(claims.error());
  out.claims = *std::move(claims);
  return {};
}

Result<std::shared_ptr<const api::Pod>> ReadTemplate(const ConfigValue& value,
                                                     const std::string& path,
                                                     const PodController& of) {
  auto read = api::DecodeValue<api::Pod>(value, path);
  if (!read) return Fail(read.error());
  api::Pod pod = *std::move(read);
  pod.metadata.namespace_ = of.metadata.namespace_;
  pod.metadata.name.clear();
  if (pod.spec.scheduler_name.empty()) pod.spec.scheduler_name = "default-scheduler";
  if (of.kind == "DaemonSet") TolerateAsDaemon(pod.spec);
  auto defaulted = WithDefaults(pod, StringAt(value, {"spec", "runtimeClassName"}));
  for (const auto find : {FindBadSelector, FindBadValue}) {
    if (auto problem = find(api::ObjectPtr(defaulted))) return Fail(problem->Within(path));
  }
  return defaulted;
}

// What scheduling reads of a template.
void AppendTemplate(const api::Pod& pod, std::string& out) {
  const auto read = documents::ParseJson(api::EncodeJson(pod), "");
  BERTH_CHECK(read.has_value(), "a pod is JSON");
  base::JsonObject object(out);
  base::JsonObject metadata(object.Key("metadata"));
  if (!pod.metadata.labels.empty()) {
    metadata.Key("labels") += Member(Member(*read, "metadata"), "labels").ToJson();
  }
  metadata.Close();
  base::JsonObject spec(object.Key("spec"));
  for (const auto& [name, value] : *Member(*read, "spec").map()) spec.Key(name) += value.ToJson();
  spec.AddIfNotEmpty("runtimeClassName", NotedRuntimeClass(pod));
}

}  // namespace

bool IsPodController(const api::TypeMeta& type) {
  return std::ranges::any_of(kPodControllers, [&type](const auto& known) {
    return known.first == type.api_version && known.second == type.kind;
  });
}

Result<std::optional<PodController>> ReadPodController(const ConfigValue& value,
                                                       const api::TypeMeta& type,
                                                       std::string_view path) {
  const std::string prefix = path.empty() ? "" : std::string(path) + ".";
  PodController controller;
  controller.api_version = type.api_version;
  controller.kind = type.kind;
  auto meta = ReadMeta(value, std::string(path));
  if (!meta) return Fail(meta.error());
  controller.metadata = *std::move(meta);
  std::string spec_path = prefix + "spec";
  const ConfigValue* spec = &Member(value, "spec");
  const bool suspended = type.kind == "CronJob" && IsTrue(*spec, "suspend");
  if (type.kind == "CronJob") {
    spec = &Member(Member(*spec, "jobTemplate"), "spec");
    spec_path += ".jobTemplate.spec";
  }
  const ConfigValue* pod_template = spec->Find("template");
  if (pod_template == nullptr || !HasContainers(*pod_template))
    return std::optional<PodController>();
  if (controller.metadata.name.empty())
    controller.generate_name = StringAt(value, {"metadata", "generateName"});
  if (controller.metadata.name.empty() && controller.generate_name.empty())
    return Fail(RequiredField(prefix + "metadata.name", "an object of a cluster has a name"));
  const bool is_job = type.kind == "CronJob" || type.kind == "Job";
  if (auto read = is_job ? ReadJob(*spec, spec_path, controller)
                         : ReadReplicas(*spec, spec_path, controller);
      !read) {
    return Fail(read.error());
  }
  if (suspended) controller.pods = 0;
  auto pod = ReadTemplate(*pod_template, spec_path + ".template", controller);
  if (!pod) return Fail(pod.error());
  controller.pod = *std::move(pod);
  return std::optional(std::move(controller));
}

std::optional<PodController> ReadStored(const ConfigValue& object, const api::TypeMeta& type) {
  auto read = ReadPodController(object, type, "");
  if (!read || !*read || !(*read)->metadata.owner_references.empty()) return std::nullopt;
  (*read)->stored_spec = Member(object, "spec");
  return *std::move(read);
}

bool HasNoReplicas(const ConfigValue& object) {
  const int64_t* replicas = Member(Member(object, "spec"), "replicas").integer();
  return replicas != nullptr && *replicas == 0;
}

void AppendJson(const std::vector<PodController>& stored, std::string_view& separator,
                std::string& out) {
  for (const PodController& one : stored) {
    out += std::exchange(separator, ",\n");
    base::JsonObject object(out);
    object.Add("apiVersion", one.api_version);
    object.Add("kind", one.kind);
    base::JsonObject metadata(object.Key("metadata"));
    metadata.Add("name", one.metadata.name);
    metadata.Add("namespace", one.metadata.namespace_);
    metadata.AddIfNotEmpty("uid", one.metadata.uid);
    metadata.Close();
    base::JsonObject spec(object.Key("spec"));
    for (const auto& [name, value] : *one.stored_spec.map()) {
      if (name != "template") spec.Key(name) += value.ToJson();
    }
    AppendTemplate(*one.pod, spec.Key("template"));
  }
}

std::string MissingContainers(const ConfigValue& value, const api::TypeMeta& type) {
  const std::string of = type.kind == "CronJob" ? "spec.jobTemplate.spec" : "spec";
  auto meta = ReadMeta(value, "");
  if (meta && meta->name.empty()) meta->name = StringAt(value, {"metadata", "generateName"});
  const std::string problem = RequiredField(of + ".template.spec.containers", "");
  return type.kind + " " + (meta ? meta->Key() + ": " : "") + problem;
}

void PodMaker::See(const api::ObjectPtr& object) {
  if (const auto* node = std::get_if<std::shared_ptr<const api::Node>>(&object)) {
    nodes_.push_back(*node);
  } else if (const auto* set = api::As<api::ReplicaSet>(object)) {
    const api::OwnerReference* owner = ControllerIn(set->metadata);
    if (owner != nullptr && owner->kind == "Deployment") {
      deployment_of_[set->metadata.Key()] =
          api::NamespacedKey(set->metadata.namespace_, owner->name);
    }
  } else if (const auto* claim = api::As<api::PersistentVolumeClaim>(object)) {
    claim_keys_.insert(claim->metadata.Key());
  } else if (const auto* pod = api::As<api::Pod>(object)) {
    SeePod(*pod);
  }
}

void PodMaker::SeePod(const api::Pod& pod) {
  pod_keys_.insert(pod.metadata.Key());
  const api::OwnerReference* owner = ControllerIn(pod.metadata);
  if (owner == nullptr) return;
  const std::string key = api::NamespacedKey(pod.metadata.namespace_, owner->name);
  const std::string of = owner->kind + "/" + key;
  ++pods_of_[of];
  if (owner->kind == "DaemonSet") daemons_on_.insert(of + "@" + NodeOf(pod));
  if (owner->kind != "ReplicaSet") return;
  if (const auto deployment = deployment_of_.find(key); deployment != deployment_of_.end())
    ++pods_of_["Deployment/" + deployment->second];
}

Result<void> PodMaker::Count(size_t pods) {
  if (pods > kMostMadePods - std::min(made_, kMostMadePods)) {
    return Fail("too many pods: controllers may make " + std::to_string(kMostMadePods));
  }
  made_ += pods;
  return {};
}

void PodMaker::Name(std::vector<PodController>& controllers) const {
  Names taken;
  for (const PodController& controller : controllers)
    taken.insert(KeyOf(controller.kind, controller.metadata));
  for (PodController& controller : controllers) {
    if (!controller.metadata.name.empty()) continue;
    std::string key;
    for (size_t number = 1; key.empty() || taken.contains(key) || pods_of_.contains(key);) {
      controller.metadata.name = controller.generate_name + std::to_string(number++);
      key = KeyOf(controller.kind, controller.metadata);
    }
    taken.insert(std::move(key));
  }
}

std::string PodMaker::NewName(const std::string& namespace_, const std::string& prefix) {
  size_t& next = next_[api::NamespacedKey(namespace_, prefix)];
  while (true) {
    std::string name = prefix + "-" + std::to_string(next++);
    if (!pod_keys_.contains(api::NamespacedKey(namespace_, name))) return name;
  }
}

api::Pod PodMaker::MakePod(const PodController& controller, const api::OwnerReference& owner,
                           std::string name) const {
  api::Pod pod = *controller.pod;
  pod.metadata.name = std::move(name);
  pod.metadata.uid = KeyOf("Pod", pod.metadata);
  pod.metadata.owner_references = {owner};
  pod.status.phase = "Pending";
  return pod;
}

Result<std::vector<api::ObjectPtr>> PodMaker::Make(const PodController& controller) {
  std::vector<api::ObjectPtr> made;
  const bool daemons = controller.kind == "DaemonSet";
  const size_t most = daemons ? nodes_.size() : static_cast<size_t>(controller.pods);
  if (auto counted = Count(most); !counted) {
    return Fail(counted.error().Within(controller.kind + " " + controller.metadata.Key()));
  }
  if (daemons) {
    MakeDaemons(controller, made);
  } else if (controller.kind == "StatefulSet") {
    MakeOrdinals(controller, made);
  } else {
    MakeAlike(controller, made);
  }
  for (const api::ObjectPtr& object : made) See(object);
  return made;
}

// Pods that only their names tell apart.
void PodMaker::MakeAlike(const PodController& controller, std::vector<api::ObjectPtr>& out) {
  const bool deploys = controller.kind == "Deployment";
  const bool repeats = controller.kind == "CronJob";
  const std::string fresh = controller.metadata.name + "-" + std::string(kNew);
  api::OwnerReference owner = OwnerOf(controller.api_version, controller.kind, controller.metadata);
  api::StringMap labels = controller.pod->metadata.labels;
  if (deploys || repeats) {
    api::ObjectMeta between;
    between.name = fresh;
    between.namespace_ = controller.metadata.namespace_;
    between.owner_references = {owner};
    owner = OwnerOf(controller.api_version, deploys ? "ReplicaSet" : "Job", between);
    between.uid = owner.uid;
    if (deploys) {
      constexpr std::string_view kHash = "pod-template-hash";
      api::Put(kHash, kNew, labels);
      auto set = std::make_shared<api::ReplicaSet>();
      between.labels = labels;
      set->metadata = std::move(between);
      set->spec.selector = controller.selector.value_or(api::LabelSelector());
      api::Put(kHash, kNew, set->spec.selector->match_labels);
      out.emplace_back(std::shared_ptr<const api::ReplicaSet>(std::move(set)));
    }
  }
  const bool job = repeats || controller.kind == "Job";
  if (job) {
    api::Put("batch.kubernetes.io/job-name", owner.name, labels);
    api::Put("job-name", owner.name, labels);
  }
  const auto there = pods_of_.find(KeyOf(controller.kind, controller.metadata));
  const auto wanted = static_cast<size_t>(controller.pods);
  const size_t have = there == pods_of_.end() ? 0 : std::min(there->second, wanted);
  for (size_t i = have; i < wanted; ++i) {
    std::string name = controller.indexed
                           ? NewName(controller.metadata.namespace_, owner.name)
                           : NewName(controller.metadata.namespace_, repeats ? owner.name : fresh);
    api::Pod pod = MakePod(controller, owner, std::move(name));
    pod.metadata.labels = labels;
    if (controller.indexed) {
      api::Put("batch.kubernetes.io/job-completion-index", std::to_string(i), pod.metadata.labels);
    }
    out.emplace_back(std::make_shared<const api::Pod>(std::move(pod)));
  }
}

void PodMaker::MakeOrdinals(const PodController& controller, std::vector<api::ObjectPtr>& out) {
  const api::OwnerReference owner =
      OwnerOf(controller.api_version, controller.kind, controller.metadata);
  std::vector<api::ObjectPtr> pods;
  for (int64_t i = 0; i < controller.pods; ++i) {
    const std::string ordinal = std::to_string(controller.first_ordinal + i);
    api::Pod pod = MakePod(controller, owner, controller.metadata.name + "-" + ordinal);
    if (pod_keys_.contains(pod.metadata.Key())) continue;
    api::Put("apps.kubernetes.io/pod-index", ordinal, pod.metadata.labels);
    api::Put("statefulset.kubernetes.io/pod-name", pod.metadata.name, pod.metadata.labels);
    for (const api::PersistentVolumeClaim& like : controller.claims) {
      api::PersistentVolumeClaim claim = like;
      claim.metadata.name = like.metadata.name + "-" + pod.metadata.name;
      claim.metadata.namespace_ = pod.metadata.namespace_;
      claim.metadata.uid = KeyOf("PersistentVolumeClaim", claim.metadata);
      claim.status.phase = api::kClaimPending;
      std::erase_if(pod.spec.volumes, [&like](const api::Volume& volume) {
        return volume.name == like.metadata.name;
      });
      api::Volume volume;
      volume.name = like.metadata.name;
      volume.persistent_volume_claim =
          api::PersistentVolumeClaimVolumeSource{claim.metadata.name, false};
      pod.spec.volumes.push_back(std::move(volume));
      if (claim_keys_.contains(claim.metadata.Key())) continue;
      out.emplace_back(std::make_shared<const api::PersistentVolumeClaim>(std::move(claim)));
    }
    pods.emplace_back(std::make_shared<const api::Pod>(std::move(pod)));
  }
  std::ranges::move(pods, std::back_inserter(out));
}

void PodMaker::MakeDaemons(const PodController& controller, std::vector<api::ObjectPtr>& out) {
  const api::OwnerReference owner =
      OwnerOf(controller.api_version, controller.kind, controller.metadata);
  const RequiredNodeAffinity affinity = RequiredNodeAffinity::Make(*controller.pod);
  const std::string of = KeyOf(controller.kind, controller.metadata);
  for (const std::shared_ptr<const api::Node>& node : nodes_) {
    const std::string& name = node->metadata.name;
    if (daemons_on_.contains(of + "@" + name)) continue;
    if (!WantsDaemon(*controller.pod, affinity, *node)) continue;
    std::string pod_name = controller.metadata.name + "-" + name;
    if (pod_keys_.contains(api::NamespacedKey(controller.metadata.namespace_, pod_name)))
      pod_name = NewName(controller.metadata.namespace_, pod_name);
    api::Pod pod = MakePod(controller, owner, std::move(pod_name));
    PinToNode(name, pod.spec);
    out.emplace_back(std::make_shared<const api::Pod>(std::move(pod)));
  }
}

}  // namespace berth::simulator
