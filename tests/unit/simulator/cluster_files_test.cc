// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/cluster_files.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>

#include "src/base/virtual_time.h"
#include "src/documents/parse.h"
#include "src/informers/kinds.h"
#include "src/simulator/memory_api.h"
#include "tests/support/builders.h"
#include "tests/support/plugin_kinds.h"
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
      keys.push_back(api::MetaOf(object)->Key());
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
  const api::Pod& full = *api::As<api::Pod>(cluster_.objects[2]);
  EXPECT_THAT(full.spec.tolerations, IsEmpty());
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

TEST_F(ClusterFilesTest, WhatObjectsReferToAndIsNotThereIsNamed) {
  Write(R"(---
{apiVersion: v1, kind: Node, metadata: {name: n1}}
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: shop}
spec:
  nodeName: n1
  volumes:
  - {name: d, persistentVolumeClaim: {claimName: there}}
  - {name: e, persistentVolumeClaim: {claimName: gone}}
  - {name: scratch, ephemeral: {}}
  affinity:
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: zone, labelSelector: {}, namespaceSelector: {matchLabels: {team: a}}}
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec:
  volumes: [{name: scratch, ephemeral: {}}]
  schedulingGroup: {podGroupName: train}
  resourceClaims: [{name: x, resourceClaimName: gpu}, {name: yy, resourceClaimTemplateName: gpus}]
---
{apiVersion: v1, kind: Namespace, metadata: {name: default}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: there, namespace: shop}, spec: {volumeName: v}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: new}, spec: {storageClassName: fast}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: old}, spec: {storageClassName: ""}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: gpu}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu.example.com}}]}}}
)");
  Keys();
  EXPECT_THAT(
      cluster_.warnings,
      ElementsAre(
          "Namespaces of pods were not read: shop; affinity by namespaceSelector goes as though "
          "they had no labels but their name",
          "PersistentVolumeClaims of pods were not read: shop/a-scratch, shop/gone; pods that wait "
          "for them cannot be scheduled, others use no volume",
          "PersistentVolumes of claims were not read: v; their claims have no volume",
          "StorageClasses of claims were not read: fast; pods with unbound claims of them cannot "
          "be scheduled",
          "ResourceClaimTemplates of pods were not read: default/gpus; pods that wait for them "
          "cannot be scheduled",
          "DeviceClasses of claims were not read: gpu.example.com; pods that wait for them cannot "
          "be scheduled",
          "No ResourceSlices were read, but claims of devices: no node has devices",
          "PodGroups of pods were not read: default/train; with the gate GenericWorkload their "
          "pods "
          "wait for them"));
}

TEST_F(ClusterFilesTest, TheClassOfAnEphemeralVolumeIsNamedWhereItIsNotThere) {
  Write(R"(---
{apiVersion: v1, kind: Node, metadata: {name: n1}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  volumes: [{name: s, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast}}}}]
)");
  Keys();
  EXPECT_THAT(cluster_.warnings,
              ElementsAre(testing::StartsWith("StorageClasses of claims were not read: fast; ")));
}

TEST_F(ClusterFilesTest, OfManyThatAreNotThereAFewAreNamed) {
  std::string text = "{apiVersion: v1, kind: Node, metadata: {name: n1}}\n";
  for (int i = 0; i < 8; ++i) {
    text += "---\n{apiVersion: v1, kind: Pod, metadata: {name: p" + std::to_string(i) +
            "}, spec: {volumes: [{persistentVolumeClaim: {claimName: c" + std::to_string(i) +
            "}}]}}\n";
  }
  Write(text);
  Keys();
  EXPECT_THAT(
      cluster_.warnings,
      ElementsAre(testing::HasSubstr(
          "not read: default/c0, default/c1, default/c2, default/c3, default/c4 and 3 more;")));
}

