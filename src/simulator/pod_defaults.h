// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/api/pod.h"
#include "berth/config_value.h"
#include "berth/result.h"

// What an API server makes of a manifest before it stores it, as far as scheduling reads it.
namespace berth::simulator {

// The pod of a manifest with what the API server fills in: requests of what has only a limit, of
// containers and of the pod; host ports of a pod in the host's network; the tolerations of
// not-ready and unreachable nodes that admission adds.
//
// Thread safety: any thread.
std::shared_ptr<const api::Pod> WithDefaults(const api::Pod& pod);

// scheduling.k8s.io/v1; no kind that a scheduler watches.
struct PriorityClass {
  std::string name;
  int32_t value = 0;
  std::optional<std::string> preemption_policy;
  bool global_default = false;
};

inline constexpr std::string_view kPriorityClassApiVersion = "scheduling.k8s.io/v1";
inline constexpr std::string_view kPriorityClassKind = "PriorityClass";

// Errors: with the field's path, which begins with `path`.
Result<PriorityClass> ReadPriorityClass(const ConfigValue& value, std::string_view path);

// What the names of classes mean: Kubernetes' own two, those that are stated, and what pods tell,
// for the API server writes what their classes mean into them.
//
// Thread safety: one owner.
class PriorityClasses {
 public:
  PriorityClasses();
  // Of two of one name the later one counts; before what pods tell.
  void Add(const PriorityClass& stated);
  void See(const api::Pod& pod);

  // Whether Resolve() would ask what a class means.
  bool Concerns(const api::Pod& pod) const;
  // The pod with the priority and, where it states none, the preemption policy of the class that it
  // names, or of the stated class that is the default; itself where it states its priority. Errors:
  // nothing tells what its class means.
  Result<std::shared_ptr<const api::Pod>> Resolve(std::shared_ptr<const api::Pod> pod) const;

 private:
  std::map<std::string, PriorityClass, std::less<>> stated_;
  std::map<std::string, PriorityClass, std::less<>> seen_;
  const PriorityClass* default_ = nullptr;  // in stated_
};

}  // namespace berth::simulator
