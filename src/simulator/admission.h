// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "berth/config_value.h"
#include "berth/result.h"
#include "src/api/kinds.h"

// What an API server makes of a pod's manifest before it stores it, as far as scheduling reads it:
// defaults, which the pod alone decides, and then what admission fills in, for which other objects
// of the cluster count.
namespace berth::simulator {

// The pod with its defaults: requests of containers for what has only a limit, and host ports of a
// pod in the host's network. The name of its RuntimeClass is noted in it, for no field has it:
// scheduling goes by what Admission makes of that.
//
// Thread safety: any thread.
std::shared_ptr<const api::Pod> WithDefaults(const api::Pod& pod,
                                             std::string_view runtime_class = "");
// "" where none is noted.
std::string_view NotedRuntimeClass(const api::Pod& pod);

struct PriorityClass {
  std::string name;
  int32_t value = 0;
  std::optional<std::string> preemption_policy;
  bool global_default = false;
};

// One of a LimitRange's limits: what a container, or a pod, may ask for at least and at most.
struct Bounds {
  std::string type;  // Container or Pod
  api::ResourceList min;
  api::ResourceList max;
  api::ResourceList max_ratio;  // of limit to request
};

struct LimitRange {
  std::string namespace_;
  std::string name;
  // What a container gets that does not state them.
  api::ResourceList limits;
  api::ResourceList requests;
  std::vector<Bounds> bounds;
  ConfigValue spec;  // as it was read
};

struct RuntimeClass {
  std::string name;
  api::ResourceList overhead;
  api::StringMap node_selector;
  std::vector<api::Toleration> tolerations;
  ConfigValue stated_overhead;  // as they were read
  ConfigValue stated_scheduling;
};

// The objects that admission goes by. A scheduler watches none of them.
struct AdmissionObjects {
  std::vector<PriorityClass> priority_classes;
  std::vector<LimitRange> limit_ranges;
  std::vector<RuntimeClass> runtime_classes;

  // Of two of one name the later one counts.
  void Append(const AdmissionObjects& later);
};

// A kind of them, and where an API server lists its objects.
struct AdmissionKind {
  std::string_view api_version;
  std::string_view kind;
  std::string_view path;
};
inline constexpr std::array<AdmissionKind, 3> kAdmissionKinds = {{
    {"scheduling.k8s.io/v1", "PriorityClass", "/apis/scheduling.k8s.io/v1/priorityclasses"},
    {"v1", "LimitRange", "/api/v1/limitranges"},
    {"node.k8s.io/v1", "RuntimeClass", "/apis/node.k8s.io/v1/runtimeclasses"},
}};
bool IsOfAdmission(const api::TypeMeta& type);

// Appends the object, which is of one of these kinds. Errors: with the field's path, which begins
// with `path`.
Result<void> ReadAdmissionObject(const ConfigValue& value, std::string_view kind,
                                 std::string_view path, AdmissionObjects& out);

// Appends them as JSON, each behind the separator, which is ",\n" from then on.
void AppendJson(const AdmissionObjects& objects, std::string_view& separator, std::string& out);

// What the admission plugins LimitRanger, Priority, DefaultTolerationSeconds and RuntimeClass fill
// in, and the requests of a pod as a whole, which the API server fills in after them; and the
// bounds of LimitRanges. A RuntimeClass that is not known fills nothing in.
//
// Thread safety: one owner.
class Admission {
 public:
  // Why an API server would refuse the pod, and what it counts as all the same.
  struct Refusal {
    std::string why;
    std::string otherwise;
  };

  // Knows Kubernetes' own two PriorityClasses.
  Admission();
  // Of two objects of one name the later one counts; PriorityClasses before what pods tell.
  void Add(const AdmissionObjects& stated);
  // Takes what a pod of the cluster tells of its PriorityClass: the API server wrote it there.
  void See(const api::Pod& pod);

  // Whether only pods of the cluster may tell what the pod's PriorityClass means.
  bool NeedsPods(const api::Pod& pod) const;
  // The pod, which has its defaults, as it is stored, without a note. A priority that it states is
  // left as it is; it is refused where a stated PriorityClass, which it names or which is the
  // default, has another.
  std::shared_ptr<const api::Pod> Admit(const api::Pod& pod, std::vector<Refusal>& refusals) const;

 private:
  void SetLimitsAndRequests(api::Pod& pod) const;
  void CheckBounds(const api::Pod& pod, std::vector<Refusal>& refusals) const;
  void CheckPriority(const api::PodSpec& spec, std::vector<Refusal>& refusals) const;
  void SetPriority(api::PodSpec& spec, std::vector<Refusal>& refusals) const;
  void SetRuntimeClass(std::string_view name, api::PodSpec& spec,
                       std::vector<Refusal>& refusals) const;

  template <typename T>
  using ByName = std::map<std::string, T, std::less<>>;

  ByName<PriorityClass> stated_;
  ByName<PriorityClass> seen_;
  const PriorityClass* default_ = nullptr;   // in stated_
  bool has_all_classes_ = false;             // those that an API server makes are among them
  ByName<ByName<LimitRange>> limit_ranges_;  // by namespace
  ByName<RuntimeClass> runtime_classes_;
};

}  // namespace berth::simulator
