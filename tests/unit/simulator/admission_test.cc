// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/admission.h"

#include <gmock/gmock.h>

#include "src/documents/parse.h"
#include "tests/support/builders.h"

namespace berth::simulator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(WithDefaultsTest, RequestsThatAreMissingAreTheLimits) {
  api::Pod pod = test::MakePod().Req({{"memory", "1Gi"}});
  pod.spec.containers[0].resources.limits = test::MakeResources({{"cpu", "2"}, {"memory", "4Gi"}});
  const auto defaulted = WithDefaults(pod);
  EXPECT_EQ(defaulted->spec.containers[0].resources.requests,
            test::MakeResources({{"cpu", "2"}, {"memory", "1Gi"}}));
  EXPECT_EQ(*WithDefaults(*defaulted), *defaulted);
}

class AdmissionTest : public testing::Test {
 protected:
  // Adds what the document states. Returns why it cannot be read.
  std::string State(std::string_view yaml) {
    const auto value = documents::ParseYaml(yaml, "");
    AdmissionObjects objects;
    const auto read =
        ReadAdmissionObject(value->at(0), *value->at(0).Find("kind")->string(), "file", objects);
    admission_.Add(objects);
    return read ? "" : read.error().message;
  }
  api::PodSpec Admit(const api::Pod& pod, std::string_view runtime_class = "") {
    std::vector<Admission::Refusal> refusals;
    const auto admitted = admission_.Admit(*WithDefaults(pod, runtime_class), refusals);
    EXPECT_EQ(admitted->metadata, pod.metadata);
    api::PodSpec spec = admitted->spec;
    refusals_.clear();
    for (const Admission::Refusal& refusal : refusals)
      refusals_.push_back(refusal.why + "; " + refusal.otherwise);
    return spec;
  }

  Admission admission_;
  std::vector<std::string> refusals_;
};

constexpr const char* kLimitRange = R"(
kind: LimitRange
metadata: {name: limits, namespace: default}
spec:
  limits:
  - {type: Pod, max: {cpu: 9}}
  - type: Container
    default: {cpu: 500m}
    defaultRequest: {memory: 64Mi}
    max: {cpu: 2, example.com/gpu: 4}
    min: {cpu: 1m, ephemeral-storage: 1Gi}
)";

TEST_F(AdmissionTest, AContainerGetsWhatTheLimitRangesOfItsNamespaceSay) {
  EXPECT_EQ(State(kLimitRange), "");
  api::Pod pod = test::MakePod();
  pod.spec.containers.resize(2);
  pod.spec.containers[1].resources.requests = test::MakeResources({{"cpu", "1"}});
  pod.spec.init_containers.resize(1);
  const api::PodSpec spec = Admit(pod);
  const auto limits = test::MakeResources({{"cpu", "500m"}, {"example.com/gpu", "4"}});
  const auto requests = test::MakeResources({{"cpu", "500m"},
                                             {"ephemeral-storage", "1Gi"},
                                             {"example.com/gpu", "4"},
                                             {"memory", "64Mi"}});
  EXPECT_EQ(spec.containers[0].resources.limits, limits);
  EXPECT_EQ(spec.containers[0].resources.requests, requests);
  EXPECT_EQ(*api::Find(spec.containers[1].resources.requests, "cpu"), api::Quantity::FromUnits(1));
  EXPECT_EQ(spec.init_containers[0].resources.requests, requests);
  pod.metadata.namespace_ = "other";
  EXPECT_THAT(Admit(pod).containers[0].resources.requests, IsEmpty());
}