// Namespaces matter where their labels do.
TEST_F(ClusterFilesTest, NamespacesAreNotMissedWhereNothingGoesByTheirLabels) {
  Write(R"(---
{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {affinity: {podAntiAffinity: {
  requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, namespaceSelector: {}}]}}}}
)");
  Keys();
  EXPECT_THAT(cluster_.warnings, IsEmpty());
}

// As they would wait in the queue of a scheduler that saw them come.
TEST_F(ClusterFilesTest, PendingPodsComeByTheirCreation) {
  Write(R"(---
{apiVersion: v1, kind: Pod, metadata: {name: new}}
---
{apiVersion: v1, kind: Pod, metadata: {name: c, creationTimestamp: "2026-01-01T00:00:03Z"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: d, creationTimestamp: "2026-01-01T00:00:09Z"}, spec: {nodeName: n1}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, creationTimestamp: "2026-01-01T00:00:02Z"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, creationTimestamp: "2026-01-01T00:00:03Z"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: also-new}}
)");
  EXPECT_THAT(Keys(), ElementsAre("n1", "default/b", "default/a", "default/d", "default/c",
                                  "default/new", "default/also-new"));
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
  EXPECT_EQ(cluster_.ended_pods, 2u);
  EXPECT_THAT(cluster_.ended, ElementsAre(testing::Pair("default/a", "Succeeded"),
                                          testing::Pair("default/b", "Failed")));
}

// A cluster holds what its API server took at some time, by the rules of some release.
TEST_F(ClusterFilesTest, WhatIsOddIsKeptWithAWarning) {
  const struct {
    const char* name;
    const char* document;  // after that of a node n1, on line 2
    const char* warning;
  } cases[] = {
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
      {"an old budget's selector",
       "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: {selector: "
       "{matchLabels: {app: my app}}}}",
       "spec.selector: "},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    files_.clear();
    Write("---\n{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n" +
          std::string(c.document) + "\n");
    const auto cluster = LoadCluster(files_);
    ASSERT_TRUE(cluster) << cluster.error().message;
    EXPECT_EQ(cluster->objects.size(), 2u);
    EXPECT_THAT(cluster->warnings, testing::ElementsAre(testing::StartsWith(
                                       files_[0] + ":4: document 2: " + std::string(c.warning))));
  }
}

TEST_F(ClusterFilesTest, WhatCannotBeReadIsLeftOutWithAWarning) {
  Write(
      "---\n{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n"
      "{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: x}}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n1, tolerations: "
      "5}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {nodeName: n1, containers: 5}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: r}, spec: {nodeName: n3}}\n");
  const auto cluster = LoadCluster(files_);
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->objects.size(), 2u);  // n1 and p, whose place and room are known
  EXPECT_THAT(
      cluster->warnings,
      testing::ElementsAre(
          testing::StartsWith(files_[0] + ":4: document 2: status.allocatable[\"cpu\"]: "),
          files_[0] + ":6: document 3: spec.tolerations: expected a list, got a number",
          files_[0] + ":8: document 4: spec.containers: expected a list, got a number; the object "
                      "is left out",
          "pod default/r is left out: spec.nodeName: Not found: \"n3\""));
}

TEST_F(ClusterFilesTest, OfAnObjectThatStandsTwiceTheLastOneCounts) {
  Write(
      "---\n{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n1}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: q}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: r}, status: {phase: Failed}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: s}}\n");
  Write(
      "---\n{apiVersion: v1, kind: Service, metadata: {name: p}}\n---\n"
      "{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: q}, status: {phase: Succeeded}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: r}}\n");
  EXPECT_THAT(Keys(), ElementsAre("n1", "default/p", "default/s", "default/p", "default/r"));
  EXPECT_EQ(api::As<api::Pod>(cluster_.objects[3])->spec.node_name, "");
  const auto warning = [&](int line, int document, const std::string& name) {
    return files_[1] + ":" + std::to_string(line) + ": document " + std::to_string(document) +
           ": metadata.name: Duplicate value: \"default/" + name + "\"; the last one counts";
  };
  // The node is the same.
  EXPECT_THAT(cluster_.warnings,
              ElementsAre(warning(6, 3, "p"), warning(8, 4, "q"), warning(10, 5, "r")));
}

