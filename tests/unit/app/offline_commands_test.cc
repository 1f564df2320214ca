// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "src/app/explain.h"
#include "src/app/in_tree_plugins.h"
#include "src/app/offline_flags.h"
#include "src/app/packing.h"
#include "src/app/show_config.h"
#include "src/app/simulate.h"
#include "src/app/ui.h"
#include "src/base/file.h"
#include "tests/unit/client/temp_folder.h"

namespace berth::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Arguments = std::vector<std::string>;

constexpr const char* kCluster = R"(---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: there}, spec: {nodeName: n1}}
---
apiVersion: v1
kind: Pod
metadata: {name: fits}
spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: large}
spec: {containers: [{name: c, resources: {requests: {cpu: 9}}}]}
)";

// A node with one pod more than others have room for.
constexpr const char* kFull = R"(---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 2}}}
---
apiVersion: v1
kind: Pod
metadata: {name: new}
spec: {nodeName: n1, containers: [{name: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: old}
spec: {nodeName: n1, containers: [{name: c}]}
status: {startTime: "2026-03-01T00:00:00Z"}
---
{apiVersion: v1, kind: Pod, metadata: {name: high}, spec: {priority: 1, containers: [{name: c}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: low}, spec: {containers: [{name: c}]}}
)";

// A pod whose claim fits one of two nodes, by a volume that is there.
constexpr const char* kClaims = R"(---
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: a}}, status: {allocatable: {cpu: 4, pods: 2}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {zone: b}}, status: {allocatable: {cpu: 4, pods: 2}}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec:
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: local
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}}
status: {phase: Available}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: local, resources: {requests: {storage: 5Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c}], volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}
)";

