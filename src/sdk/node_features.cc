// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "berth/matching.h"

namespace berth {
namespace {

bool RestartsAllContainers(const std::vector<api::Container>& containers) {
  return std::any_of(containers.begin(), containers.end(), [](const api::Container& container) {
    return std::any_of(container.restart_policy_rules.begin(), container.restart_policy_rules.end(),
                       [](const api::ContainerRestartRule& rule) {
                         return rule.action == "RestartAllContainers";
                       });
  });
}

template <typename ContainerType>
bool HasBindMountOptions(const std::vector<ContainerType>& containers) {
  return std::any_of(containers.begin(), containers.end(), [](const ContainerType& container) {
    return std::any_of(
        container.volume_mounts.begin(), container.volume_mounts.end(),
        [](const api::VolumeMount& mount) { return !mount.bind_mount_options.empty(); });
  });
}

}  // namespace

std::vector<std::string_view> RequiredNodeFeatures(const api::Pod& pod) {
  const api::PodSpec& spec = pod.spec;
  std::vector<std::string_view> features;
  if (RestartsAllContainers(spec.containers) || RestartsAllContainers(spec.init_containers)) {
    features.push_back("RestartAllContainersOnContainerExits");
  }
  if (spec.host_network && spec.host_users == false) {
    features.push_back("UserNamespacesHostNetworkSupport");
  }
  if (HasBindMountOptions(spec.containers) || HasBindMountOptions(spec.init_containers) ||
      HasBindMountOptions(spec.ephemeral_containers)) {
    features.push_back("VolumeBindMountOptions");
  }
  return features;
}

}  // namespace berth