TEST_F(ClusterFilesTest, TwoPodsHaveTwoUids) {
  Write(
      "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, uid: u}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: q, uid: u}}\n");
  EXPECT_THAT(Keys(), ElementsAre("default/p"));
  EXPECT_THAT(cluster_.warnings,
              ElementsAre(files_[0] + ":4: document 2: metadata.uid: Duplicate value: \"u\", as of "
                                      "pod default/p; the object is left out"));
}

TEST_F(ClusterFilesTest, AnObjectWithoutANameIsLeftOut) {
  Write(
      "---\n{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {namespace: x}}\n");
  EXPECT_THAT(Keys(), ElementsAre("n1"));
  EXPECT_THAT(
      cluster_.warnings,
      ElementsAre(files_[0] + ":4: document 2: metadata.name: Required value: an object of a "
                              "cluster has a name; the object is left out"));
}

TEST_F(ClusterFilesTest, AValueThatAnApiServerWouldRefuseOfAManifestIsNamed) {
  Write(
      "---\n{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: new}, spec: {preemptionPolicy: never}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: stored, uid: u}, spec: {preemptionPolicy: "
      "never}}\n");
  EXPECT_THAT(Keys(), ElementsAre("n1", "default/new", "default/stored"));
  EXPECT_THAT(cluster_.warnings,
              ElementsAre(files_[0] + ":4: document 2: spec.preemptionPolicy: Unsupported value: "
                                      "\"never\": supported values: \"PreemptLowerPriority\", "
                                      "\"Never\""));
}

TEST_F(ClusterFilesTest, ANameThatIsNoTextIsNamedAsSuch) {
  Write(
      "---\n{apiVersion: v1, kind: Node, metadata: {name: 4}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: true, generateName: web-}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: 7}\n");
  EXPECT_THAT(Keys(), testing::IsEmpty());
  const std::string left_out = "; the object is left out";
  EXPECT_THAT(
      cluster_.warnings,
      ElementsAre(
          files_[0] + ":2: document 1: metadata.name: expected a string, got a number" + left_out,
          files_[0] + ":4: document 2: metadata.name: expected a string, got a boolean" + left_out,
          testing::AllOf(testing::StartsWith(files_[0] + ":6: document 3: metadata: "),
                         testing::EndsWith("got a number" + left_out))));
}

TEST_F(ClusterFilesTest, ObjectsOfAQuestionStandThereOnce) {
  const auto objects = [](const char* json) {
    const auto value = documents::ParseJson(json, "");
    const auto read = ReadObjects(*value->list(), "add");
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(objects(R"([{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}},
                        {"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}])"),
            "add[1]: metadata.name: Duplicate value: \"default/p\"");
  EXPECT_EQ(objects(R"([{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","uid":"u"}},
                        {"apiVersion":"v1","kind":"Pod","metadata":{"name":"q","uid":"u"}}])"),
            "add[1]: metadata.uid: Duplicate value: \"u\"");
  EXPECT_EQ(objects(R"([{"apiVersion":"v1","kind":"Pod","metadata":{}}])"),
            "add[0]: metadata.name: Required value: an object of a cluster has a name");
}

