// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugins/dynamic_resources/dynamic_resources.h"
#include "tests/support/device_builders.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::test {

// DynamicResources in a cluster of nodes "n1" and "n2", with class "gpus" of all devices.
class DynamicResourcesFixture : public PluginFixture {
 protected:
  DynamicResourcesFixture() {
    handle.plain_listers.Set(MakeDeviceClass("gpus"));
    SetNodes({MakeNode("n1"), MakeNode("n2")});
  }

  void SetNodes(const std::vector<api::Node>& nodes) {
    snapshot_.emplace(Cluster(nodes));
    handle.current_snapshot = &*snapshot_;
  }
  // Pods may ask for the devices as "example.com/gpu".
  void MapExtendedResource() {
    handle.plain_listers.Set(MakeDeviceClass("gpus", "example.com/gpu"));
  }
  // A pod with these claims, each under its own name.
  static api::Pod PodWith(const std::vector<std::string>& claims, const std::string& name = "p") {
    api::Pod pod = MakePod().Name(name).Uid(name + "-uid");
    for (const std::string& claim : claims) {
      auto& entry = pod.spec.resource_claims.emplace_back();
      entry.name = claim;
      entry.resource_claim_name = claim;
    }
    return pod;
  }
  // Pod "p", which asks for so many.
  static api::Pod PodWithExtended(const std::string& gpus) {
    return MakePod().Name("p").Uid("p-uid").Req({{"example.com/gpu", gpus}});
  }

  std::unique_ptr<plugins::DynamicResources> plugin_ =
      std::make_unique<plugins::DynamicResources>(plugins::DynamicResourcesArgs(), handle);
  std::optional<PlainSnapshot> snapshot_;
};

}  // namespace berth::test