// A pod with every volume that needs no plugin, pods whose claims are not there, and pods that need
// a plugin which is not done yet.
constexpr const char* kVolumes = R"(---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}}}
---
apiVersion: v1
kind: Pod
metadata: {name: plain}
spec:
  containers: [{name: c}]
  volumes:
  - {name: scratch, emptyDir: {sizeLimit: 1Gi}}
  - {name: config, configMap: {name: config}}
  - {name: secret, secret: {secretName: secret}}
  - {name: host, hostPath: {path: /var/lib/x}}
  - {name: token, projected: {sources: [{serviceAccountToken: {path: token}}]}}
  - {name: info, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
  - {name: model, image: {reference: "example.com/model:v1"}}
  - {name: inline, csi: {driver: inline.example.com}}
  - {name: share, nfs: {server: nfs.example.com, path: /}}
---
apiVersion: v1
kind: Pod
metadata: {name: claim}
spec: {containers: [{name: c}], volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: ephemeral}
spec:
  containers: [{name: c}]
  volumes:
  - name: data
    ephemeral:
      volumeClaimTemplate: {spec: {resources: {requests: {storage: 1Gi}}}}
---
apiVersion: v1
kind: Pod
metadata: {name: disk}
spec: {containers: [{name: c}], volumes: [{name: data, gcePersistentDisk: {pdName: data}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: device}
spec: {containers: [{name: c}], resourceClaims: [{name: gpu, resourceClaimName: gpu}]}
---
apiVersion: v1
kind: Pod
metadata: {name: group}
spec: {containers: [{name: c}], schedulingGroup: {podGroupName: train}}
)";

// Runs a command on a cluster file and keeps what it printed.
class OfflineCommandsTest : public testing::Test {
 protected:
  int Run(int (*command)(const Arguments&, const std::string&, const InTreePlugins&),
          Arguments arguments, bool with_cluster = true) {
    if (with_cluster) arguments.insert(arguments.begin(), {"--cluster", file_});
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = command(arguments, "berth test", FindInTreePlugins());
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return code;
  }

  test::TempFolder folder_;
  std::string file_ = folder_.Write("cluster.yaml", kCluster);
  std::string out_;
  std::string err_;
};

TEST_F(OfflineCommandsTest, SimulatePrintsDecisionsInOrderAndASummaryLast) {
  EXPECT_EQ(Run(Simulate, {"-o", "json"}), 0);
  EXPECT_THAT(out_, StartsWith("{\"pod\":\"default/fits\",\"node\":\"n1\"}\n"
                               "{\"pod\":\"default/large\",\"node\":null,\"message\":\"0/1 nodes "
                               "are available: 1 Insufficient cpu."));
  EXPECT_THAT(out_, HasSubstr("\n{\"summary\":{\"attempts\":2,\"bound\":1,"));
  EXPECT_EQ(err_, "");
}

// A node for two pods; a group of one of them, one that needs two, and one that is not there.
constexpr const char* kPodGroups = R"(
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: small},
 spec: {schedulingPolicy: {gang: {minCount: 1}}}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: large},
 spec: {schedulingPolicy: {gang: {minCount: 3}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: s-0}, spec: {schedulingGroup: {podGroupName: small},
 containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: l-0}, spec: {schedulingGroup: {podGroupName: large},
 containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: l-1}, spec: {schedulingGroup: {podGroupName: large},
 containers: [{name: c, resources: {requests: {cpu: "3"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: l-2}, spec: {schedulingGroup: {podGroupName: large},
 containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: x-0}, spec: {schedulingGroup: {podGroupName: gone},
 containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
)";

TEST_F(OfflineCommandsTest, SimulateDecidesAboutPodGroupsAndTellsOfThem) {
  file_ = folder_.Write("groups.yaml", kPodGroups);
  EXPECT_EQ(Run(Simulate, {"-o", "json", "--feature-gates", "GenericWorkload=true"}), kDone);
  EXPECT_THAT(out_, StartsWith(R"({"pod":"default/s-0","node":"n1"}
{"podGroup":"default/small","status":"True","reason":"Scheduled"}
{"pod":"default/l-0","node":null,"tried":"n1","message":"pod group is unschedulable, minCount (3) )"
                               "cannot be satisfied: 1 scheduled, 1 remaining"));
  EXPECT_THAT(out_, HasSubstr(R"("message":"0/1 nodes are available: 1 Insufficient cpu."}
{"pod":"default/l-2","node":null,"message":"minCount (3) cannot be satisfied: 1 scheduled, 1 remaining, in other orders at most 0 of 3 pods fit, but not default/l-1: 0/1 nodes are available: 1 Insufficient cpu."}
{"podGroup":"default/large","status":"False","reason":"Unschedulable","message":"minCount (3) cannot )"
                              "be satisfied: 1 scheduled, 1 remaining"));
}

TEST_F(OfflineCommandsTest, TheTableOfASimulationTellsWhatPodGroupsLack) {
  file_ = folder_.Write("groups.yaml", kPodGroups);
  EXPECT_EQ(Run(Simulate, {"--feature-gates", "GenericWorkload=true"}), kDone);
  EXPECT_THAT(out_, HasSubstr(R"(
2 pod groups with pods left:

  Pod group default/large would not start, without evictions; it needs 3 pods to start, 3 exist: 0 on nodes, 3 waiting, of which 1 fit.
)"));
  EXPECT_THAT(out_, HasSubstr("\n  Pod group default/gone is not there; its pods wait for it.\n"));
  EXPECT_THAT(out_, testing::Not(HasSubstr("default/small")));
  EXPECT_EQ(Run(Simulate, {}), kDone);
  EXPECT_THAT(out_, testing::Not(HasSubstr("pod groups"))) << "without the gate there are none";
}

TEST_F(OfflineCommandsTest, ExplainTellsWhatAPodsGroupLacks) {
  file_ = folder_.Write("groups.yaml", kPodGroups);
  const std::vector<std::string> flags = {"--feature-gates", "GenericWorkload=true", "--pod",
                                          "l-0"};
  EXPECT_EQ(Run(Explain, flags), kDone);
  EXPECT_THAT(out_, HasSubstr(R"(
  Pod group default/large would not start, without evictions; it needs 3 pods to start, 3 exist: 0 on nodes, 3 waiting, of which 2 fit.
  minCount (3) cannot be satisfied: 1 scheduled, 1 remaining, in other orders at most 0 of 3 pods fit, but not default/l-1: 0/1 nodes are available: 1 Insufficient cpu.
  POD          NODE  KEEPS IT OUT
  default/l-0  n1    -
  default/l-1  -     0/1 nodes are available: 1 Insufficient cpu.
  default/l-2  n1    -
)"));
  EXPECT_EQ(Run(Explain, {"--feature-gates", "GenericWorkload=true", "--pod", "x-0"}), kNegative);
  EXPECT_THAT(out_, HasSubstr("Pod group default/gone is not there; its pods wait for it.\n"));
  EXPECT_EQ(Run(Explain, {"--pod", "l-0"}), kDone);
  EXPECT_THAT(out_, testing::Not(HasSubstr("Pod group")));
}

TEST_F(OfflineCommandsTest, ADocumentTellsOfThePodsGroup) {
  file_ = folder_.Write("groups.yaml", kPodGroups);
  EXPECT_EQ(Run(Explain, {"--feature-gates", "GenericWorkload=true", "--pod", "s-0", "-o", "json"}),
            kDone);
  EXPECT_THAT(
      out_,
      HasSubstr(
          R"("podGroup":{"existing":1,"fitting":1,"minCount":1,"missing":false,"placed":0,)"
          R"("podGroup":"default/small","starts":true,"waiting":[{"node":"n1","pod":"default/s-0"}]})"));
}

TEST_F(OfflineCommandsTest, ConfigPrintsTheEffectiveConfiguration) {
  const std::string file = folder_.Write("config.yaml",
                                         "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                         "kind: KubeSchedulerConfiguration\n"
                                         "profiles: [{schedulerName: mine}]\n");
  EXPECT_EQ(Run(ShowConfig, {"--config", file}, false), kDone);
  EXPECT_THAT(out_, StartsWith("apiVersion: kubescheduler.config.k8s.io/v1\nclientConnection:\n"));
  EXPECT_THAT(out_, HasSubstr("\n      - name: DynamicResources\n        weight: 2\n"));
  EXPECT_THAT(out_, HasSubstr("\n      kind: VolumeBindingArgs\n"));
  EXPECT_THAT(out_, HasSubstr("\n  schedulerName: mine\n"));
  const std::string again = folder_.Write("again.yaml", out_);
  const std::string first = out_;
  EXPECT_EQ(Run(ShowConfig, {"--config", again}, false), kDone);
  EXPECT_EQ(out_, first);
  EXPECT_EQ(Run(ShowConfig, {"-o", "json"}, false), kDone);
  EXPECT_THAT(out_, StartsWith("{\"apiVersion\":"));
  EXPECT_EQ(err_, "");
}

TEST_F(OfflineCommandsTest, ConfigPrintsNoKey) {
  const std::string file = folder_.Write("config.yaml",
                                         "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                         "kind: KubeSchedulerConfiguration\n"
                                         "extenders: [{urlPrefix: 'https://x', weight: 1, "
                                         "tlsConfig: {certData: YWJj, keyData: czNjcmV0}}]\n");
  for (const char* form : {"yaml", "json"}) {
    EXPECT_EQ(Run(ShowConfig, {"--config", file, "-o", form}, false), kDone) << err_;
    EXPECT_THAT(out_, HasSubstr("YWJj"));
    EXPECT_THAT(out_, testing::Not(HasSubstr("czNjcmV0")));
  }
}

TEST_F(OfflineCommandsTest, ConfigEndsWithTwoAndThePlaceOnBadInput) {
  const auto with_body = [this](const std::string& body) {
    return folder_.Write("config.yaml",
                         "apiVersion: kubescheduler.config.k8s.io/v1\n"
                         "kind: KubeSchedulerConfiguration\n" +
                             body);
  };
  const struct {
    const char* body;
    const char* want;
  } cases[] = {
      {"parallelism: [", "config.yaml:3: yaml: "},
      {"parallelism: 0", "config.yaml: parallelism: Invalid value: 0: "},
      {"foo: 1", "config.yaml: strict decoding error: unknown field \"foo\""},
      {"profiles: [{plugins: {score: {enabled: [{name: X}]}}}]",
       "config.yaml: initializing profiles: creating profile for scheduler name default-scheduler: "
       "ScorePlugin \"X\" does not exist"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.body);
    EXPECT_EQ(Run(ShowConfig, {"--config", with_body(c.body)}, false), kBadInput);
    EXPECT_THAT(err_, HasSubstr(c.want));
    EXPECT_EQ(out_, "");
  }
  EXPECT_EQ(Run(ShowConfig, {"--feature-gates=Foo=true"}, false), kBadInput);
  EXPECT_EQ(Run(ShowConfig, {"-o=xml"}, false), kBadInput);
  EXPECT_EQ(Run(ShowConfig, {"foo"}, false), kBadInput);
}

TEST_F(OfflineCommandsTest, SimulateTellsWhatDiffersFromToday) {
  EXPECT_EQ(Run(Simulate, {"--add-nodes=1", "--like=n1", "-o=json"}), kDone);
  EXPECT_THAT(out_, StartsWith(R"({"after":{"memory":)"));
  EXPECT_THAT(
      out_,
      HasSubstr(
          R"("nodes":2,"pending":1,"pods":3,"usedNodes":1,"usedNodesLowerBound":1},"before":)"));
  EXPECT_THAT(out_, HasSubstr(R"("pods":[]})"));
  EXPECT_EQ(Run(Simulate, {"--drain=n1"}), kDone);
  EXPECT_THAT(out_,
              StartsWith("       NODES  USED  AT LEAST  PODS  PENDING  CPU  STRANDED  MEMORY  "
                         "STRANDED\n"
                         "today      1     1         1     3        1  25%         0       -  "
                         "       0\n"));
  EXPECT_THAT(out_, HasSubstr("  is lost: default/there, which no controller makes again\n"));
  EXPECT_EQ(Run(Simulate, {"--remove-node=n1"}), kDone);
  EXPECT_THAT(out_, HasSubstr("default/fits   n1     -"));
  EXPECT_EQ(err_, "");
}

TEST_F(OfflineCommandsTest, SimulateEndsWithOneWhereADrainLeavesAPodWithoutANode) {
  file_ = folder_.Write("owned.yaml", std::string(kCluster) + R"(---
apiVersion: v1
kind: Pod
metadata: {name: owned, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u, controller: true}]}
spec: {nodeName: n1, containers: [{name: c}]}
)");
  EXPECT_EQ(Run(Simulate, {"--drain=n1"}), kNegative);
  EXPECT_THAT(out_, HasSubstr("  fits nowhere: default/owned\n"));
  EXPECT_EQ(Run(Simulate, {"--scale=default/ReplicaSet/r=3", "-o=json"}), kDone);
  EXPECT_THAT(out_, HasSubstr(R"("pods":[{"after":"n1","pod":"default/r-new-0"},)"
                              R"({"after":"n1","pod":"default/r-new-1"}]})"));
}

TEST_F(OfflineCommandsTest, SimulateFillsAndAddsWhatFilesHold) {
  const std::string pod =
      folder_.Write("pod.yaml",
                    "---\n{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: "
                    "{containers: [{name: c, resources: {requests: {cpu: "
                    "2}}}]}}\n");
  const std::string node =
      folder_.Write("node.yaml",
                    "---\n{apiVersion: v1, kind: Node, metadata: {name: n2}, status: "
                    "{allocatable: {cpu: 20, pods: 10}}}\n");
  EXPECT_EQ(Run(Simulate, {"--fill", pod}), kDone);
  EXPECT_THAT(out_, HasSubstr("\n1 more pod would fit, on 1 node.\n"
                              "  The next is told: 0/1 nodes are available: 1 Insufficient cpu."));
  EXPECT_EQ(Run(Simulate, {"--add", node, "--fill", pod, "-o=json"}), kDone);
  // The pod of 9 cores goes first.
  EXPECT_THAT(out_, HasSubstr(R"("nodes":{"n1":1,"n2":5},"pods":6})"));
  EXPECT_THAT(out_, HasSubstr(R"({"after":"n2","before":null,"pod":"default/large"})"));
}

TEST_F(OfflineCommandsTest, SimulateShowsWhatAnotherConfigurationDoesElsewhere) {
  file_ = folder_.Write("two.yaml", std::string(kCluster) + R"(---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 4, pods: 10}}}
---
apiVersion: v1
kind: Pod
metadata: {name: busy}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 2}}}]}
)");
  const std::string packed = folder_.Write(
      "packed.yaml",
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n"
      "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: "
      "MostAllocated, resources: [{name: cpu, weight: 1}]}}}], plugins: {score: {disabled: [{name: "
      "NodeResourcesBalancedAllocation}]}}}]\n");
  EXPECT_EQ(Run(Simulate, {"--new-config", packed, "-o=json"}), kDone) << err_;
  EXPECT_THAT(out_, HasSubstr(R"("pods":[{"after":"n1","before":"n2","pod":"default/fits"}]})"));
  EXPECT_EQ(Run(Simulate, {"--new-config", packed}), kDone);
  EXPECT_THAT(out_, HasSubstr("\n1 pod is elsewhere:\n"));
  file_ = folder_.Write("owned.yaml", base::ReadFile(file_).value() + R"(---
apiVersion: v1
kind: Pod
metadata: {name: owned, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u, controller: true}]}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 500m}}}]}
)");
  EXPECT_EQ(Run(Simulate, {"--new-config", packed, "-o=json"}), kDone);
  EXPECT_THAT(out_, testing::Not(HasSubstr("default/owned")));
  EXPECT_EQ(Run(Simulate, {"--new-config", packed, "--reschedule", "-o=json"}), kDone);
  EXPECT_THAT(out_, HasSubstr(R"({"after":"n1","before":"n2","pod":"default/owned"})"));
}