// What a chart holds is no dump: nothing has defaulted it.
TEST_F(ClusterFilesTest, ManifestsAreDefaultedAndStoredPodsAreNot) {
  const char* const spec =
      "{priorityClassName: gold, hostNetwork: true, containers: [{name: c, ports: [{containerPort: "
      "80}], resources: {limits: {cpu: 2}}}]}";
  Write("{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n" +
        std::string("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: ") + spec +
        "}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: b, uid: u}, spec: " + spec +
        "}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: c}, spec: {priorityClassName: tin}}\n"
        "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: gold}, "
        "value: 7, preemptionPolicy: Never}\n");
  EXPECT_THAT(Keys(), ElementsAre("n1", "default/a", "default/b", "default/c"));
  const api::PodSpec& made = api::As<api::Pod>(cluster_.objects[1])->spec;
  EXPECT_EQ(made.priority, 7);
  EXPECT_EQ(made.preemption_policy, "Never");
  EXPECT_EQ(made.containers[0].resources.requests, test::MakeResources({{"cpu", "2"}}));
  EXPECT_EQ(made.containers[0].ports[0].host_port, 80);
  EXPECT_EQ(made.tolerations.size(), 2u);
  const api::PodSpec& stored = api::As<api::Pod>(cluster_.objects[2])->spec;
  EXPECT_EQ(stored.priority, std::nullopt);
  EXPECT_THAT(stored.containers[0].resources.requests, IsEmpty());
  EXPECT_EQ(stored.containers[0].ports[0].host_port, 0);
  EXPECT_THAT(stored.tolerations, IsEmpty());
  EXPECT_THAT(
      cluster_.warnings,
      ElementsAre("pod default/c: spec.priorityClassName: Not found: \"tin\": no pod of the "
                  "cluster tells what it means; state spec.priority; it counts as 0"));
  EXPECT_THAT(cluster_.skipped, IsEmpty());
}

TEST_F(ClusterFilesTest, ANodeThatWasNeverStoredOffersItsCapacity) {
  const char* const status = "status: {capacity: {cpu: 16, pods: 110}";
  Write("{apiVersion: v1, kind: Node, metadata: {name: a}, " + std::string(status) +
        "}}\n---\n{apiVersion: v1, kind: Node, metadata: {name: b}, " + status +
        ", allocatable: {cpu: 15}}}\n---\n"
        "{apiVersion: v1, kind: Node, metadata: {name: c, uid: u}, " +
        status + "}}\n");
  EXPECT_THAT(Keys(), ElementsAre("a", "b", "c"));
  const auto allocatable = [this](size_t i) {
    return api::As<api::Node>(cluster_.objects[i])->status.allocatable;
  };
  const auto capacity = test::MakeResources({{"cpu", "16"}, {"pods", "110"}});
  EXPECT_EQ(allocatable(0), capacity);
  EXPECT_EQ(allocatable(1), test::MakeResources({{"cpu", "15"}}));
  EXPECT_THAT(allocatable(2), IsEmpty());
  const auto question = LoadNewObjects(files_);
  ASSERT_TRUE(question) << question.error().message;
  for (const size_t i : {0u, 2u})
    EXPECT_EQ(api::As<api::Node>(question->objects[i])->status.allocatable, capacity);
  const auto value = documents::ParseYaml(
      "{apiVersion: v1, kind: Node, metadata: {name: a}, " + std::string(status) + "}}", "");
  const auto alone = ReadObject(value->at(0), "add[0]");
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ(api::As<api::Node>(*alone)->status.allocatable, capacity);
}

TEST_F(ClusterFilesTest, AnObjectMayAskForAName) {
  Write(
      "{apiVersion: v1, kind: Pod, metadata: {generateName: run-}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: run-2}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {generateName: run-}}\n");
  Write(R"({"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"run-"}})");
  EXPECT_THAT(Keys(),
              ElementsAre("default/run-1", "default/run-2", "default/run-3", "default/run-4"));
  EXPECT_THAT(cluster_.warnings, IsEmpty());
}

constexpr const char* kDeployment = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web%}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, resources: {limits: {cpu: 1}}}]}
)";

