// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/cluster_files.h"

#include <gmock/gmock.h>

#include "src/informers/kinds.h"
#include "tests/unit/client/temp_folder.h"

namespace berth::simulator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class ClusterFilesTest : public testing::Test {
 protected:
  // Writes the text to the next file.
  void Write(const std::string& text) {
    files_.push_back(folder_.Write("cluster-" + std::to_string(files_.size()) + ".yaml", text));
  }
  // Keys of the objects, in order.
  std::vector<std::string> Keys() {
    auto cluster = LoadCluster(files_);
    EXPECT_TRUE(cluster) << cluster.error().message;
    std::vector<std::string> keys;
    if (!cluster) return keys;
    for (const api::ObjectPtr& object : cluster->objects) {
      keys.push_back(informers::MetaOf(object)->Key());
    }
    cluster_ = *std::move(cluster);
    return keys;
  }
  // What is wrong; "" when nothing is.
  std::string Problem() const {
    const auto cluster = LoadCluster(files_);
    return cluster ? "" : cluster.error().message;
  }

  test::TempFolder folder_;
  std::vector<std::string> files_;
  Cluster cluster_;
};

TEST_F(ClusterFilesTest, FillsInOnlyWhatMustBeThere) {
  Write(R"(
apiVersion: v1
kind: Pod
metadata: {name: bare}
---
apiVersion: v1
kind: Pod
metadata: {name: full, namespace: shop, uid: "17"}
spec: {schedulerName: mine}
---
apiVersion: v1
kind: Node
metadata: {name: n1, namespace: strange}
)");
  EXPECT_THAT(Keys(), ElementsAre("n1", "default/bare", "shop/full"));
  const api::Pod& bare = *api::As<api::Pod>(cluster_.objects[1]);
  EXPECT_EQ(bare.metadata.uid, "Pod/default/bare");
  EXPECT_EQ(bare.spec.scheduler_name, "default-scheduler");
  EXPECT_EQ(bare.spec.priority, std::nullopt);
  EXPECT_THAT(bare.spec.tolerations, IsEmpty());
  const api::Pod& full = *api::As<api::Pod>(cluster_.objects[2]);
  EXPECT_EQ(full.metadata.uid, "17");
  EXPECT_EQ(full.spec.scheduler_name, "mine");
}

TEST_F(ClusterFilesTest, NodesComeFirstAndPodsLastWhateverTheFiles) {
  Write(R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: p1}, spec: {nodeName: n2}}
- {apiVersion: v1, kind: Service, metadata: {name: s}}
- {apiVersion: v1, kind: Node, metadata: {name: n1}}
- {apiVersion: v1, kind: Secret, metadata: {name: hush}}
)");
  Write("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n2\"}}");
  EXPECT_THAT(Keys(), ElementsAre("n1", "n2", "default/s", "default/p1"));
  EXPECT_THAT(cluster_.skipped, ElementsAre(Pair("Secret", 1)));
}

TEST_F(ClusterFilesTest, VolumesAndWhatIsNearThemAreRead) {
  Write(R"(---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: a}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: a}}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: a}}
---
{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: a}}
---
{apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {name: a, namespace: disks}}
---
{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: a}}
---
{apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass, metadata: {name: a}}
)");
  EXPECT_THAT(Keys(), ElementsAre("a", "default/a", "a", "a", "a", "disks/a", "a", "a"));
  EXPECT_THAT(cluster_.skipped, testing::IsEmpty());
}

TEST_F(ClusterFilesTest, PodsThatHaveEndedAreLeftOut) {
  Write(R"(---
{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: gone}, status: {phase: Succeeded}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b}, status: {phase: Failed}}
---
{apiVersion: v1, kind: Pod, metadata: {name: c}, status: {phase: Pending}}
)");
  EXPECT_THAT(Keys(), ElementsAre("default/c"));
}

TEST_F(ClusterFilesTest, ErrorsNameFilePlaceAndField) {
  const struct {
    const char* name;
    const char* document;  // after that of a node n1, on line 2
    const char* want;
  } cases[] = {
      {"no name", "{apiVersion: v1, kind: Pod, metadata: {namespace: x}}",
       "metadata.name: Required value: an object of a cluster has a name"},
      {"a node twice", "{apiVersion: v1, kind: Node, metadata: {name: n1}}",
       "metadata.name: Duplicate value: \"n1\""},
      {"an unknown node", "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n2}}",
       "spec.nodeName: Not found: \"n2\""},
      {"a bad quantity",
       "{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: x}}}",
       "status.allocatable[\"cpu\"]: "},
      {"required node affinity",
       "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {affinity: {nodeAffinity: "
       "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: "
       "[{key: a, operator: In}]}]}}}}}",
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
       "nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: "},
      {"preferred node affinity",
       "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {affinity: {nodeAffinity: "
       "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
       "{matchExpressions: [{key: a, operator: In}]}}]}}}}",
       "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference."
       "matchExpressions[0].values: Invalid value: "},
      {"pod anti-affinity",
       "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {affinity: {podAntiAffinity: "
       "{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, labelSelector: "
       "{matchExpressions: [{key: a, operator: Near}]}}]}}}}",
       "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
       "labelSelector: \"Near\" is not a valid label selector operator"},
      {"topology spread",
       "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {topologySpreadConstraints: "
       "[{maxSkew: 1, topologyKey: z, labelSelector: {matchExpressions: [{key: a, operator: "
       "Near}]}}]}}",
       "spec.topologySpreadConstraints[0].labelSelector: \"Near\" is not a valid label selector "
       "operator"},
      {"a replica set's selector",
       "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r}, spec: {selector: "
       "{matchExpressions: [{key: a, operator: Near}]}}}",
       "spec.selector: \"Near\" is not a valid label selector operator"},
      {"a claim's selector",
       "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {selector: "
       "{matchExpressions: [{key: a, operator: Near}]}}}",
       "spec.selector: \"Near\" is not a valid label selector operator"},
      {"a volume's node affinity",
       "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {nodeAffinity: "
       "{required: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}}}}",
       "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values: Invalid "
       "value: "},
      {"a capacity's topology",
       "{apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {name: c}, "
       "nodeTopology: {matchExpressions: [{key: a, operator: Near}]}}",
       "nodeTopology: \"Near\" is not a valid label selector operator"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    files_.clear();
    Write("---\n{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n" +
          std::string(c.document) + "\n");
    EXPECT_THAT(Problem(), testing::StartsWith(files_[0] + ":4: document 2: " + c.want));
  }
}

TEST_F(ClusterFilesTest, ObjectsOfOneNameMayStandInOneFileOnly) {
  Write("---\n{apiVersion: v1, kind: Pod, metadata: {name: p}}\n");
  Write(
      "---\n{apiVersion: v1, kind: Service, metadata: {name: p}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}}\n");
  EXPECT_EQ(Problem(), files_[1] + ":4: document 2: metadata.name: Duplicate value: \"default/p\"");
}

TEST_F(ClusterFilesTest, TwoPodsHaveTwoUids) {
  Write(
      "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, uid: u}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: q, uid: u}}\n");
  EXPECT_EQ(Problem(), files_[0] + ":4: document 2: metadata.uid: Duplicate value: \"u\"");
}

TEST_F(ClusterFilesTest, AFileThatIsNotThereIsNamed) {
  const auto cluster = LoadCluster({"/no/such/file"});
  ASSERT_FALSE(cluster);
  EXPECT_EQ(cluster.error().message, "open /no/such/file: no such file or directory");
}

}  // namespace
}  // namespace berth::simulator