TEST_F(OfflineCommandsTest, SimulatePrintsATableUnlessToldOtherwise) {
  EXPECT_EQ(Run(Simulate, {}), 0);
  EXPECT_THAT(out_, StartsWith("1 of 2 pending pods placed on 1 of 1 node: "));
}

TEST_F(OfflineCommandsTest, ExplainPrintsAVerdictOfEachPendingPodByName) {
  EXPECT_EQ(Run(Explain, {"-o=json"}), 0);
  EXPECT_THAT(out_, StartsWith("{\"best\":[\"n1\"],\"nodes\":{\"n1\":{\"feasible\":true,"));
  EXPECT_THAT(out_, HasSubstr("\n{\"message\":\"0/1 nodes are available: 1 Insufficient cpu.\","));
  EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 2);
  EXPECT_THAT(err_, StartsWith("2 pods, each decided in "));
}

TEST_F(OfflineCommandsTest, ExplainOfOnePodEndsWithItsVerdict) {
  EXPECT_EQ(Run(Explain, {"--pod", "default/fits"}), kDone);
  EXPECT_THAT(out_, StartsWith("default/fits: scheduled (profile default-scheduler)\n"));
  EXPECT_THAT(out_, HasSubstr("\nDecided in "));
  EXPECT_EQ(Run(Explain, {"--pod=large"}), kNegative);
  EXPECT_THAT(out_, StartsWith("default/large: unschedulable"));
}

