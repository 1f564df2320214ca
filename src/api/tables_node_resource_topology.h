// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/node_resource_topology.h"
#include "src/api/field_table.h"
#include "src/api/tables_meta.h"

// Field tables of NodeResourceTopology. A custom resource comes as JSON; numbers are the places.
namespace berth::api {

template <>
struct FieldsOf<NodeTopologyAttribute> {
  static constexpr auto kFields = Table(Field<1, &NodeTopologyAttribute::name>("name"),
                                        Field<2, &NodeTopologyAttribute::value>("value"));
};

template <>
struct FieldsOf<NodeTopologyResource> {
  static constexpr auto kFields = Table(Field<1, &NodeTopologyResource::name>("name"),
                                        Field<2, &NodeTopologyResource::available>("available"));
};

template <>
struct FieldsOf<NodeTopologyCost> {
  static constexpr auto kFields =
      Table(Field<1, &NodeTopologyCost::name>("name"), Field<2, &NodeTopologyCost::value>("value"));
};

template <>
struct FieldsOf<NodeTopologyZone> {
  static constexpr auto kFields =
      Table(Field<1, &NodeTopologyZone::name>("name"), Field<2, &NodeTopologyZone::type>("type"),
            Field<3, &NodeTopologyZone::costs>("costs"),
            Field<4, &NodeTopologyZone::resources>("resources"));
};

template <>
struct FieldsOf<NodeResourceTopology> {
  static constexpr auto kFields =
      Table(Field<1, &NodeResourceTopology::metadata>("metadata"),
            Field<2, &NodeResourceTopology::topology_policies>("topologyPolicies"),
            Field<3, &NodeResourceTopology::zones>("zones"),
            Field<4, &NodeResourceTopology::attributes>("attributes"));
};

}  // namespace berth::api