TEST_F(ClusterFilesTest, AWorkloadThatWasNeverStoredBecomesItsPods) {
  std::string text = kDeployment;
  Write("{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---" +
        std::string(text).replace(text.find('%'), 1, ""));
  EXPECT_THAT(Keys(),
              ElementsAre("n1", "default/web-new", "default/web-new-0", "default/web-new-1"));
  EXPECT_THAT(cluster_.expanded, ElementsAre(Pair("Deployment", 1u)));
  EXPECT_THAT(cluster_.remarks, IsEmpty());
  EXPECT_THAT(cluster_.skipped, IsEmpty());
  files_.clear();
  Write("{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---" +
        std::string(text).replace(text.find('%'), 1, ", uid: u"));
  EXPECT_THAT(Keys(), ElementsAre("n1")) << "its pods are in the dump";
  EXPECT_THAT(cluster_.skipped, ElementsAre(Pair("Deployment.apps", 1u)));
}

TEST_F(ClusterFilesTest, AWorkloadMayAskForAName) {
  const std::string job = R"(---
apiVersion: batch/v1
kind: Job
metadata: {generateName: run-}
spec: {template: {spec: {containers: [{name: c}]}}}
)";
  Write("{apiVersion: v1, kind: Node, metadata: {name: n1}}\n" + job + job);
  EXPECT_THAT(Keys(), ElementsAre("n1", "default/run-1-new-0", "default/run-2-new-0"));
  EXPECT_THAT(cluster_.warnings, IsEmpty());
}

TEST_F(ClusterFilesTest, FieldsThatAWorkloadDoesNotHaveAreTold) {
  Write(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {paralelism: 2, template: "
      "{spec: {container: []}}}}\n");
  Keys();
  EXPECT_THAT(
      cluster_.remarks,
      ElementsAre(files_[0] + ":1: document 1: unknown field \"spec.paralelism\"; did you "
                              "mean \"parallelism\"?",
                  files_[0] + ":1: document 1: unknown field \"spec.template.spec.container\""
                              "; did you mean \"containers\"?"));
}

TEST_F(ClusterFilesTest, AWorkloadThatCannotBeReadCostsItself) {
  Write(
      "{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n"
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: -1, template: "
      "{spec: {containers: [{name: c}]}}}}\n");
  EXPECT_THAT(Keys(), ElementsAre("n1"));
  EXPECT_THAT(
      cluster_.warnings,
      ElementsAre(files_[0] + ":3: document 2: spec.parallelism: Invalid value: -1: must be "
                              "a number that is not negative; the object is left out"));
  files_.clear();
  Write(
      "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r}, spec: {replicas: 100001, "
      "template: {spec: {containers: [{name: c}]}}}}\n");
  EXPECT_EQ(Problem(), "ReplicaSet default/r: too many pods: controllers may make 100000");
}

// Such files have controllers for spreading by their selectors alone.
TEST_F(ClusterFilesTest, AWorkloadWithoutContainersMakesNoPods) {
  Write(
      "{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n"
      "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r}, spec: {selector: {matchLabels: "
      "{app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: null}}}}\n");
  EXPECT_THAT(Keys(), testing::Not(testing::Contains(testing::HasSubstr("r-new"))));
  EXPECT_THAT(cluster_.warnings, testing::IsEmpty());
}

// Of a question: what it makes is what is asked.
TEST_F(ClusterFilesTest, AWorkloadWithoutContainersIsNoQuestion) {
  Write("{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: shop}}\n");
  const auto read = LoadNewObjects(files_);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message,
            files_[0] +
                ":1: document 1: Deployment shop/d: spec.template.spec.containers: "
                "Required value");
  // A dump's ReplicaSets have no templates.
  files_.clear();
  Write("{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r, uid: u}}\n");
  EXPECT_TRUE(LoadNewObjects(files_));
}

TEST_F(ClusterFilesTest, AFolderIsItsFilesByName) {
  Write("{apiVersion: v1, kind: Node, metadata: {name: n1}}\n");  // cluster-0.yaml
  files_.clear();
  folder_.Write("b.json", R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"b"}})");
  folder_.Write("a.yml", "{apiVersion: v1, kind: Node, metadata: {name: a}}\n");
  folder_.Write("README.md", "# No manifest\n");
  files_ = {folder_.Path("")};
  EXPECT_THAT(Keys(), ElementsAre("a", "b", "n1"));
  const test::TempFolder empty;
  files_ = {empty.Path("")};
  EXPECT_EQ(Problem(),
            empty.Path("") + ": the folder has no file that ends in .json, .yaml or .yml");
}

