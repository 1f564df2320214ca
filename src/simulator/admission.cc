// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/admission.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "berth/field_errors.h"
#include "berth/resources.h"
#include "src/api/decode.h"
#include "src/base/json.h"
#include "src/base/text.h"
#include "src/simulator/answers.h"

namespace berth::simulator {
namespace {

// An annotation that no pod has but between its defaults and its admission.
constexpr const char* kNodeCritical = "system-node-critical";
constexpr std::string_view kNote = "simulator.berth.dev/runtime-class";

void EraseNote(api::Pod& pod) {
  std::erase_if(pod.metadata.annotations,
                [](const auto& annotation) { return annotation.first == kNote; });
}

void SetIfMissing(const api::ResourceList::value_type& amount, api::ResourceList& list) {
  if (api::Find(list, amount.first) != nullptr) return;
  list.push_back(amount);
  std::ranges::sort(list, {}, &api::ResourceList::value_type::first);
}

void SetMissing(const api::ResourceList& amounts, api::ResourceList& list) {
  for (const auto& amount : amounts) SetIfMissing(amount, list);
}

void SetMissingRequests(std::vector<api::Container>& containers) {
  for (api::Container& container : containers) {
    SetMissing(container.resources.limits, container.resources.requests);
  }
}

bool MayBeOvercommitted(std::string_view resource) {
  return resource == "cpu" || resource == "memory";
}

// The resources that a pod may ask for as a whole.
bool IsOfPods(std::string_view resource) {
  return MayBeOvercommitted(resource) || resource.starts_with("hugepages-");
}

// A pod's own requests are those of its containers, or else its limits.
void SetMissingPodRequests(api::Pod& pod) {
  if (!pod.spec.resources || pod.spec.resources->limits.empty()) return;
  api::ResourceRequirements own = *pod.spec.resources;
  api::Pod without = pod;
  without.spec.overhead.clear();
  PodRequestsOptions options;
  options.pod_level = false;
  for (const auto& request : PodRequests(without, options)) {
    if (MayBeOvercommitted(request.first)) SetIfMissing(request, own.requests);
  }
  for (const auto& limit : own.limits) {
    if (IsOfPods(limit.first)) SetIfMissing(limit, own.requests);
  }
  pod.spec.resources = std::move(own);
}

void SetHostPorts(std::vector<api::Container>& containers) {
  for (api::Container& container : containers) {
    for (api::ContainerPort& port : container.ports) {
      if (port.host_port == 0) port.host_port = port.container_port;
    }
  }
}

// Types of a LimitRange's limits.
constexpr std::string_view kContainer = "Container";
constexpr std::string_view kPod = "Pod";

constexpr std::string_view kExists = "Exists";
constexpr std::string_view kNoExecute = "NoExecute";

// For five minutes, as the API server's admission lets pods stay.
void SetToleration(std::string_view taint, std::vector<api::Toleration>& tolerations) {
  const bool there = std::ranges::any_of(tolerations, [&](const api::Toleration& toleration) {
    return (toleration.key.empty() || toleration.key == taint) &&
           (toleration.effect.empty() || toleration.effect == kNoExecute);
  });
  if (there) return;
  api::Toleration toleration;
  toleration.key = taint;
  toleration.operator_ = kExists;
  toleration.effect = kNoExecute;
  toleration.toleration_seconds = 300;
  tolerations.push_back(std::move(toleration));
}

// Whether `wide` tolerates all that `narrow` does, as the API server compares two tolerations.
bool Covers(const api::Toleration& wide, const api::Toleration& narrow) {
  if (wide == narrow) return true;
  const bool any_key = wide.key.empty() && wide.operator_ == kExists;
  if (wide.key != narrow.key && !any_key) return false;
  if (!wide.effect.empty() && wide.effect != narrow.effect) return false;
  if (wide.effect == kNoExecute && wide.toleration_seconds &&
      (!narrow.toleration_seconds || *narrow.toleration_seconds > *wide.toleration_seconds)) {
    return false;
  }
  if (wide.operator_ == kExists) return true;
  const bool equal = wide.operator_.empty() || wide.operator_ == "Equal";
  return equal && narrow.operator_ == "Equal" && narrow.value == wide.value;
}

// Both lists, without those that another one covers; of equal ones the first.
std::vector<api::Toleration> Merged(std::vector<api::Toleration> all,
                                    const std::vector<api::Toleration>& more) {
  all.insert(all.end(), more.begin(), more.end());
  std::vector<api::Toleration> merged;
  for (auto one = all.begin(); one != all.end(); ++one) {
    const auto covers = [&one](const api::Toleration& other) { return Covers(other, *one); };
    const bool needless = std::ranges::any_of(merged, covers) ||
                          std::any_of(one + 1, all.end(), [&](const api::Toleration& other) {
                            return other != *one && covers(other);
                          });
    if (!needless) merged.push_back(*one);
  }
  return merged;
}

// What the tables of a pod make of a value that stands elsewhere: as spec.`member` of one. Errors:
// with `path` in that place.
Result<api::PodSpec> ReadAsPods(const ConfigValue* value, std::string_view member,
                                std::string_view path) {
  if (value == nullptr) return {};
  ConfigValue::Map spec;
  spec.emplace_back(member, *value);
  ConfigValue::Map pod;
  pod.emplace_back("spec", ConfigValue(std::move(spec)));
  auto read = api::DecodeValue<api::Pod>(ConfigValue(std::move(pod)), "");
  if (read) return std::move(read->spec);
  const std::string prefix = "spec." + std::string(member);
  const std::string& text = read.error().message;
  return Fail(text.starts_with(prefix) ? std::string(path) + text.substr(prefix.size()) : text);
}

// Adds the amounts to `list`, in place of those that are there.
void Overwrite(const api::ResourceList& amounts, api::ResourceList& list) {
  for (const auto& amount : amounts) {
    std::erase_if(list, [&](const auto& there) { return there.first == amount.first; });
    SetIfMissing(amount, list);
  }
}

Result<void> ReadAmounts(const ConfigValue& item, std::string_view field, const std::string& path,
                         api::ResourceList& out) {
  auto read = ReadAsPods(item.Find(field), "overhead", base::Concat(path, ".", field));
  if (!read) return Fail(read.error());
  out = std::move(read->overhead);
  return {};
}

// One of a LimitRange's limits. Of a container a default limit that is missing is the maximum, a
// default request that is missing the default limit, or else the minimum.
Result<void> ReadLimit(const ConfigValue& item, const std::string& path, LimitRange& out) {
  Bounds bounds{.type = StringAt(item, {"type"}), .min = {}, .max = {}, .max_ratio = {}};
  const bool of_containers = bounds.type == kContainer;
  if (!of_containers && bounds.type != kPod) return {};
  api::ResourceList limits;
  api::ResourceList requests;
  for (const auto& [field, amounts] : {std::pair("default", &limits),
                                       {"max", &bounds.max},
                                       {"defaultRequest", &requests},
                                       {"min", &bounds.min},
                                       {"maxLimitRequestRatio", &bounds.max_ratio}}) {
    if (auto read = ReadAmounts(item, field, path, *amounts); !read) return read;
  }
  if (of_containers) {
    SetMissing(bounds.max, limits);
    SetMissing(limits, requests);
    SetMissing(bounds.min, requests);
    Overwrite(limits, out.limits);
    Overwrite(requests, out.requests);
  }
  out.bounds.push_back(std::move(bounds));
  return {};
}

Result<LimitRange> ReadLimitRange(const ConfigValue& value, const std::string& prefix) {
  LimitRange read;
  read.name = StringAt(value, {"metadata", "name"});
  read.namespace_ = StringAt(value, {"metadata", "namespace"});
  if (read.namespace_.empty()) read.namespace_ = "default";
  if (const ConfigValue* spec = value.Find("spec")) read.spec = *spec;
  const ConfigValue* limits = read.spec.Find("limits");
  const std::string path = prefix + "spec.limits";
  if (limits == nullptr) return read;
  if (limits->list() == nullptr)
    return Fail(path + ": expected a list, got " + std::string(limits->TypeName()));
  for (size_t i = 0; i < limits->list()->size(); ++i) {
    if (auto taken = ReadLimit((*limits->list())[i], IndexedPath(path, i), read); !taken)
      return Fail(taken.error());
  }
  return read;
}

Result<RuntimeClass> ReadRuntimeClass(const ConfigValue& value, const std::string& prefix) {
  RuntimeClass read;
  read.name = StringAt(value, {"metadata", "name"});
  if (const ConfigValue* stated = value.Find("overhead")) read.stated_overhead = *stated;
  if (const ConfigValue* stated = value.Find("scheduling")) read.stated_scheduling = *stated;
  auto overhead =
      ReadAsPods(FindAt(value, {"overhead", "podFixed"}), "overhead", prefix + "overhead.podFixed");
  if (!overhead) return Fail(overhead.error());
  auto selector = ReadAsPods(FindAt(value, {"scheduling", "nodeSelector"}), "nodeSelector",
                             prefix + "scheduling.nodeSelector");
  if (!selector) return Fail(selector.error());
  auto tolerations = ReadAsPods(FindAt(value, {"scheduling", "tolerations"}), "tolerations",
                                prefix + "scheduling.tolerations");
  if (!tolerations) return Fail(tolerations.error());
  read.overhead = std::move(overhead->overhead);
  read.node_selector = std::move(selector->node_selector);
  read.tolerations = std::move(tolerations->tolerations);
  return read;
}

Result<PriorityClass> ReadPriorityClass(const ConfigValue& value, std::string_view path) {
  PriorityClass read;
  read.name = StringAt(value, {"metadata", "name"});
  FieldReader fields(value, std::string(path));
  fields.Read("value", read.value);
  fields.Read("globalDefault", read.global_default);
  std::string policy;
  if (fields.Read("preemptionPolicy", policy)) read.preemption_policy = std::move(policy);
  // Others are none of a scheduler's business.
  if (const ConfigValue::Map* members = value.map()) {
    for (const auto& [name, unused] : *members) fields.Get(name);
  }
  if (auto error = fields.Finish()) return Fail(*std::move(error));
  return read;
}

// What a container, or a pod as a whole, asks for.
struct Asked {
  api::ResourceList requests;
  api::ResourceList limits;
};

// As LimitRanger counts it: without overhead, and of a pod's own resources cpu and memory alone.
Asked AskedByPod(const api::Pod& pod) {
  api::Pod without = pod;
  without.spec.overhead.clear();
  without.spec.resources.reset();
  Asked asked{PodRequests(without, {}), PodLimits(without)};
  if (!pod.spec.resources) return asked;
  const auto override_with = [](const api::ResourceList& own, api::ResourceList& list) {
    for (const auto& amount : own) {
      if (MayBeOvercommitted(amount.first)) Overwrite({amount}, list);
    }
  };
  override_with(pod.spec.resources->requests, asked.requests);
  override_with(pod.spec.resources->limits, asked.limits);
  return asked;
}

// Beyond this, amounts are compared in whole units.
constexpr int64_t kMostMilliValue = std::numeric_limits<int64_t>::max() / 1000;

// The amounts of one resource in the unit in which LimitRanger compares them; 0 where one is
// missing.
struct Compared {
  Compared(const api::Quantity* request, const api::Quantity* limit, const api::Quantity& bound) {
    const api::Quantity none;
    const api::Quantity* amounts[] = {request == nullptr ? &none : request,
                                      limit == nullptr ? &none : limit, &bound};
    const bool in_milli = std::ranges::all_of(
        amounts, [](const api::Quantity* amount) { return amount->Value() <= kMostMilliValue; });
    const auto value = [in_milli](const api::Quantity* amount) {
      return in_milli ? amount->MilliValue() : amount->Value();
    };
    request_value = value(amounts[0]);
    limit_value = value(amounts[1]);
    bound_value = value(amounts[2]);
    bound_milli = bound.MilliValue();
  }
  int64_t request_value = 0;
  int64_t limit_value = 0;
  int64_t bound_value = 0;
  int64_t bound_milli = 0;
};

// What LimitRanger says of one that is out of these bounds.
void AppendProblems(const Asked& asked, const Bounds& bounds, std::vector<std::string>& problems) {
  const auto check = [&](std::string_view what, const api::ResourceList& list, const auto& find) {
    for (const auto& [resource, bound] : list) {
      const api::Quantity* request = api::Find(asked.requests, resource);
      const api::Quantity* limit = api::Find(asked.limits, resource);
      const std::string problem = find(request, limit, Compared(request, limit, bound));
      if (problem.empty()) continue;
      const std::string of = what.empty() ? resource + " max limit to request ratio"
                                          : base::Concat(what, " ", resource, " usage");
      problems.push_back(
          base::Concat(of, " per ", bounds.type, " is ", bound.ToCanonicalString(), problem));
    }
  };
  using Amount = const api::Quantity*;
  const auto but = [](std::string_view what, Amount amount) {
    return base::Concat(", but ", what, " is ", amount->ToCanonicalString());
  };
  check("minimum", bounds.min, [&](Amount request, Amount limit, const Compared& c) -> std::string {
    if (request == nullptr) return ".  No request is specified";
    if (c.request_value < c.bound_value) return but("request", request);
    return limit != nullptr && c.limit_value < c.bound_value ? but("limit", limit) : "";
  });
  check("maximum", bounds.max, [&](Amount request, Amount limit, const Compared& c) -> std::string {
    if (limit == nullptr) return ".  No limit is specified";
    if (c.limit_value > c.bound_value) return but("limit", limit);
    return request != nullptr && c.request_value > c.bound_value ? but("request", request) : "";
  });
  check("", bounds.max_ratio, [](Amount request, Amount limit, const Compared& c) -> std::string {
    if (request == nullptr || c.request_value == 0)
      return ", but no request is specified or request is 0";
    if (limit == nullptr || c.limit_value == 0) return ", but no limit is specified or limit is 0";
    const double ratio = static_cast<double>(c.limit_value) / static_cast<double>(c.request_value);
    if (ratio * 1000 <= static_cast<double>(c.bound_milli)) return "";
    return ", but provided ratio is " + std::to_string(ratio);
  });
}

template <typename T>
Result<void> AppendRead(Result<T>&& read, std::vector<T>& out) {
  if (!read) return Fail(read.error());
  out.push_back(*std::move(read));
  return {};
}

// A JSON object with the members that any object has.
class JsonOfObject : public base::JsonObject {
 public:
  JsonOfObject(std::string_view kind, std::string_view name, std::string_view namespace_,
               std::string& out)
      : base::JsonObject(out) {
    const auto of = std::ranges::find(kAdmissionKinds, kind, &AdmissionKind::kind);
    Add("apiVersion", of->api_version);
    Add("kind", kind);
    base::JsonObject metadata(Key("metadata"));
    metadata.Add("name", name);
    metadata.AddIfNotEmpty("namespace", namespace_);
  }
  void AddTree(std::string_view name, const ConfigValue& value) {
    if (!value.is_null()) Key(name) += value.ToJson();
  }
};

}  // namespace

std::shared_ptr<const api::Pod> WithDefaults(const api::Pod& pod, std::string_view runtime_class) {
  auto defaulted = std::make_shared<api::Pod>(pod);
  EraseNote(*defaulted);
  if (!runtime_class.empty()) {
    api::StringMap& annotations = defaulted->metadata.annotations;
    annotations.emplace_back(kNote, runtime_class);
    std::ranges::sort(annotations, {}, &api::StringMap::value_type::first);
  }
  api::PodSpec& spec = defaulted->spec;
  SetMissingRequests(spec.containers);
  SetMissingRequests(spec.init_containers);
  if (spec.host_network) {
    SetHostPorts(spec.containers);
    SetHostPorts(spec.init_containers);
  }
  return defaulted;
}

std::string_view NotedRuntimeClass(const api::Pod& pod) {
  const std::string* note = api::Find(pod.metadata.annotations, kNote);
  return note == nullptr ? std::string_view() : *note;
}

void AdmissionObjects::Append(const AdmissionObjects& later) {
  const auto append = [](const auto& more, auto& to) {
    to.insert(to.end(), more.begin(), more.end());
  };
  append(later.priority_classes, priority_classes);
  append(later.limit_ranges, limit_ranges);
  append(later.runtime_classes, runtime_classes);
}

bool IsOfAdmission(const api::TypeMeta& type) {
  return std::ranges::any_of(kAdmissionKinds, [&type](const AdmissionKind& known) {
    return known.api_version == type.api_version && known.kind == type.kind;
  });
}

Result<void> ReadAdmissionObject(const ConfigValue& value, std::string_view kind,
                                 std::string_view path, AdmissionObjects& out) {
  const std::string prefix = path.empty() ? "" : std::string(path) + ".";
  if (StringAt(value, {"metadata", "name"}).empty()) {
    const ConfigValue* name = FindAt(value, {"metadata", "name"});
    if (name == nullptr || name->is_null() || name->string() != nullptr)
      return Fail(RequiredField(prefix + "metadata.name", ""));
    return Fail(prefix + "metadata.name: expected a string, got " + std::string(name->TypeName()));
  }
  if (kind == "LimitRange") return AppendRead(ReadLimitRange(value, prefix), out.limit_ranges);
  if (kind == "RuntimeClass")
    return AppendRead(ReadRuntimeClass(value, prefix), out.runtime_classes);
  return AppendRead(ReadPriorityClass(value, path), out.priority_classes);
}

void AppendJson(const AdmissionObjects& objects, std::string_view& separator, std::string& out) {
  const auto begin = [&](std::string_view kind, std::string_view name,
                         std::string_view namespace_ = "") {
    out += std::exchange(separator, ",\n");
    return JsonOfObject(kind, name, namespace_, out);
  };
  for (const PriorityClass& one : objects.priority_classes) {
    JsonOfObject object = begin("PriorityClass", one.name);
    if (one.global_default) object.Add("globalDefault", true);
    if (one.preemption_policy) object.Add("preemptionPolicy", *one.preemption_policy);
    object.Add("value", one.value);
    object.Close();
  }
  for (const LimitRange& one : objects.limit_ranges) {
    JsonOfObject object = begin("LimitRange", one.name, one.namespace_);
    object.AddTree("spec", one.spec);
    object.Close();
  }
  for (const RuntimeClass& one : objects.runtime_classes) {
    JsonOfObject object = begin("RuntimeClass", one.name);
    object.AddTree("overhead", one.stated_overhead);
    object.AddTree("scheduling", one.stated_scheduling);
    object.Close();
  }
}

Admission::Admission() {
  for (const auto& [name, value] : {std::pair("system-cluster-critical", 2'000'000'000),
                                    std::pair(kNodeCritical, 2'000'001'000)}) {
    stated_[name] = {name, value, std::nullopt, false};
  }
}

void Admission::Add(const AdmissionObjects& stated) {
  for (const PriorityClass& one : stated.priority_classes) stated_[one.name] = one;
  const auto is_own = [](const PriorityClass& one) { return one.name == kNodeCritical; };
  has_all_classes_ = has_all_classes_ || std::ranges::any_of(stated.priority_classes, is_own);
  default_ = nullptr;
  // Of several defaults the API server takes the lowest.
  for (const auto& [name, one] : stated_) {
    if (one.global_default && (default_ == nullptr || one.value < default_->value)) default_ = &one;
  }
  for (const LimitRange& one : stated.limit_ranges) limit_ranges_[one.namespace_][one.name] = one;
  for (const RuntimeClass& one : stated.runtime_classes) runtime_classes_[one.name] = one;
}

void Admission::See(const api::Pod& pod) {
  const api::PodSpec& spec = pod.spec;
  if (spec.priority_class_name.empty() || !spec.priority) return;
  seen_[spec.priority_class_name] = {spec.priority_class_name, *spec.priority,
                                     spec.preemption_policy, false};
}

bool Admission::NeedsPods(const api::Pod& pod) const {
  const std::string& name = pod.spec.priority_class_name;
  return !pod.spec.priority && !name.empty() && !stated_.contains(name) && !seen_.contains(name);
}

std::shared_ptr<const api::Pod> Admission::Admit(const api::Pod& pod,
                                                 std::vector<Refusal>& refusals) const {
  auto admitted = std::make_shared<api::Pod>(pod);
  // In the order of the API server.
  SetLimitsAndRequests(*admitted);
  SetPriority(admitted->spec, refusals);
  SetToleration("node.kubernetes.io/not-ready", admitted->spec.tolerations);
  SetToleration("node.kubernetes.io/unreachable", admitted->spec.tolerations);
  SetRuntimeClass(NotedRuntimeClass(pod), admitted->spec, refusals);
  EraseNote(*admitted);
  SetMissingPodRequests(*admitted);
  CheckBounds(*admitted, refusals);
  return admitted;
}

void Admission::SetLimitsAndRequests(api::Pod& pod) const {
  const auto of_namespace = limit_ranges_.find(pod.metadata.namespace_);
  if (of_namespace == limit_ranges_.end()) return;
  for (const auto& [name, range] : of_namespace->second) {
    for (auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
      for (api::Container& container : *containers) {
        SetMissing(range.limits, container.resources.limits);
        SetMissing(range.requests, container.resources.requests);
      }
    }
  }
}

void Admission::CheckBounds(const api::Pod& pod, std::vector<Refusal>& refusals) const {
  const auto of_namespace = limit_ranges_.find(pod.metadata.namespace_);
  if (of_namespace == limit_ranges_.end()) return;
  for (const auto& [name, range] : of_namespace->second) {
    std::vector<std::string> problems;
    for (const Bounds& bounds : range.bounds) {
      if (bounds.type == kPod) {
        AppendProblems(AskedByPod(pod), bounds, problems);
        continue;
      }
      for (const auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
        for (const api::Container& container : *containers) {
          AppendProblems({container.resources.requests, container.resources.limits}, bounds,
                         problems);
        }
      }
    }
    if (const auto error = AggregateProblems(problems)) {
      refusals.push_back(
          {error->Within("LimitRange " + Quoted(name)).message, "it is scheduled all the same"});
    }
  }
}

void Admission::CheckPriority(const api::PodSpec& spec, std::vector<Refusal>& refusals) const {
  const std::string& name = spec.priority_class_name;
  const PriorityClass* meant = name.empty() ? default_ : nullptr;
  if (const auto found = stated_.find(name); found != stated_.end()) meant = &found->second;
  // Where some may be missing, one of them may be the default.
  const PriorityClass none{"", 0, std::nullopt, false};
  if (meant == nullptr && name.empty() && has_all_classes_) meant = &none;
  if (meant == nullptr) return;
  const auto refuse = [&](std::string_view what, const std::string& own, const std::string& other) {
    refusals.push_back({base::Concat(what, " (", own,
                                     ") must not be provided in pod spec; priority admission "
                                     "controller computed ",
                                     other, " from the given PriorityClass name"),
                        "the pod's own counts"});
  };
  if (spec.priority && *spec.priority != meant->value) {
    refuse("the integer value of priority", std::to_string(*spec.priority),
           std::to_string(meant->value));
  }
  const std::string policy = meant->preemption_policy.value_or("PreemptLowerPriority");
  if (spec.preemption_policy && *spec.preemption_policy != policy)
    refuse("the string value of PreemptionPolicy", *spec.preemption_policy, policy);
}

void Admission::SetPriority(api::PodSpec& spec, std::vector<Refusal>& refusals) const {
  CheckPriority(spec, refusals);
  const std::string& name = spec.priority_class_name;
  if (spec.priority || (name.empty() && default_ == nullptr)) return;
  const PriorityClass* meant = name.empty() ? default_ : nullptr;
  for (const auto* classes : {&stated_, &seen_}) {
    if (meant != nullptr) break;
    if (const auto found = classes->find(name); found != classes->end()) meant = &found->second;
  }
  if (meant == nullptr) {
    refusals.push_back({"spec.priorityClassName: Not found: " + Quoted(name) +
                            ": no pod of the cluster tells what it means; state spec.priority",
                        "it counts as 0"});
    return;
  }
  spec.priority = meant->value;
  if (name.empty()) spec.priority_class_name = meant->name;
  if (!spec.preemption_policy) spec.preemption_policy = meant->preemption_policy;
}

void Admission::SetRuntimeClass(std::string_view name, api::PodSpec& spec,
                                std::vector<Refusal>& refusals) const {
  const auto found = runtime_classes_.find(name);
  if (found == runtime_classes_.end()) return;
  const RuntimeClass& meant = found->second;
  const std::string which = "RuntimeClass " + Quoted(meant.name);
  if (spec.overhead.empty()) {
    spec.overhead = meant.overhead;
  } else if (spec.overhead != meant.overhead) {
    refusals.push_back(
        {ForbiddenField("spec.overhead", which + " has another"), "the pod's own counts"});
  }
  for (const auto& label : meant.node_selector) {
    const std::string* own = api::Find(spec.node_selector, label.first);
    if (own == nullptr) {
      spec.node_selector.push_back(label);
      std::ranges::sort(spec.node_selector, {}, &api::StringMap::value_type::first);
    } else if (*own != label.second) {
      refusals.push_back({InvalidField("spec.nodeSelector", Quoted(label.first + "=" + *own),
                                       which + " has " + Quoted(label.first + "=" + label.second)),
                          "the pod's own counts"});
    }
  }
  // A class with nothing about scheduling leaves the pod's tolerations as they are.
  if (!meant.stated_scheduling.is_null())
    spec.tolerations = Merged(std::move(spec.tolerations), meant.tolerations);
}

}  // namespace berth::simulator
