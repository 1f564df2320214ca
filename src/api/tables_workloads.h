// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/workloads.h"
#include "src/api/field_table.h"
#include "src/api/tables_meta.h"

// Field tables of the objects that select pods. Numbers are those of generated.proto in
// k8s.io/api/core/v1 and k8s.io/api/apps/v1.
namespace berth::api {

template <>
struct FieldsOf<ServiceSpec> {
  static constexpr auto kFields = Table(Field<2, &ServiceSpec::selector>("selector"));
};

template <>
struct FieldsOf<Service> {
  static constexpr auto kFields =
      Table(Field<1, &Service::metadata>("metadata"), Field<2, &Service::spec>("spec"));
};

template <>
struct FieldsOf<ReplicationControllerSpec> {
  static constexpr auto kFields = Table(Field<2, &ReplicationControllerSpec::selector>("selector"));
};

template <>
struct FieldsOf<ReplicationController> {
  static constexpr auto kFields = Table(Field<1, &ReplicationController::metadata>("metadata"),
                                        Field<2, &ReplicationController::spec>("spec"));
};

template <>
struct FieldsOf<ReplicaSetSpec> {
  static constexpr auto kFields = Table(Field<2, &ReplicaSetSpec::selector>("selector"));
};

template <>
struct FieldsOf<ReplicaSet> {
  static constexpr auto kFields =
      Table(Field<1, &ReplicaSet::metadata>("metadata"), Field<2, &ReplicaSet::spec>("spec"));
};

template <>
struct FieldsOf<StatefulSetSpec> {
  static constexpr auto kFields = Table(Field<2, &StatefulSetSpec::selector>("selector"));
};

template <>
struct FieldsOf<StatefulSet> {
  static constexpr auto kFields =
      Table(Field<1, &StatefulSet::metadata>("metadata"), Field<2, &StatefulSet::spec>("spec"));
};

}  // namespace berth::api