TEST_F(ClusterFilesTest, FilesMayStandInOneListWithCommas) {
  Write("{apiVersion: v1, kind: Node, metadata: {name: n1}}\n");
  Write("{apiVersion: v1, kind: Node, metadata: {name: n2}}\n");
  files_ = {files_[0] + "," + files_[1]};
  EXPECT_THAT(Keys(), ElementsAre("n1", "n2"));
  files_ = {folder_.Write("a,b.yaml", "{apiVersion: v1, kind: Node, metadata: {name: n3}}\n")};
  EXPECT_THAT(Keys(), ElementsAre("n3"));
}

// As Windows' PowerShell writes them.
TEST_F(ClusterFilesTest, AByteOrderMarkTellsOfUtf16) {
  const std::u16string text =
      u"{apiVersion: v1, kind: Node, metadata: {name: n1, annotations: "
      u"{a: \"\u00e9\u20ac\U0001F600\"}}}\n";
  for (const bool little : {true, false}) {
    std::string bytes = little ? "\xFF\xFE" : "\xFE\xFF";
    for (const char16_t unit : text) {
      const char low = static_cast<char>(unit & 0xFF);
      const char high = static_cast<char>(unit >> 8);
      bytes += little ? low : high;
      bytes += little ? high : low;
    }
    files_.clear();
    Write(bytes);
    EXPECT_THAT(Keys(), ElementsAre("n1"));
    EXPECT_THAT(cluster_.warnings, IsEmpty());
    EXPECT_THAT(api::As<api::Node>(cluster_.objects[0])->metadata.annotations,
                ElementsAre(Pair("a", "\u00e9\u20ac\U0001F600")));
  }
}