TEST_F(AdmissionTest, WhatIsOutOfTheBoundsOfALimitRangeIsRefused) {
  EXPECT_EQ(State(R"(
kind: LimitRange
metadata: {name: l, namespace: default}
spec:
  limits:
  - {type: Container, min: {memory: 64Mi}, max: {cpu: 2}, maxLimitRequestRatio: {cpu: 1.5}}
  - {type: Pod, max: {cpu: 3}}
  - {type: PersistentVolumeClaim, max: {storage: 1}}
)"),
            "");
  const auto refusals = [this](const char* request, const char* limit, const char* memory,
                               bool twice = false) {
    api::Pod pod = test::MakePod().Req({{"cpu", request}, {"memory", memory}});
    pod.spec.containers[0].resources.limits = test::MakeResources({{"cpu", limit}});
    if (twice) pod.spec.containers.push_back(pod.spec.containers[0]);
    Admit(pod);
    return testing::PrintToString(refusals_);
  };
  EXPECT_EQ(refusals("1", "1500m", "64Mi"), "{}");
  const auto told = [](const std::string& why) {
    return R"({ "LimitRange \"l\": )" + why + R"(; it is scheduled all the same" })";
  };
  EXPECT_EQ(refusals("1", "1500m", "32Mi"),
            told("minimum memory usage per Container is 64Mi, but request is 32Mi"));
  EXPECT_EQ(refusals("7", "9", "64Mi"),
            told("[maximum cpu usage per Container is 2, but limit is 9, maximum cpu usage per Pod "
                 "is 3, but limit is 9]"));
  EXPECT_EQ(refusals("1", "1600m", "64Mi"),
            told("cpu max limit to request ratio per Container is 1500m, but provided ratio is "
                 "1.600000"));
  EXPECT_EQ(refusals("2", "2", "64Mi", true),
            told("maximum cpu usage per Pod is 3, but limit is 4"));
  EXPECT_EQ(refusals("0", "1", "64Mi"),
            told("cpu max limit to request ratio per Container is 1500m, but no request is "
                 "specified or request is 0"));
}

// The first one by name sets what it states, and of one's own limits the last.
TEST_F(AdmissionTest, LimitRangesOfOneNamespaceAddToEachOther) {
  State(
      "{kind: LimitRange, metadata: {name: b}, spec: {limits: [{type: Container, "
      "defaultRequest: {cpu: 3, memory: 1Gi}}]}}");
  State(
      "{kind: LimitRange, metadata: {name: a}, spec: {limits: [{type: Container, "
      "defaultRequest: {cpu: 1}}, {type: Container, defaultRequest: {cpu: 2}}]}}");
  EXPECT_EQ(Admit(test::MakePod().Req({})).containers[0].resources.requests,
            test::MakeResources({{"cpu", "2"}, {"memory", "1Gi"}}));
}

TEST_F(AdmissionTest, APodGetsOverheadSelectorAndTolerationsOfItsRuntimeClass) {
  EXPECT_EQ(State(R"(
kind: RuntimeClass
metadata: {name: kata}
handler: kata
overhead: {podFixed: {cpu: 250m, memory: 120Mi}}
scheduling:
  nodeSelector: {sandbox: kata}
  tolerations:
  - {key: sandbox, operator: Exists, effect: NoSchedule}
  - {key: node.kubernetes.io/not-ready, operator: Exists}
)"),
            "");
  api::Pod pod = test::MakePod();
  pod.spec.node_selector = {{"zone", "a"}};
  pod.spec.tolerations = {{"sandbox", "Equal", "kata", "NoSchedule", {}}};
  EXPECT_EQ(Admit(pod).overhead, api::ResourceList());
  const api::PodSpec spec = Admit(pod, "kata");
  EXPECT_EQ(spec.overhead, test::MakeResources({{"cpu", "250m"}, {"memory", "120Mi"}}));
  EXPECT_THAT(spec.node_selector, ElementsAre(Pair("sandbox", "kata"), Pair("zone", "a")));
  std::vector<std::string> keys;
  for (const api::Toleration& one : spec.tolerations) keys.push_back(one.key + one.effect);
  // Of two of which one covers the other that one.
  EXPECT_THAT(keys, ElementsAre("node.kubernetes.io/unreachableNoExecute", "sandboxNoSchedule",
                                "node.kubernetes.io/not-ready"));
  EXPECT_THAT(refusals_, IsEmpty());
  // It is stored so, and a class that is not known leaves a pod as it is.
  api::Pod stored = pod;
  stored.spec = spec;
  EXPECT_EQ(Admit(stored, "kata"), spec);
  EXPECT_EQ(Admit(pod, "gvisor").node_selector, pod.spec.node_selector);
}