TEST_F(OfflineCommandsTest, PodsThatNeedWhatIsNotThereStayPendingAndSayWhy) {
  const std::vector<std::pair<std::string, std::string>> held = {
      {"claim", "persistentvolumeclaim "},
      {"ephemeral", "waiting for ephemeral volume controller to create the persistentvolumeclaim "},
      {"device", "could not find ResourceClaim \"default/gpu\""},
  };
  file_ = folder_.Write("volumes.yaml", kVolumes);
  EXPECT_EQ(Run(Simulate, {"-o", "json"}), 0);
  EXPECT_THAT(out_, HasSubstr("{\"pod\":\"default/plain\",\"node\":\"n1\"}\n"));
  EXPECT_THAT(out_, HasSubstr("{\"pod\":\"default/disk\",\"node\":\"n1\"}\n"));
  EXPECT_THAT(out_, HasSubstr("{\"summary\":{\"attempts\":5,\"bound\":3,"));
  for (const auto& [pod, reason] : held) {
    // Is not tried before there is a claim.
    if (pod == "device") continue;
    // The claim is made, but no class makes a volume for it.
    const std::string simulated =
        pod == "ephemeral" ? "pod has unbound immediate PersistentVolumeClaims" : reason;
    EXPECT_THAT(out_,
                HasSubstr("{\"pod\":\"default/" + pod +
                          "\",\"node\":null,\"message\":\"0/1 nodes are available: " + simulated));
  }
  EXPECT_EQ(Run(Explain, {"--pod=plain"}), kDone);
  for (const auto& [pod, reason] : held) {
    EXPECT_EQ(Run(Explain, {"--pod=" + pod}), kNegative);
    EXPECT_THAT(out_, HasSubstr(reason));
  }
}

