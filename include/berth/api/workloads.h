// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

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

}  // namespace berth::api
