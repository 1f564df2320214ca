// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "src/explain/verdict_table.h"

// What `berth explain` says of the group of a pod.
namespace berth::explain {
namespace {

engine::PodGroupPreview Gang() {
  engine::PodGroupPreview group;
  group.pod_group = "default/train";
  group.exists = true;
  group.min_count = 3;
  group.existing = 4;
  group.placed = 1;
  group.waiting = {{"default/train-0", "n1", ""}, {"default/train-1", "", "Insufficient cpu"}};
  group.fitting = 1;
  return group;
}

std::string Table(const engine::PodGroupPreview& group, size_t most_pods = 10) {
  std::string out;
  AppendPodGroupTable(group, most_pods, out);
  return out;
}

TEST(PodGroupTableTest, AGangIsToldByItsPods) {
  engine::PodGroupPreview group = Gang();
  group.message = "minCount (3) cannot be satisfied";
  EXPECT_EQ(Table(group),
            "\n  Pod group default/train would not start, without evictions; it needs 3 pods to "
            "start, 4 exist: 1 on nodes, 2 waiting, of which 1 fit.\n"
            "  minCount (3) cannot be satisfied\n"
            "  POD              NODE  KEEPS IT OUT\n"
            "  default/train-0  n1    -\n"
            "  default/train-1  -     Insufficient cpu\n");
}

TEST(PodGroupTableTest, AGangThatHasStartedSaysSo) {
  engine::PodGroupPreview group = Gang();
  group.placed = 3;
  group.waiting = {{"default/train-3", "", "Insufficient cpu"}};
  group.fitting = 0;
  EXPECT_EQ(Table(group),
            "\n  Pod group default/train has started; it needs 3 pods to start, 4 exist: 3 on "
            "nodes, 1 waiting, of which 0 fit.\n"
            "  POD              NODE  KEEPS IT OUT\n"
            "  default/train-3  -     Insufficient cpu\n");
}

TEST(PodGroupTableTest, ATreeIsToldByItsRootWhichNeedsGroups) {
  engine::PodGroupPreview group = Gang();
  group.composite_pod_group = "default/job";
  group.min_count.reset();
  group.min_group_count = 2;
  group.starts = true;
  group.message = "not shown of what starts";
  EXPECT_EQ(Table(group, 1),
            "\n  Composite pod group default/job, with pod group default/train, would start, "
            "without evictions; it needs 2 groups to start, 4 pods exist: 1 on nodes, 2 waiting, "
            "of which 1 fit.\n"
            "  POD              NODE  KEEPS IT OUT\n"
            "  default/train-0  n1    -\n"
            "  ... and 1 pod\n");
}

TEST(PodGroupTableTest, ATreeWithTheBasicPolicyNamesNoNumber) {
  engine::PodGroupPreview group = Gang();
  group.composite_pod_group = "default/job";
  group.min_count.reset();
  group.waiting.clear();
  EXPECT_EQ(Table(group),
            "\n  Composite pod group default/job, with pod group default/train, would not start, "
            "without evictions; it has the basic policy, 4 pods exist: 1 on nodes, 0 waiting, of "
            "which 1 fit.\n");
}

TEST(PodGroupTableTest, WhatIsNotThereIsSaid) {
  engine::PodGroupPreview group;
  group.pod_group = "default/train";
  EXPECT_EQ(Table(group), "\n  Pod group default/train is not there; its pods wait for it.\n");
}

}  // namespace
}  // namespace berth::explain
