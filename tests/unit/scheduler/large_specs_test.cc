// SPDX-License-Identifier: Apache-2.0
// The largest specs that an API server admits: each is decided, or is an error of its own, and the
// next pod is bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/scheduler/scheduler_fixture.h"

namespace berth::scheduler {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class LargeSpecsTest : public test::SchedulerFixture {
 protected:
  void AddNodes(size_t nodes) {
    for (size_t i = 0; i < nodes; ++i) {
      const std::string name = "n" + std::to_string(i);
      AddNode(test::MakeNode(name)
                  .Label("kubernetes.io/hostname", name)
                  .Label("topology.kubernetes.io/zone", "z" + std::to_string(i % 3))
                  .Allocatable({{"cpu", "8"}, {"pods", "500"}}));
    }
  }
  static api::Pod WithTerms(size_t terms, const std::function<api::PodAffinityTerm(size_t)>& make) {
    api::Pod pod = test::MakePod().Name("large").Uid("large").Label("app", "large");
    auto& list = pod.spec.affinity.emplace()
                     .pod_anti_affinity.emplace()
                     .required_during_scheduling_ignored_during_execution;
    for (size_t i = 0; i < terms; ++i) list.push_back(make(i));
    return pod;
  }
  void ExpectThatOthersGoOn() {
    AddPod(test::MakePod().Name("plain").Uid("plain"));
    Turn();
    EXPECT_THAT(Bindings(), Contains(HasSubstr("default/plain -> ")));
  }
};

TEST_F(LargeSpecsTest, SixtyThousandTermsWithATopologyKeyEach) {
  Synced();
  AddNodes(500);
  AddPod(std::make_shared<const api::Pod>(WithTerms(60'000, [](size_t i) {
    api::PodAffinityTerm term;
    term.topology_key = "k" + std::to_string(i);
    term.label_selector.emplace();
    return term;
  })));
  Turn();
  EXPECT_THAT(Bindings(), Contains(HasSubstr("default/large -> ")));
  ExpectThatOthersGoOn();
}

TEST_F(LargeSpecsTest, TermsWithASelectorEachAmongManySetsOfLabels) {
  Synced();
  AddNodes(200);
  for (size_t i = 0; i < 1'000; ++i) {
    const std::string number = std::to_string(i);
    AddPod(test::MakePod()
               .Name("p" + number)
               .Uid("p" + number)
               .Label("set", number)
               .OnNode("n" + std::to_string(i % 200)));
  }
  AddPod(std::make_shared<const api::Pod>(WithTerms(4'000, [](size_t i) {
    api::PodAffinityTerm term;
    term.topology_key = "kubernetes.io/hostname";
    term.label_selector.emplace().match_expressions = {{"set", "Exists", {}},
                                                       {"other", "In", {"x" + std::to_string(i)}}};
    return term;
  })));
  Turn();
  EXPECT_THAT(Bindings(), Contains(HasSubstr("default/large -> ")));
  ExpectThatOthersGoOn();
}

TEST_F(LargeSpecsTest, WhatTakesMoreThanACycleMayIsThatPodsError) {
  Synced();
  AddNodes(20);
  for (size_t i = 0; i < 5'000; ++i) {
    const std::string number = std::to_string(i);
    AddPod(test::MakePod()
               .Name("p" + number)
               .Uid("p" + number)
               .Label("set", number)
               .OnNode("n" + std::to_string(i % 20)));
  }
  AddPod(std::make_shared<const api::Pod>(WithTerms(50'000, [](size_t i) {
    api::PodAffinityTerm term;
    term.topology_key = "kubernetes.io/hostname";
    term.label_selector.emplace().match_expressions = {{"set", "NotIn", {"x" + std::to_string(i)}}};
    return term;
  })));
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_THAT(Events("FailedScheduling"),
              Contains(HasSubstr("takes more than a scheduling cycle may: 200000000 steps")));
  ExpectThatOthersGoOn();
}

}  // namespace
}  // namespace berth::scheduler
