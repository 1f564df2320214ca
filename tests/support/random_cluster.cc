// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_cluster.h"

#include "tests/support/builders.h"
#include "tests/support/draws.h"

namespace berth::test {
namespace {

constexpr std::string_view kEffects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
constexpr std::string_view kZones[] = {"a", "b", "c"};
constexpr std::string_view kTaintKeys[] = {"gpu", "spot", "node.kubernetes.io/unschedulable"};
constexpr std::string_view kTaintValues[] = {"", "1", "2"};
constexpr std::string_view kImages[] = {"app:1", "registry/app", "db:2"};

api::NodeSelectorRequirement RandomExpression(Random& random) {
  switch (random.Below(6)) {
    case 0:
      return MakeRequirement("zone", "In", {std::string(Pick(random, kZones)), "z"});
    case 1:
      return MakeRequirement("zone", "NotIn", {std::string(Pick(random, kZones))});
    case 2:
      return MakeRequirement("ssd", "Exists");
    case 3:
      return MakeRequirement("ssd", "DoesNotExist");
    case 4:
      return MakeRequirement("cores", "Gt", {std::to_string(random.Below(9))});
    default:
      return MakeRequirement("cores", "Lt", {std::to_string(random.Below(9))});
  }
}

std::vector<api::NodeSelectorRequirement> RandomFields(Random& random, size_t num_nodes) {
  if (!OneIn(random, 4)) return {};
  const std::string name = "node-" + std::to_string(random.Below(num_nodes + 1));
  return {MakeRequirement("metadata.name", OneIn(random, 2) ? "In" : "NotIn", {name})};
}

void AddContainers(Random& random, PodBuilder& pod) {
  const size_t containers = 1 + random.Below(2);
  for (size_t i = 0; i < containers; ++i) {
    api::Container container;
    const auto request = [&](std::string_view name, const std::string& text) {
      container.resources.requests.push_back(MakeResources({{name, text}}).front());
    };
    // In the order of their names: a list is sorted.
    if (!OneIn(random, 3)) request("cpu", std::to_string(random.Below(9) * 250) + "m");
    if (OneIn(random, 4)) request("ephemeral-storage", std::to_string(random.Below(4)) + "Gi");
    if (!OneIn(random, 3)) request("memory", std::to_string(random.Below(9) * 512) + "Mi");
    if (OneIn(random, 3)) request("nvidia.com/gpu", std::to_string(random.Below(3)));
    if (OneIn(random, 4)) request("vendor.io/fpga", std::to_string(random.Below(3)));
    container.image = Pick(random, kImages);
    if (OneIn(random, 5)) {
      container.ports.push_back({static_cast<int32_t>(8080 + random.Below(3)), 80,
                                 OneIn(random, 3) ? "UDP" : "",
                                 OneIn(random, 2) ? "" : "10.0.0.1"});
    }
    pod.Container(std::move(container));
  }
  if (OneIn(random, 4)) pod.InitReq({{"cpu", "2"}});
  if (OneIn(random, 4)) pod.SidecarReq({{"memory", "1Gi"}});
  if (OneIn(random, 6)) pod.PodLevelReq({{"cpu", "3"}, {"memory", "2Gi"}});
  if (OneIn(random, 6)) pod.Overhead({{"cpu", "100m"}});
}

}  // namespace

std::vector<api::Node> RandomNodes(Random& random, size_t count) {
  std::vector<api::Node> nodes;
  for (size_t i = 0; i < count; ++i) {
    NodeBuilder node("node-" + std::to_string(i));
    if (!OneIn(random, 8)) node.Label("kubernetes.io/hostname", "node-" + std::to_string(i));
    if (!OneIn(random, 4)) node.Label("zone", Pick(random, kZones));
    if (OneIn(random, 2)) node.Label("ssd", "true");
    if (!OneIn(random, 3)) {
      node.Label("cores", OneIn(random, 5) ? "many" : std::to_string(random.Below(9)));
    }
    while (OneIn(random, 3)) {
      node.Taint(Pick(random, kTaintKeys), Pick(random, kTaintValues), Pick(random, kEffects));
    }
    node.Unschedulable(OneIn(random, 6));
    node.Allocatable({{"cpu", std::to_string(1 + random.Below(8))},
                      {"memory", std::to_string(1 + random.Below(16)) + "Gi"},
                      {"pods", std::to_string(1 + random.Below(6))}});
    if (OneIn(random, 2)) node.Allocatable({{"ephemeral-storage", "3Gi"}});
    if (OneIn(random, 2)) node.Allocatable({{"nvidia.com/gpu", "2"}});
    if (OneIn(random, 3)) node.Allocatable({{"vendor.io/fpga", "1"}});
    if (OneIn(random, 2)) node.Image({"app:1", "app@sha256:1"}, 500'000'000);
    if (OneIn(random, 3)) node.Image({"registry/app:latest"}, 40'000'000);
    if (OneIn(random, 2)) node.Image({"db:2"}, 1'700'000'000);
    nodes.push_back(node);
  }
  return nodes;
}

api::Pod RandomPod(Random& random, size_t index, size_t num_nodes) {
  PodBuilder pod;
  pod.Name("pod-" + std::to_string(index));
  pod.Priority(static_cast<int32_t>(random.Below(3)));
  AddContainers(random, pod);
  if (OneIn(random, 3)) pod.ImageVolume("app:1");
  while (OneIn(random, 2)) {
    const bool exists = OneIn(random, 2);
    pod.Tolerate(OneIn(random, 8) && exists ? "" : Pick(random, kTaintKeys),
                 exists ? "Exists" : "Equal", exists ? "" : Pick(random, kTaintValues),
                 OneIn(random, 3) ? "" : Pick(random, kEffects));
  }
  if (OneIn(random, 4)) pod.NodeSelector("zone", Pick(random, kZones));
  while (OneIn(random, 3)) {
    pod.RequireNode({RandomExpression(random), RandomExpression(random)},
                    RandomFields(random, num_nodes));
  }
  while (OneIn(random, 2)) {
    pod.PreferNode(static_cast<int32_t>(random.Below(100)), {RandomExpression(random)},
                   RandomFields(random, num_nodes));
  }
  if (OneIn(random, 8)) pod.OnNode("node-" + std::to_string(random.Below(num_nodes + 1)));
  api::Pod with_affinity = pod;
  AddRandomAffinity(random, with_affinity);
  return with_affinity;
}

std::vector<api::Pod> RandomPlacedPods(Random& random, size_t count, size_t num_nodes) {
  std::vector<api::Pod> pods;
  for (size_t i = 0; i < count; ++i) {
    api::Pod pod = RandomPod(random, 1000 + i, num_nodes);
    pod.spec.node_name = "node-" + std::to_string(random.Below(num_nodes));
    if (OneIn(random, 8)) pod.metadata.deletion_timestamp = Time();
    pods.push_back(std::move(pod));
  }
  return pods;
}

}  // namespace berth::test
