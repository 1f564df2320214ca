// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/api/pod.h"
#include "berth/pod_affinity.h"
#include "berth/resources.h"
#include "berth/time.h"

namespace berth {

// A host port a pod occupies. "" became 0.0.0.0 and TCP.
struct HostPort {
  std::string ip;
  std::string protocol;
  int32_t port = 0;

  // Same protocol and port, and the same address or either of them 0.0.0.0.
  bool ConflictsWith(const HostPort& other) const;
  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// The host ports of containers and restartable init containers.
std::vector<HostPort> HostPorts(const api::Pod& pod);

// Pods with the same class are alike to every plugin; interned by the cache.
using PodClassId = uint32_t;
inline constexpr PodClassId kNoPodClass = UINT32_MAX;

// The feature gates that say how requests are read.
struct PodInfoOptions {
  bool pod_level = true;          // PodLevelResources
  bool pod_level_status = true;   // InPlacePodLevelResourcesVerticalScaling
  bool claim_status = true;       // DRANodeAllocatableResources
  bool deferred_resizes = false;  // InPlacePodVerticalScalingSchedulerPreemption
};

// A pod with what the scheduler derives from it once. Immutable after Make.
struct PodInfo {
  std::shared_ptr<const api::Pod> pod;
  // What the incoming pod asks for: spec only, pod-level resources and overhead included.
  Resources requests;
  // What it takes once placed: also what the kubelet allocated or actuated.
  Resources placed;
  // `placed`, with the defaults for containers that request no cpu or memory. For scoring.
  int64_t non_zero_milli_cpu = 0;
  int64_t non_zero_memory = 0;
  std::vector<HostPort> host_ports;
  // nullptr when the pod has neither pod affinity nor pod anti-affinity.
  std::shared_ptr<const PodAffinityTerms> affinity;
  // Of the spec and the status, kept at hand: preemption compares those of many pods.
  int32_t pod_priority = 0;
  std::optional<Time> start_time;
  // It runs on its node, and is in the queue because the kubelet has put off its resize there.
  bool resize_deferred = false;
  PodClassId pod_class = kNoPodClass;
  // Which signature parts and selectors were live when pod_class was assigned; 0: never assigned.
  uint32_t class_epoch = 0;

  int32_t priority() const { return pod_priority; }

  static std::shared_ptr<PodInfo> Make(std::shared_ptr<const api::Pod> pod, ResourceNames& names,
                                       const PodInfoOptions& options = {});
};

using PodInfoPtr = std::shared_ptr<const PodInfo>;

}  // namespace berth