TEST_F(OfflineCommandsTest, ExplainTellsWhatPreemptionWouldDoWhenAsked) {
  file_ = folder_.Write("full.yaml", kFull);
  EXPECT_EQ(Run(Explain, {"--pod=high", "-o=json"}), kNegative);
  EXPECT_THAT(out_, Not(HasSubstr("preemption")));
  EXPECT_EQ(Run(Explain, {"--pod=high", "-o=json", "--preemption"}), kNegative);
  // The one that has not started yet is the newest.
  EXPECT_THAT(out_, HasSubstr(R"("preemption":{"best":["n1"],"candidates":)"
                              R"({"n1":{"victims":["default/new"]}}})"));
  EXPECT_EQ(Run(Explain, {"--pod=low", "--preemption"}), kNegative);
  EXPECT_THAT(out_, HasSubstr("\n  preemption: 0/1 nodes are available: 1 No preemption victims "
                              "found for incoming pod.\n"));
}

TEST_F(OfflineCommandsTest, ExplainTellsWhatWouldLetAPodScheduleWhenAsked) {
  EXPECT_EQ(Run(Explain, {"--pod=large"}), kNegative);
  EXPECT_THAT(out_, Not(HasSubstr("What would let")));
  EXPECT_EQ(Run(Explain, {"--pod=large", "--fix"}), kNegative);
  EXPECT_THAT(out_, HasSubstr("\n  COST  CHANGE                           SCHEDULES ON\n"
                              "    65  pod: request cpu 4 instead of 9  n1\n"));
  EXPECT_EQ(Run(Explain, {"-o=json", "--fix"}), kDone);
  EXPECT_THAT(out_, HasSubstr(R"({"fixes":[{"changes":[{"change":"LowerRequest","from":"9",)"
                              R"("resource":"cpu","to":"4"}],"cost":65,"nodes":["n1"]}],)"
                              R"("message":"0/1 nodes)"));
  // The pod that fits has no such member.
  EXPECT_EQ(out_.find("fixes"), out_.rfind("fixes"));
}

TEST_F(OfflineCommandsTest, ExplainTellsWhatAClaimComesToOnEachNode) {
  file_ = folder_.Write("claims.yaml", kClaims);
  EXPECT_EQ(Run(Explain, {"--pod=web"}), kDone);
  EXPECT_THAT(out_,
              HasSubstr("\n  Claims, alike nodes together:\n"
                        "  NODES  CLAIM         COMES TO  KEEPS THE POD OUT                    "
                        "                     "
                        "EXAMPLES\n"
                        "      1  default/data  pv-1      -                                    "
                        "                     "
                        "n1\n"
                        "      1  default/data  -         node(s) didn't find available "
                        "persistent volumes to bind  "
                        "n2\n"));
  EXPECT_EQ(Run(Explain, {"--pod=web", "-o=json"}), kDone);
  EXPECT_THAT(out_, Not(HasSubstr("claims")));
  EXPECT_EQ(Run(Explain, {"--pod=web", "-o=json", "--claims"}), kDone);
  EXPECT_THAT(out_,
              HasSubstr(R"("n1":{"claims":[{"claim":"default/data","volume":"pv-1"}],"feasible")"));
  EXPECT_THAT(out_,
              HasSubstr(R"("n2":{"claims":[{"claim":"default/data","problem":"node(s) didn't )"
                        R"(find available persistent volumes to bind"}],"code":)"));
}