TEST_F(AdmissionTest, WhatAPodHasAgainstItsRuntimeClassIsRefused) {
  State(
      "{kind: RuntimeClass, metadata: {name: kata}, overhead: {podFixed: {cpu: 1}}, "
      "scheduling: {nodeSelector: {zone: b}}}");
  api::Pod pod = test::MakePod();
  pod.spec.node_selector = {{"zone", "a"}};
  pod.spec.overhead = test::MakeResources({{"cpu", "2"}});
  EXPECT_EQ(Admit(pod, "kata").node_selector, pod.spec.node_selector);
  EXPECT_THAT(
      refusals_,
      ElementsAre(R"(spec.overhead: Forbidden: RuntimeClass "kata" has another; the pod's own )"
                  "counts",
                  R"(spec.nodeSelector: Invalid value: "zone=a": RuntimeClass "kata" has )"
                  R"("zone=b"; the pod's own counts)"));
}

TEST_F(AdmissionTest, WhatCannotBeReadIsToldWithItsPath) {
  EXPECT_EQ(State("{kind: RuntimeClass}"), "file.metadata.name: Required value");
  EXPECT_THAT(State("{kind: RuntimeClass, metadata: {name: r}, overhead: {podFixed: {cpu: x}}}"),
              testing::StartsWith("file.overhead.podFixed[\"cpu\"]: "));
  EXPECT_THAT(State("{kind: RuntimeClass, metadata: {name: r}, scheduling: {tolerations: [{key: "
                    "1}]}}"),
              testing::StartsWith("file.scheduling.tolerations[0].key: "));
  EXPECT_THAT(State("{kind: LimitRange, metadata: {name: l}, spec: {limits: [{}, {type: Container, "
                    "default: {cpu: x}}]}}"),
              testing::StartsWith("file.spec.limits[1].default[\"cpu\"]: "));
  EXPECT_EQ(State("{kind: LimitRange, metadata: {name: l}, spec: {limits: 5}}"),
            "file.spec.limits: expected a list, got a number");
  for (const char* kind : {"PriorityClass", "LimitRange", "RuntimeClass"}) {
    const std::string head = std::string("{kind: ") + kind + ", metadata: {name: ";
    EXPECT_EQ(State(head + "7}}"), "file.metadata.name: expected a string, got a number");
    EXPECT_EQ(State(head + "null}}"), "file.metadata.name: Required value");
  }
  EXPECT_THAT(State("{kind: PriorityClass, metadata: {name: p}, value: x}"),
              testing::StartsWith("file.value: "));
}

// Those of containers go before its limits, and what a LimitRange sets counts among them.
TEST_F(AdmissionTest, APodsOwnRequestsAreThoseOfItsContainersOrItsLimits) {
  api::Pod pod = test::MakePod().Req({{"memory", "1Gi"}});
  api::ResourceRequirements own;
  own.limits = test::MakeResources({{"cpu", "2"}, {"memory", "4Gi"}});
  pod.spec.resources = own;
  EXPECT_EQ(Admit(pod).resources->requests, test::MakeResources({{"cpu", "2"}, {"memory", "1Gi"}}));
  State(kLimitRange);
  EXPECT_EQ(Admit(pod).resources->requests,
            test::MakeResources({{"cpu", "500m"}, {"memory", "1Gi"}}));
}

TEST_F(AdmissionTest, TolerationsAreAddedWhereNoneIsThere) {
  api::Pod pod = test::MakePod();
  pod.spec.tolerations.push_back({"node.kubernetes.io/not-ready", "Exists", "", "NoExecute", {}});
  const api::PodSpec spec = Admit(pod);
  ASSERT_EQ(spec.tolerations.size(), 2u);
  EXPECT_EQ(spec.tolerations[1].key, "node.kubernetes.io/unreachable");
  EXPECT_EQ(spec.tolerations[1].toleration_seconds, 300);
  pod.spec.tolerations = {{"", "Exists", "", "", {}}};
  EXPECT_EQ(Admit(pod).tolerations.size(), 1u);
}

TEST_F(AdmissionTest, PriorityClassesThatAreStatedGoBeforeWhatPodsTell) {
  AdmissionObjects objects;
  objects.priority_classes = {
      {"gold", 5, "Never", false}, {"low", -1, {}, true}, {"lower", -2, {}, true}};
  admission_.Add(objects);
  api::Pod there = test::MakePod().Priority(9);
  there.spec.priority_class_name = "gold";
  admission_.See(there);
  there.spec.priority_class_name = "tin";
  EXPECT_FALSE(admission_.NeedsPods(there));
  api::Pod pod = test::MakePod();
  const auto priority = [&](const std::string& name) {
    pod.spec.priority_class_name = name;
    return Admit(pod).priority;
  };
  EXPECT_EQ(priority("tin"), std::nullopt);
  EXPECT_THAT(refusals_, ElementsAre("spec.priorityClassName: Not found: \"tin\": no pod of the "
                                     "cluster tells what it means; state spec.priority; it counts "
                                     "as 0"));
  EXPECT_TRUE(admission_.NeedsPods(pod));
  admission_.See(there);
  EXPECT_EQ(priority("tin"), 9);
  EXPECT_FALSE(admission_.NeedsPods(pod));
  EXPECT_EQ(priority("gold"), 5);
  EXPECT_EQ(priority(""), -2);
  // One that is stated again is no default any more.
  objects.priority_classes = {{"lower", -2, {}, false}};
  admission_.Add(objects);
  EXPECT_EQ(priority(""), -1);
}

