// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/api/meta.h"

// The objects that select the pods they own or serve.
namespace berth::api {

struct ServiceSpec {
  // Empty: the service selects no pod.
  StringMap selector;

  friend bool operator==(const ServiceSpec&, const ServiceSpec&) = default;
};

// v1.
struct Service {
  ObjectMeta metadata;
  ServiceSpec spec;

  friend bool operator==(const Service&, const Service&) = default;
};

struct ReplicationControllerSpec {
  StringMap selector;

  friend bool operator==(const ReplicationControllerSpec&,
                         const ReplicationControllerSpec&) = default;
};

// v1.
struct ReplicationController {
  ObjectMeta metadata;
  ReplicationControllerSpec spec;

  friend bool operator==(const ReplicationController&, const ReplicationController&) = default;
};

struct ReplicaSetSpec {
  // nullopt selects no pod.
  std::optional<LabelSelector> selector;

  friend bool operator==(const ReplicaSetSpec&, const ReplicaSetSpec&) = default;
};

// apps/v1.
struct ReplicaSet {
  ObjectMeta metadata;
  ReplicaSetSpec spec;

  friend bool operator==(const ReplicaSet&, const ReplicaSet&) = default;
};

struct StatefulSetSpec {
  // nullopt selects no pod.
  std::optional<LabelSelector> selector;

  friend bool operator==(const StatefulSetSpec&, const StatefulSetSpec&) = default;
};

// apps/v1.
struct StatefulSet {
  ObjectMeta metadata;
  StatefulSetSpec spec;

  friend bool operator==(const StatefulSet&, const StatefulSet&) = default;
};

struct PodDisruptionBudgetSpec {
  std::optional<IntOrString> min_available;
  // nullopt selects no pod, an empty selector every pod of the namespace.
  std::optional<LabelSelector> selector;
  std::optional<IntOrString> max_unavailable;
  // IfHealthyBudget, which nullopt means, or AlwaysAllow.
  std::optional<std::string> unhealthy_pod_eviction_policy;

  friend bool operator==(const PodDisruptionBudgetSpec&, const PodDisruptionBudgetSpec&) = default;
};

struct PodDisruptionBudgetStatus {
  // Pods whose eviction the API server has granted and that may still be there, by name.
  std::vector<std::pair<std::string, Time>> disrupted_pods;
  int32_t disruptions_allowed = 0;
  int32_t current_healthy = 0;
  int32_t desired_healthy = 0;

  friend bool operator==(const PodDisruptionBudgetStatus&,
                         const PodDisruptionBudgetStatus&) = default;
};

// policy/v1.
struct PodDisruptionBudget {
  ObjectMeta metadata;
  PodDisruptionBudgetSpec spec;
  PodDisruptionBudgetStatus status;

  friend bool operator==(const PodDisruptionBudget&, const PodDisruptionBudget&) = default;
};

}  // namespace berth::api
