// SPDX-License-Identifier: Apache-2.0
#include "berth/pod_info.h"

#include <gtest/gtest.h>

#include <memory>

#include "berth/random.h"
#include "tests/support/builders.h"
#include "tests/support/plain_resource_names.h"

namespace berth {
namespace {

api::ResourceList RandomRequests(Random& random) {
  api::ResourceList requests;
  if (random.Below(3) > 0)
    requests.emplace_back("cpu",
                          api::Quantity::FromMilli(static_cast<int64_t>(1 + random.Below(4000))));
  // Finer than what is counted: the sum is rounded, not each container's part.
  if (random.Below(8) == 0)
    requests.emplace_back("ephemeral-storage", *api::Quantity::Parse("1500m"));
  if (random.Below(8) == 0) requests.emplace_back("example.com/gpu", api::Quantity::FromUnits(1));
  if (random.Below(3) > 0) {
    requests.emplace_back("memory", api::Quantity::FromNanos(api::Quantity::Nanos{random.Next()}
                                                             << random.Below(32)));
  }
  return requests;
}

std::shared_ptr<const api::Pod> RandomPod(Random& random) {
  auto pod = std::make_shared<api::Pod>(test::MakePod());
  for (uint64_t i = random.Below(4); i > 0; --i) {
    pod->spec.containers.emplace_back().resources.requests = RandomRequests(random);
  }
  if (random.Below(8) == 0) {
    api::Container& container = pod->spec.init_containers.emplace_back();
    container.resources.requests = RandomRequests(random);
    if (random.Below(2) == 0) container.restart_policy = "Always";
  }
  if (random.Below(8) == 0) pod->spec.overhead = RandomRequests(random);
  if (random.Below(8) == 0) {
    api::ContainerStatus& status = pod->status.container_statuses.emplace_back();
    status.allocated_resources = RandomRequests(random);
  }
  return pod;
}

int64_t Amount(const api::ResourceList& list, std::string_view name, bool milli) {
  const api::Quantity* amount = api::Find(list, name);
  if (amount == nullptr) return 0;
  return milli ? amount->MilliValue() : amount->Value();
}

// Most pods are added up by a short road, the others by lists of resources.
TEST(PodInfoTest, WhatAPodAsksForIsWhatItsListsSay) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const auto pod = RandomPod(random);
    test::PlainResourceNames names;
    const auto info = PodInfo::Make(pod, names);
    const auto taken = PodRequests(*pod, {.use_status = true});
    const auto defaulted = PodRequests(*pod, {.use_status = true, .non_missing = true});
    ASSERT_EQ(info->requests, ToResources(PodRequests(*pod, {}), names));
    ASSERT_EQ(info->placed, ToResources(taken, names));
    ASSERT_EQ(info->non_zero_milli_cpu, Amount(defaulted, "cpu", true));
    ASSERT_EQ(info->non_zero_memory, Amount(defaulted, "memory", false));
  }
}

}  // namespace
}  // namespace berth
