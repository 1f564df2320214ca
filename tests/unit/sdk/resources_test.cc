// SPDX-License-Identifier: Apache-2.0
#include "berth/resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/pod_info.h"
#include "tests/support/builders.h"
#include "tests/support/plain_resource_names.h"

namespace berth {
namespace {

using test::MakeContainer;
using test::MakePod;
using test::MakeResources;
using test::PlainResourceNames;
using test::ResourceText;

api::ContainerStatus StatusOf(std::string_view container, ResourceText allocated,
                              ResourceText actuated) {
  api::ContainerStatus status;
  status.name = container;
  status.allocated_resources = MakeResources(allocated);
  if (actuated.size() > 0) status.resources.emplace().requests = MakeResources(actuated);
  return status;
}

TEST(PodRequestsTest, AddsUpContainersInitStepsPodLevelAndOverhead) {
  const struct {
    const char* name;
    api::Pod pod;
    api::ResourceList want;
  } cases[] = {
      {"no container", MakePod(), {}},
      {"containers are summed",
       MakePod().Req({{"cpu", "1"}, {"memory", "1Gi"}}).Req({{"cpu", "500m"}}),
       MakeResources({{"cpu", "1500m"}, {"memory", "1Gi"}})},
      {"an explicit zero is present", MakePod().Req({{"cpu", "0"}}), MakeResources({{"cpu", "0"}})},
      {"the larger of init container and containers counts, resource by resource",
       MakePod().Req({{"cpu", "1"}, {"memory", "4Gi"}}).InitReq({{"cpu", "3"}, {"memory", "1Gi"}}),
       MakeResources({{"cpu", "3"}, {"memory", "4Gi"}})},
      {"init containers run one after another",
       MakePod().Req({{"cpu", "1"}}).InitReq({{"cpu", "2"}}).InitReq({{"cpu", "3"}}),
       MakeResources({{"cpu", "3"}})},
      {"a sidecar runs beside the containers",
       MakePod().Req({{"cpu", "1"}}).SidecarReq({{"cpu", "2"}}), MakeResources({{"cpu", "3"}})},
      {"an init container runs beside the sidecars before it",
       MakePod().Req({{"cpu", "1"}}).SidecarReq({{"cpu", "2"}}).InitReq({{"cpu", "5"}}),
       MakeResources({{"cpu", "7"}})},
      {"but not beside those after it",
       MakePod().Req({{"cpu", "1"}}).InitReq({{"cpu", "5"}}).SidecarReq({{"cpu", "2"}}),
       MakeResources({{"cpu", "5"}})},
      {"a resource that only an init container names",
       MakePod().Req({{"cpu", "1"}}).InitReq({{"nvidia.com/gpu", "1"}}),
       MakeResources({{"cpu", "1"}, {"nvidia.com/gpu", "1"}})},
      {"pod-level values replace the sum, also with less",
       MakePod().Req({{"cpu", "2"}, {"memory", "1Gi"}}).PodLevelReq({{"cpu", "1"}}),
       MakeResources({{"cpu", "1"}, {"memory", "1Gi"}})},
      {"pod-level hugepages count",
       MakePod().Req({{"cpu", "1"}}).PodLevelReq({{"hugepages-2Mi", "4Mi"}}),
       MakeResources({{"cpu", "1"}, {"hugepages-2Mi", "4Mi"}})},
      {"other pod-level resources do not",
       MakePod().Req({{"cpu", "1"}}).PodLevelReq({{"nvidia.com/gpu", "4"}}),
       MakeResources({{"cpu", "1"}})},
      {"overhead comes on top",
       MakePod().Req({{"cpu", "1"}}).PodLevelReq({{"cpu", "2"}}).Overhead({{"cpu", "100m"}}),
       MakeResources({{"cpu", "2100m"}})},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(PodRequests(c.pod, {}), c.want);
  }
}

TEST(PodRequestsTest, PodLevelValuesCountOnlyWhenAskedFor) {
  const api::Pod pod = MakePod().Req({{"cpu", "2"}}).PodLevelReq({{"cpu", "1"}});
  EXPECT_EQ(PodRequests(pod, {.pod_level = false}), MakeResources({{"cpu", "2"}}));
}

TEST(PodRequestsTest, DefaultsStandInForEachContainerOnItsOwn) {
  const PodRequestsOptions options{.non_missing = true};
  const struct {
    const char* name;
    api::Pod pod;
    api::ResourceList want;
  } cases[] = {
      {"no container, no default", MakePod(), {}},
      {"both are missing", MakePod().Req({}),
       MakeResources({{"cpu", "100m"}, {"memory", "200Mi"}})},
      {"an explicit zero stays", MakePod().Req({{"cpu", "0"}}),
       MakeResources({{"cpu", "0"}, {"memory", "200Mi"}})},
      {"one container names cpu, the other does not",
       MakePod().Req({{"cpu", "1"}, {"memory", "1Gi"}}).Req({}),
       MakeResources({{"cpu", "1100m"}, {"memory", "1224Mi"}})},
      {"init containers too", MakePod().InitReq({}),
       MakeResources({{"cpu", "100m"}, {"memory", "200Mi"}})},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(PodRequests(c.pod, options), c.want);
  }
}

TEST(PodRequestsTest, AResizeCountsWithTheLargestOfWishAllocationAndActuality) {
  const api::Pod plain = MakePod().Req({{"cpu", "2"}});
  api::Pod shrinking = plain;
  shrinking.status.container_statuses = {StatusOf("container-0", {{"cpu", "3"}}, {{"cpu", "4"}})};
  api::Pod growing = plain;
  growing.status.container_statuses = {StatusOf("container-0", {{"cpu", "1"}}, {{"cpu", "1"}})};
  api::Pod only_allocated = plain;
  only_allocated.status.container_statuses = {StatusOf("container-0", {{"cpu", "3"}}, {})};
  api::Pod infeasible =
      test::PodBuilder().Req({{"cpu", "9"}}).Condition("PodResizePending", "True", "Infeasible");
  infeasible.status.container_statuses = {StatusOf("container-0", {{"cpu", "1"}}, {{"cpu", "2"}})};
  api::Pod infeasible_unknown =
      test::PodBuilder().Req({{"cpu", "9"}}).Condition("PodResizePending", "True", "Infeasible");
  api::Pod deferred =
      test::PodBuilder().Req({{"cpu", "9"}}).Condition("PodResizePending", "True", "Deferred");
  deferred.status.container_statuses = infeasible.status.container_statuses;
  api::Pod other_container = plain;
  other_container.status.container_statuses = {StatusOf("else", {{"cpu", "8"}}, {{"cpu", "8"}})};
  api::Pod sidecar = test::PodBuilder().Req({{"cpu", "1"}}).SidecarReq({{"cpu", "1"}});
  sidecar.status.init_container_statuses = {StatusOf("init-0", {{"cpu", "4"}}, {})};

  const struct {
    const char* name;
    api::Pod pod;
    const char* want;
  } cases[] = {
      {"no status", plain, "2"},
      {"shrinking: what is in force still counts", shrinking, "4"},
      {"growing: the wish counts", growing, "2"},
      {"allocated, not yet in force", only_allocated, "3"},
      {"infeasible: the wish does not count", infeasible, "2"},
      {"deferred: it does", deferred, "9"},
      {"the status of another container", other_container, "2"},
      {"the status of a sidecar", sidecar, "5"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(PodRequests(c.pod, {.use_status = true}), MakeResources({{"cpu", c.want}}));
  }
  EXPECT_THAT(PodRequests(infeasible_unknown, {.use_status = true}), testing::IsEmpty());
  EXPECT_EQ(PodRequests(shrinking, {}), MakeResources({{"cpu", "2"}}));
}

TEST(PodRequestsTest, AResizeIsDeferredByTheFirstConditionOfItsTypeAndOnANode) {
  const auto with = [](std::vector<std::string> reasons, std::string_view node) {
    test::PodBuilder pod = MakePod().OnNode(node);
    for (const std::string& reason : reasons) pod.Condition("PodResizePending", "True", reason);
    return pod.Condition("Ready", "True", "Deferred").Obj();
  };
  EXPECT_TRUE(IsResizeDeferred(with({"Deferred"}, "n")));
  EXPECT_TRUE(IsResizeDeferred(with({"Deferred", "Infeasible"}, "n")));
  EXPECT_FALSE(IsResizeDeferred(with({"Infeasible", "Deferred"}, "n")));
  EXPECT_FALSE(IsResizeDeferred(with({}, "n")));
  EXPECT_FALSE(IsResizeDeferred(with({"Deferred"}, "")));
}

TEST(PodRequestsTest, ThePodLevelStatusReplacesThatOfContainers) {
  api::Pod pod = MakePod().Req({{"cpu", "1"}}).PodLevelReq({{"cpu", "2"}});
  pod.status.allocated_resources = MakeResources({{"cpu", "3"}});
  pod.status.resources.emplace().requests = MakeResources({{"cpu", "4"}});
  EXPECT_EQ(PodRequests(pod, {.use_status = true}), MakeResources({{"cpu", "4"}}));
  EXPECT_EQ(PodRequests(pod, {.use_status = true, .pod_level_status = false}),
            MakeResources({{"cpu", "2"}}));
  EXPECT_EQ(PodRequests(pod, {.use_status = true, .pod_level = false}),
            MakeResources({{"cpu", "4"}}));
  pod.status.conditions = {{"PodResizePending", "True", "Infeasible", "", 0, {}}};
  pod.status.resources->requests = MakeResources({{"cpu", "1"}});
  EXPECT_EQ(PodRequests(pod, {.use_status = true}), MakeResources({{"cpu", "3"}}));
}

TEST(ToResourcesTest, KeepsSchedulingResourcesAndRoundsUp) {
  PlainResourceNames names;
  const Resources resources = ToResources(MakeResources({{"cpu", "1500500u"},
                                                         {"memory", "1500m"},
                                                         {"ephemeral-storage", "1Gi"},
                                                         {"pods", "10"},
                                                         {"nvidia.com/gpu", "0"},
                                                         {"hugepages-2Mi", "4Mi"},
                                                         {"bare-name", "3"}}),
                                          names);
  EXPECT_EQ(resources.milli_cpu, 1501);
  EXPECT_EQ(resources.memory, 2);
  EXPECT_EQ(resources.ephemeral_storage, 1024 * 1024 * 1024);
  EXPECT_THAT(resources.scalars,
              testing::UnorderedElementsAre(testing::Pair(names.Intern("nvidia.com/gpu"), 0),
                                            testing::Pair(names.Intern("hugepages-2Mi"), 4194304)));
}

TEST(ResourcesTest, AddAndGetGoByIdAndKeepScalarsSorted) {
  Resources resources;
  for (ResourceId id : {kCpu, kMemory, kEphemeralStorage, kFirstScalar + 1, kFirstScalar}) {
    resources.Add(id, 1);
    resources.Add(id, static_cast<int64_t>(id));
    EXPECT_EQ(resources.Get(id), static_cast<int64_t>(id) + 1);
  }
  EXPECT_EQ(resources.Get(kFirstScalar + 7), 0);
  EXPECT_TRUE(std::is_sorted(resources.scalars.begin(), resources.scalars.end()));
}

TEST(ResourceNameTest, ScalarsAreExtendedHugePagesNativeOrVolumes) {
  const struct {
    const char* name;
    bool extended;
    bool scalar;
  } cases[] = {
      {"nvidia.com/gpu", true, true},
      {"cpu", false, false},
      {"memory", false, false},
      {"bare-name", false, false},
      {"hugepages-1Gi", false, true},
      {"kubernetes.io/thing", false, true},
      {"sub.kubernetes.io/thing", false, true},
      {"attachable-volumes-csi", false, true},
      {"requests.nvidia.com/gpu", false, false},
      {"a/b/c", false, false},
      {"Upper.com/gpu", false, false},
      {"nvidia.com/-gpu", false, false},
      {"nvidia.com/", false, false},
      {"/gpu", false, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(IsExtendedResourceName(c.name), c.extended);
    EXPECT_EQ(IsScalarResourceName(c.name), c.scalar);
  }
  // The prefix may be 253 long, "requests." included.
  const std::string label(63, 'a');
  std::string prefix = label + "." + label + "." + label + ".";
  prefix.append(253 - prefix.size() - std::string_view("requests.").size(), 'a');
  EXPECT_TRUE(IsExtendedResourceName(prefix + "/gpu"));
  EXPECT_FALSE(IsExtendedResourceName(prefix + "a/gpu"));
}

TEST(PodInfoTest, RequestsComeFromTheSpecAndPlacedAlsoFromTheStatus) {
  PlainResourceNames names;
  api::Pod pod = MakePod().Req({{"cpu", "2"}, {"nvidia.com/gpu", "1"}});
  pod.status.container_statuses = {StatusOf("container-0", {{"cpu", "3"}}, {})};
  const auto info = PodInfo::Make(std::make_shared<const api::Pod>(pod), names);
  EXPECT_EQ(info->requests.milli_cpu, 2000);
  EXPECT_EQ(info->placed.milli_cpu, 3000);
  EXPECT_EQ(info->placed.Get(names.Intern("nvidia.com/gpu")), 1);
  EXPECT_EQ(info->non_zero_milli_cpu, 3000);
  EXPECT_EQ(info->non_zero_memory, kDefaultMemoryRequest);
}

TEST(PodInfoTest, WithPodLevelRequestsADefaultStandsInOnlyForWhatThePodLacks) {
  PlainResourceNames names;
  const struct {
    const char* name;
    api::Pod pod;
    int64_t milli_cpu;
    int64_t memory;
  } cases[] = {
      {"none at pod level", MakePod().Req({{"cpu", "1"}}).Req({}), 1100, 2 * kDefaultMemoryRequest},
      {"cpu at pod level, memory nowhere", MakePod().Req({}).PodLevelReq({{"cpu", "1"}}), 1000,
       kDefaultMemoryRequest},
      {"cpu at pod level, memory in one of two containers",
       MakePod().Req({{"memory", "1Mi"}}).Req({}).PodLevelReq({{"cpu", "1"}}), 1000, 1024 * 1024},
      {"a limit at pod level is no request", MakePod().Req({}).PodLevelReq({{"vendor.io/x", "1"}}),
       100, kDefaultMemoryRequest},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto info = PodInfo::Make(std::make_shared<const api::Pod>(c.pod), names);
    EXPECT_EQ(info->non_zero_milli_cpu, c.milli_cpu);
    EXPECT_EQ(info->non_zero_memory, c.memory);
  }
}

TEST(HostPortTest, PortsOfContainersAndSidecarsCountWithDefaults) {
  api::Pod pod = MakePod().HostPort(80, "", "").HostPort(0).HostPort(53, "UDP", "10.0.0.1");
  api::Container init = MakeContainer({});
  init.ports = {{9, 9, "TCP", ""}};
  pod.spec.init_containers.push_back(init);
  init.restart_policy = "Always";
  init.ports = {{10, 10, "TCP", ""}};
  pod.spec.init_containers.push_back(init);
  EXPECT_THAT(HostPorts(pod), testing::UnorderedElementsAre(HostPort{"0.0.0.0", "TCP", 80},
                                                            HostPort{"10.0.0.1", "UDP", 53},
                                                            HostPort{"0.0.0.0", "TCP", 10}));
}

TEST(HostPortTest, TheWildcardAddressConflictsWithEveryOther) {
  const HostPort any{"0.0.0.0", "TCP", 80};
  const HostPort one{"10.0.0.1", "TCP", 80};
  const HostPort two{"10.0.0.2", "TCP", 80};
  const HostPort v6{"::", "TCP", 80};
  EXPECT_TRUE(any.ConflictsWith(one));
  EXPECT_TRUE(one.ConflictsWith(any));
  EXPECT_TRUE(one.ConflictsWith(one));
  EXPECT_FALSE(one.ConflictsWith(two));
  EXPECT_FALSE(v6.ConflictsWith(one));
  EXPECT_FALSE(any.ConflictsWith({"0.0.0.0", "UDP", 80}));
  EXPECT_FALSE(any.ConflictsWith({"0.0.0.0", "TCP", 81}));
}

}  // namespace
}  // namespace berth
