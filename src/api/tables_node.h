// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/node.h"
#include "src/api/field_table.h"
#include "src/api/tables_meta.h"

// Field tables of Node. Numbers are those of k8s.io/api/core/v1/generated.proto.
namespace berth::api {

template <>
struct FieldsOf<Taint> {
  static constexpr auto kFields =
      Table(Field<1, &Taint::key>("key"), Field<2, &Taint::value>("value"),
            Field<3, &Taint::effect>("effect"));
};

template <>
struct FieldsOf<NodePodPreemptionPolicy> {
  static constexpr auto kFields = Table(
      Field<1, &NodePodPreemptionPolicy::disable_resize_preemption>("disableResizePreemption"));
};

template <>
struct FieldsOf<NodeSpec> {
  static constexpr auto kFields = Table(
      Field<4, &NodeSpec::unschedulable>("unschedulable"), Field<5, &NodeSpec::taints>("taints"),
      Field<8, &NodeSpec::pod_preemption_policy>("podPreemptionPolicy"));
};

template <>
struct FieldsOf<NodeCondition> {
  static constexpr auto kFields =
      Table(Field<1, &NodeCondition::type>("type"), Field<2, &NodeCondition::status>("status"));
};

template <>
struct FieldsOf<ContainerImage> {
  static constexpr auto kFields = Table(Field<1, &ContainerImage::names>("names"),
                                        Field<2, &ContainerImage::size_bytes>("sizeBytes"));
};

template <>
struct FieldsOf<NodeStatus> {
  static constexpr auto kFields = Table(
      Field<1, &NodeStatus::capacity>("capacity"),
      Field<2, &NodeStatus::allocatable>("allocatable"),
      Field<4, &NodeStatus::conditions>("conditions"), Field<8, &NodeStatus::images>("images"),
      Field<14, &NodeStatus::declared_features>("declaredFeatures"));
};

template <>
struct FieldsOf<Node> {
  static constexpr auto kFields =
      Table(Field<1, &Node::metadata>("metadata"), Field<2, &Node::spec>("spec"),
            Field<3, &Node::status>("status"));
};

}  // namespace berth::api
