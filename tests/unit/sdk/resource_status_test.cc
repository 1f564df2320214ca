// SPDX-License-Identifier: Apache-2.0
#include "src/sdk/resource_status.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/cluster_event.h"
#include "berth/random.h"
#include "berth/resources.h"
#include "tests/support/builders.h"

namespace berth {
namespace {

api::ResourceList RandomList(Random& random) {
  const std::string amount = std::to_string(random.Below(3));
  switch (random.Below(3)) {
    case 0:
      return {};
    case 1:
      return test::MakeResources({{"cpu", amount}});
    default:
      return test::MakeResources({{"cpu", amount}, {"memory", amount}});
  }
}

// Of containers of the pod, and of one that it does not have.
std::vector<api::ContainerStatus> RandomStatuses(Random& random) {
  std::vector<api::ContainerStatus> statuses(random.Below(3));
  for (api::ContainerStatus& status : statuses) {
    status.name = "container-" + std::to_string(random.Below(3));
    if (random.Below(4) == 0) status.allocated_resources = RandomList(random);
    if (random.Below(4) == 0) status.resources.emplace().requests = RandomList(random);
  }
  return statuses;
}

void DrawStatus(Random& random, api::Pod& pod) {
  pod.status = {};
  pod.status.container_statuses = RandomStatuses(random);
  pod.status.init_container_statuses = RandomStatuses(random);
  pod.status.conditions.push_back({"Ready", "True", "", "", 0, {}});
  if (random.Below(8) == 0) pod.status.resources.emplace().requests = RandomList(random);
  if (random.Below(8) == 0) pod.status.allocated_resources = RandomList(random);
  if (random.Below(8) == 0) {
    const char* reason = random.Below(2) == 0 ? "Infeasible" : "Deferred";
    pod.status.conditions.push_back({"PodResizePending", "True", reason, "", 0, {}});
  }
}

api::Pod RandomPod(Random& random) {
  api::Pod pod = test::MakePod();
  for (uint64_t i = random.Below(3); i > 0; --i) {
    api::Container& container = pod.spec.containers.emplace_back();
    container.name = "container-" + std::to_string(i);
    container.resources.requests = RandomList(random);
  }
  if (random.Below(4) == 0) {
    api::Container& container = pod.spec.init_containers.emplace_back();
    container.name = "container-0";
    container.resources.requests = RandomList(random);
    if (random.Below(2) == 0) container.restart_policy = "Always";
  }
  if (random.Below(4) == 0) pod.spec.resources.emplace().requests = RandomList(random);
  if (random.Below(4) == 0) pod.spec.overhead = RandomList(random);
  DrawStatus(random, pod);
  return pod;
}

TEST(ResourceStatusTest, AStatusThatTellsNothingCountsForNothing) {
  Random random(1);
  int told = 0;
  for (int i = 0; i < 5000; ++i) {
    const api::Pod pod = RandomPod(random);
    if (StatusTellsResources(pod)) {
      ++told;
      continue;
    }
    for (const bool non_missing : {false, true}) {
      ASSERT_EQ(PodRequests(pod, {.use_status = true, .non_missing = non_missing}),
                PodRequests(pod, {.use_status = false, .non_missing = non_missing}));
    }
  }
  EXPECT_GT(told, 1000);
  EXPECT_LT(told, 4500);
}

bool Shrinks(const api::ResourceList& from, const api::ResourceList& to) {
  return std::ranges::any_of(from, [&](const auto& entry) {
    const api::Quantity* other = api::Find(to, entry.first);
    return other == nullptr || entry.second > *other;
  });
}

TEST(ResourceStatusTest, UpdatesTellOfTheSameResizesAsSumsDo) {
  Random random(2);
  int resized = 0;
  int not_resized = 0;
  for (int i = 0; i < 5000; ++i) {
    const api::Pod old_pod = RandomPod(random);
    api::Pod new_pod = random.Below(4) == 0 ? RandomPod(random) : old_pod;
    if (random.Below(2) == 0) DrawStatus(random, new_pod);
    const auto old_requests = PodRequests(old_pod, {.use_status = true});
    const auto new_requests = PodRequests(new_pod, {.use_status = true});
    ActionType told = 0;
    for (const ClusterEvent& event :
         PodUpdateEvents(EventResource::kAssignedPod, old_pod, new_pod)) {
      if (event.action != action::kUpdate) told |= event.action;
    }
    told &= action::kUpdatePodScaleDown | action::kUpdatePodScaleUp;
    const bool down = Shrinks(old_requests, new_requests);
    const bool up = Shrinks(new_requests, old_requests);
    ASSERT_EQ(told,
              (down ? action::kUpdatePodScaleDown : 0) | (up ? action::kUpdatePodScaleUp : 0));
    ++(down || up ? resized : not_resized);
  }
  EXPECT_GT(resized, 500);
  EXPECT_GT(not_resized, 500);
}

}  // namespace
}  // namespace berth