TEST_F(ClusterFilesTest, WorkloadsWithoutPodsAreKept) {
  Write(R"(---
{apiVersion: v1, kind: Node, metadata: {name: n1}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: stored, uid: u}
spec: {replicas: 0, template: {spec: {containers: [{name: c}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: has-pods, uid: v}
spec: {replicas: 1, template: {spec: {containers: [{name: c}]}}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: old, uid: w, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: d, uid: d, controller: true}]}
spec: {replicas: 0, template: {spec: {containers: [{name: c}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: manifest}
spec: {replicas: 0, template: {spec: {containers: [{name: c}]}}}
)");
  Keys();
  std::vector<std::string> names;
  for (const PodController& controller : cluster_.idle) names.push_back(controller.metadata.name);
  EXPECT_THAT(names, ElementsAre("stored", "manifest"));
}

TEST_F(ClusterFilesTest, AQuestionMayHaveANamespaceOfItsOwn) {
  Write(R"(---
{apiVersion: v1, kind: Node, metadata: {name: n1}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: other}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: l}, spec: {limits: [{type: Container, default: {cpu: 1}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {template: {spec: {containers: [{name: c}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: e, namespace: other}
spec: {template: {spec: {containers: [{name: c}]}}}
)");
  const auto read = LoadNewObjects(files_, "shop");
  ASSERT_TRUE(read) << read.error().message;
  std::vector<std::string> keys;
  for (const api::ObjectPtr& object : read->objects) keys.push_back(api::MetaOf(object)->Key());
  for (const PodController& controller : read->controllers) {
    keys.push_back(controller.metadata.Key());
    keys.push_back(controller.pod->metadata.namespace_);
  }
  EXPECT_THAT(keys, ElementsAre("n1", "shop/a", "other/b", "shop/d", "shop", "other/e", "other"));
  ASSERT_EQ(read->admission.limit_ranges.size(), 1u);
  EXPECT_EQ(read->admission.limit_ranges[0].namespace_, "shop");
}

TEST_F(ClusterFilesTest, TheStandardInputIsAFileOnce) {
  const std::string file = folder_.Write("in",
                                         "{apiVersion: v1, kind: Node, metadata: {name: n1}}\n"
                                         "---\n{apiVersion: v1, kind: Pod}\n");
  const int kept = dup(STDIN_FILENO);
  ASSERT_NE(std::freopen(file.c_str(), "r", stdin), nullptr);
  files_ = {"-"};
  EXPECT_THAT(Keys(), ElementsAre("n1"));
  EXPECT_THAT(cluster_.warnings,
              ElementsAre(testing::StartsWith("standard input:3: document 2: ")));
  dup2(kept, STDIN_FILENO);
  close(kept);
  files_ = {"-", "-"};
  EXPECT_EQ(Problem(), "the standard input (-) can be read once only");
}

TEST_F(ClusterFilesTest, WhatMayBeAMistakeIsARemark) {
  Write(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  nodeSelector: {disk: ssd}\n"
      "  nodeSelector: {}\n");
  EXPECT_THAT(Keys(), ElementsAre("default/p"));
  EXPECT_THAT(api::As<api::Pod>(cluster_.objects[0])->spec.node_selector, IsEmpty());
  EXPECT_THAT(cluster_.remarks,
              ElementsAre(files_[0] + ":6: key \"nodeSelector\" already set in map; the last one "
                                      "counts"));
  EXPECT_THAT(cluster_.warnings, IsEmpty());
}

TEST_F(ClusterFilesTest, AFileThatIsNotThereIsNamed) {
  const auto cluster = LoadCluster({"/no/such/file"});
  ASSERT_FALSE(cluster);
  EXPECT_EQ(cluster.error().message, "open /no/such/file: no such file or directory");
}

// A dump of a cluster is read as that cluster, whose dump is the same.
TEST_F(ClusterFilesTest, ObjectsOfPluginsKindsKeepTheirTextThroughADump) {
  test::WindowKind();
  test::ShopKind();
  Write(R"(
apiVersion: tests.example.com/v1
kind: Window
metadata: {name: night, annotations: {a: b}}
spec: {nodes: [n1, n2], note: "two  blanks"}
---
apiVersion: tests.example.com/v1
kind: Shop
metadata: {name: x, namespace: shop, uid: "7"}
---
apiVersion: tests.example.com/v1
kind: Shop
metadata: {name: x}
)");
  ASSERT_THAT(Keys(), ElementsAre("night", "shop/x", "default/x"));
  EXPECT_THAT(cluster_.warnings, IsEmpty());
  EXPECT_EQ(api::MetaOf(cluster_.objects[0])->uid, "Window.tests.example.com/night");
  const auto dump_of = [](const Cluster& cluster) {
    base::VirtualClock clock;
    base::VirtualExecutor executor(clock);
    MemoryApi api(clock, executor, [](informers::InformerEvent) {});
    for (const api::ObjectPtr& object : cluster.objects) api.Apply(object);
    EXPECT_EQ(api.Count(informers::KindOf(test::ShopKind())), 2u);
    EXPECT_TRUE(api.Delete(informers::KindOf(test::ShopKind()), "default/x"));
    api.Apply(cluster.objects[2]);
    return DumpOf(api, {}, {});
  };
  const std::string dump = dump_of(cluster_);
  EXPECT_THAT(
      dump, testing::HasSubstr(
                R"("annotations":{"a":"b"}},"spec":{"nodes":["n1","n2"],"note":"two  blanks"}})"));
  files_.clear();
  Write(dump);
  const std::vector<std::string> again = Keys();
  EXPECT_THAT(again, testing::UnorderedElementsAre("night", "shop/x", "default/x"));
  ASSERT_THAT(cluster_.objects, testing::SizeIs(3));
  Cluster turned;
  turned.objects = {cluster_.objects[0], cluster_.objects[2], cluster_.objects[1]};
  EXPECT_EQ(dump_of(turned), dump);
}

}  // namespace
}  // namespace berth::simulator