TEST_F(OfflineCommandsTest, SimulateBindsClaimsAsAClusterWould) {
  file_ = folder_.Write("claims.yaml", kClaims);
  EXPECT_EQ(Run(Simulate, {"-o", "json"}), kDone);
  EXPECT_THAT(out_, HasSubstr("{\"pod\":\"default/web\",\"node\":\"n1\"}\n"));
}

TEST_F(OfflineCommandsTest, PackingCountsThePendingPodsOfTheConfigurationsProfiles) {
  EXPECT_EQ(Run(Packing, {}), kDone);
  EXPECT_THAT(out_, StartsWith("1 node in 1 node pool; 1 pod placed, 2 pending.\n"));
  // No placed pod requests anything, so none is typical.
  EXPECT_THAT(out_, HasSubstr("\n-        1       0     1         1             -  -\n"));
  EXPECT_THAT(
      out_,
      HasSubstr("\n-     cpu               0   4    0 %         0             4            -\n"));
  const std::string config =
      folder_.Write("config.yaml",
                    "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration,"
                    " profiles: [{schedulerName: another}]}");
  EXPECT_EQ(Run(Packing, {"-o", "json", "--config", config}), kDone);
  EXPECT_THAT(out_, StartsWith("{\"nodes\":1,\"pods\":1,\"pendingPods\":0,\"nodePools\":["));
}