TEST_F(AdmissionTest, APodWithoutThePriorityOfItsClassIsRefused) {
  AdmissionObjects objects;
  objects.priority_classes = {{"high", 1000, {}, false}, {"never", 7, "Never", true}};
  admission_.Add(objects);
  api::Pod there = test::MakePod().Priority(9);
  there.spec.priority_class_name = "tin";
  admission_.See(there);
  const auto admit = [&](const char* name, std::optional<int32_t> priority, const char* policy) {
    api::Pod pod = test::MakePod();
    pod.spec.priority_class_name = name;
    pod.spec.priority = priority;
    if (policy[0] != '\0') pod.spec.preemption_policy = policy;
    return Admit(pod).priority;
  };
  EXPECT_EQ(admit("high", 3, ""), 3);
  EXPECT_THAT(refusals_,
              ElementsAre("the integer value of priority (3) must not be provided in pod spec; "
                          "priority admission controller computed 1000 from the given "
                          "PriorityClass name; the pod's own counts"));
  admit("high", {}, "Never");
  EXPECT_THAT(
      refusals_,
      ElementsAre("the string value of PreemptionPolicy (Never) must not be provided in pod "
                  "spec; priority admission controller computed PreemptLowerPriority from "
                  "the given PriorityClass name; the pod's own counts"));
  admit("", 8, "PreemptLowerPriority");
  EXPECT_THAT(refusals_, testing::SizeIs(2)) << "the default class";
  admit("system-node-critical", 1, "");
  EXPECT_THAT(refusals_, testing::SizeIs(1));
  // The same as its class has, and a class that nothing states.
  for (const auto& [name, priority, policy] :
       {std::tuple("high", 1000, "PreemptLowerPriority"), std::tuple("never", 7, "Never"),
        std::tuple("", 7, ""), std::tuple("tin", 3, "Never")}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(admit(name, priority, policy), priority);
    EXPECT_THAT(refusals_, IsEmpty());
  }
}

TEST_F(AdmissionTest, WithoutAClassAndADefaultOneAPodHasPriorityZero) {
  const auto admit = [&](std::optional<int32_t> priority, const char* policy) {
    api::Pod pod = test::MakePod();
    pod.spec.priority = priority;
    if (policy[0] != '\0') pod.spec.preemption_policy = policy;
    return Admit(pod).priority;
  };
  EXPECT_EQ(admit(5, "Never"), 5);
  EXPECT_THAT(refusals_, IsEmpty());
  AdmissionObjects objects;
  objects.priority_classes = {{"high", 1000, {}, false}};
  admission_.Add(objects);
  EXPECT_EQ(admit(5, "Never"), 5);
  EXPECT_THAT(refusals_, IsEmpty()) << "another one may be the default";
  objects.priority_classes = {{"system-node-critical", 2'000'001'000, {}, false}};
  admission_.Add(objects);
  EXPECT_EQ(admit(5, "Never"), 5);
  EXPECT_THAT(
      refusals_,
      ElementsAre("the integer value of priority (5) must not be provided in pod spec; priority "
                  "admission controller computed 0 from the given PriorityClass name; the pod's "
                  "own counts",
                  "the string value of PreemptionPolicy (Never) must not be provided in pod spec; "
                  "priority admission controller computed PreemptLowerPriority from the given "
                  "PriorityClass name; the pod's own counts"));
  admit(0, "PreemptLowerPriority");
  EXPECT_THAT(refusals_, IsEmpty());
  admit({}, "");
  EXPECT_THAT(refusals_, IsEmpty());
}

}  // namespace
}  // namespace berth::simulator