TEST_F(OfflineCommandsTest, BadInputIsToldOnStandardErrorAndEndsWithTwo) {
  const struct {
    int (*command)(const Arguments&, const std::string&, const InTreePlugins&);
    Arguments arguments;
    bool with_cluster;
    std::string want;
  } cases[] = {
      {Simulate, {}, false, "which cluster? Name a dump with --cluster, or a live one"},
      {Explain, {}, false, "or a live one with --kubeconfig;"},
      {Explain, {"--kubeconfig=k"}, true, "--cluster and --kubeconfig exclude each other"},
      {Explain, {"--kubeconfig=/no/such/file"}, false, "/no/such/file"},
      {Packing, {}, false, "or a live one with --kubeconfig;"},
      {Packing, {"--pod=fits"}, true, "unknown flag: --pod"},
      {Ui, {}, false, "or a live one with --kubeconfig, or a recording with --recording;"},
      {Ui, {"--recording=r"}, true, "--cluster, --kubeconfig and --recording exclude each other"},
      {Ui, {"--recording=/no/such/folder"}, false, "/no/such/folder"},
      {Ui, {"--port=65536"}, true, "must be between 0 and 65535"},
      {Ui, {"--output=json"}, true, "unknown flag: --output"},
      {Ui, {"--cluster=/no/such/file"}, false, "/no/such/file"},
      {Simulate, {"--kubeconfig=k"}, true, "--cluster and --kubeconfig exclude each other"},
      {Simulate, {"--drain=n9"}, true, "--drain: the cluster has no node n9"},
      {Simulate, {"--remove-node=n9"}, true, "--remove-node: the cluster has no node n9"},
      {Simulate, {"--add-nodes=2", "--like=n9"}, true, "--like: the cluster has no node n9"},
      {Simulate, {"--add-nodes=2"}, true, "--add-nodes: like which? Name a node with --like"},
      {Simulate, {"--like=n1"}, true, "--like goes with --add-nodes"},
      {Simulate, {"--scale=web=2"}, true, "must be NAMESPACE/KIND/NAME=N"},
      {Simulate, {"--scale=a/Job/b=2"}, true, "--scale: no pod of Job a/b is there to be copied"},
      {Simulate, {"--fill=/no/such/file"}, true, "open /no/such/file"},
      {Simulate, {"--fill=" + file_}, true, "must hold one pod"},
      {Simulate, {"--new-config=/no/such/file"}, true, "open /no/such/file"},
      {Explain, {"--drain=n1"}, true, "unknown flag: --drain"},
      {Simulate, {"--cluster=/no/such/file"}, true, "open /no/such/file"},
      {Simulate, {"--config=/no/such/file"}, true, "open /no/such/file"},
      {Simulate, {"--feature-gates=Nope=true"}, true, "unrecognized feature gate: Nope"},
      {Simulate, {"more"}, true, "unexpected argument \"more\""},
      {Simulate, {"-oyaml"}, true, "must be table or json"},
      {Simulate, {"--seed=-1"}, true, "--seed"},
      {Explain, {"--pod=nope"}, true, "--pod: the cluster has no pod default/nope"},
      {Explain, {"--pod=there"}, true, "default/there is not pending: it is on node n1"},
      {Explain, {"--pod=a/b/c"}, true, "must be namespace/name"},
      {Explain,
       {"--daemon=https://h:1", "--fix"},
       false,
       "--daemon: --fix, --preemption and --claims of which pod? Name it with --pod"},
      {Explain, {"--daemon=https://h:1", "--pod=p"}, true, "--cluster and --daemon exclude"},
      {Explain, {"--daemon=http://h:1", "--pod=p"}, false, "--daemon: must be an https:// URL"},
      {Explain, {"--token=t"}, true, "--token goes with --daemon"},
      {Explain,
       {"--daemon=https://h:1", "--pod=p", "--client-key=k"},
       false,
       "--client-certificate and --client-key go together"},
      {Explain,
       {"--daemon=https://127.0.0.1:1", "--pod=p", "--token=t"},
       false,
       "https://127.0.0.1:1: "},
      {Why, {}, false, "which pod?"},
      {Why, {"a/b/c"}, false, "POD: must be namespace/name"},
      {Why, {"a", "b"}, false, "unexpected argument \"b\""},
      {Why, {"--cluster=c", "a"}, false, "unknown flag: --cluster"},
      {Why, {"--kubeconfig=/no/such/file", "a"}, false, "/no/such/file"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.want);
    EXPECT_EQ(Run(c.command, c.arguments, c.with_cluster), kBadInput);
    EXPECT_EQ(out_, "");
    EXPECT_THAT(err_, StartsWith("Error: "));
    EXPECT_THAT(err_, HasSubstr(c.want));
  }
}

TEST_F(OfflineCommandsTest, HelpListsTheFlags) {
  EXPECT_EQ(Run(Explain, {"--help"}, false), 0);
  for (const char* flag : {"--cluster", "--kubeconfig", "--pod", "--config", "--feature-gates",
                           "--seed", "-o,--output", "-h,--help"}) {
    EXPECT_THAT(out_, HasSubstr(flag));
  }
  EXPECT_EQ(Run(Simulate, {"-h"}, false), 0);
  EXPECT_THAT(out_, testing::Not(HasSubstr("--pod")));
}

TEST(OfflineFlagsTest, ClustersRepeatAndAPodWithoutANamespaceIsInDefault) {
  const auto flags =
      ParseOfflineFlags(OfflineCommand::kExplain,
                        {"--cluster=a", "--cluster", "b", "--pod", "web", "--seed", "7", "-ojson",
                         "--v=3", "--feature-gates=A=true", "--feature-gates=B=true", "--config=c"},
                        "berth explain");
  ASSERT_TRUE(flags);
  EXPECT_THAT(flags->clusters, ElementsAre("a", "b"));
  EXPECT_EQ(flags->pod, "default/web");
  EXPECT_EQ(flags->seed, 7u);
  EXPECT_EQ(flags->output, OutputFormat::kJson);
  EXPECT_EQ(flags->run.log.verbosity, 3);
  EXPECT_THAT(flags->run.feature_gates, ElementsAre("A=true", "B=true"));
  EXPECT_EQ(flags->run.config, "c");
}

}  // namespace
}  // namespace berth::app
