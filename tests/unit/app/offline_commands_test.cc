// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "src/app/commands/commands.h"
#include "src/app/daemon/in_tree_plugins.h"
#include "src/app/flags/offline_flags.h"
#include "src/base/file.h"
#include "tests/support/test_server.h"
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

constexpr const char* kReadCluster = "Read 1 node, 3 pods (2 pending).\n";

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

// Runs a command on a cluster file and keeps what it printed. No kubeconfig is there.
class OfflineCommandsTest : public testing::Test {
 protected:
  OfflineCommandsTest() { setenv("KUBECONFIG", (file_ + ".missing").c_str(), 1); }

  int Run(CommandFunction* command, Arguments arguments, bool with_cluster = true) {
    if (with_cluster) arguments.insert(arguments.begin(), {"--cluster", file_});
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = command(arguments, "berth test", FindInTreePlugins());
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    TakeVersions();
    return code;
  }
  void ExpectRefused(const std::string& want, CommandFunction* command, Arguments arguments,
                     bool with_cluster = true) {
    EXPECT_EQ(Run(command, std::move(arguments), with_cluster), kBadInput) << want;
    EXPECT_THAT(err_, HasSubstr(want));
  }
  // Out of the documents printed, so that tests need not name it; the version is theirs to count.
  void TakeVersions() {
    versions_ = 0;
    for (const std::string version :
         {R"("apiVersion":"berth.dev/v1",)", "apiVersion: berth.dev/v1\n"}) {
      for (size_t at = 0; (at = out_.find(version, at)) != std::string::npos; ++versions_) {
        out_.erase(at, version.size());
      }
    }
  }

  test::TempFolder folder_;
  std::string file_ = folder_.Write("cluster.yaml", kCluster);
  std::string out_;
  std::string err_;
  size_t versions_ = 0;
};

TEST_F(OfflineCommandsTest, SimulatePrintsDecisionsInOrderAndASummaryLast) {
  EXPECT_EQ(Run(Simulate, {"-o", "json"}), 0);
  EXPECT_THAT(out_, StartsWith("{\"pod\":\"default/fits\",\"node\":\"n1\"}\n"
                               "{\"pod\":\"default/large\",\"node\":null,\"message\":\"0/1 nodes "
                               "are available: 1 Insufficient cpu."));
  EXPECT_THAT(out_, HasSubstr("\n{\"summary\":{\"attempts\":2,\"bound\":1,"));
  EXPECT_EQ(err_, kReadCluster);
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
  EXPECT_THAT(out_, HasSubstr("gated       default/x-0  waiting for pods's pod group \"gone\" to "
                              "appear in scheduling queue\n"));
  EXPECT_THAT(out_, testing::Not(HasSubstr("default/small")));
  EXPECT_EQ(Run(Simulate, {}), kDone);
  EXPECT_THAT(out_, testing::Not(HasSubstr("pod groups"))) << "without the gate there are none";
}

TEST_F(OfflineCommandsTest, ExplainTellsWhatAPodsGroupLacks) {
  file_ = folder_.Write("groups.yaml", kPodGroups);
  const std::vector<std::string> flags = {"--feature-gates", "GenericWorkload=true", "--pod",
                                          "l-0"};
  EXPECT_EQ(Run(Explain, flags), kNegative);
  EXPECT_THAT(out_, StartsWith("default/l-0: waits for its pod group, though a node is feasible "
                               "for it (profile default-scheduler)\n"));
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
  EXPECT_EQ(Run(Explain, {"--feature-gates", "GenericWorkload=true", "--pod", "l-0", "-o", "json"}),
            kNegative);
  const auto held = nlohmann::json::parse(out_);
  EXPECT_EQ(held["result"], "scheduled") << "of the pod alone";
  EXPECT_EQ(held["podGroup"]["holdsPod"], true);
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
      {"profilez: []",
       "config.yaml: strict decoding error: unknown field \"profilez\"; did you mean "
       "\"profiles\"?"},
      {"profiles: [{plugins: {score: {enabled: [{name: X}]}}}]",
       "config.yaml: initializing profiles: creating profile for scheduler name default-scheduler: "
       "ScorePlugin \"X\" does not exist"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.body);
    ExpectRefused(c.want, ShowConfig, {"--config", with_body(c.body)}, false);
    EXPECT_EQ(out_, "");
  }
  EXPECT_EQ(Run(ShowConfig, {"--feature-gates=Foo=true"}, false), kBadInput);
  EXPECT_EQ(Run(ShowConfig, {"-o=xml"}, false), kBadInput);
  EXPECT_EQ(Run(ShowConfig, {"foo"}, false), kBadInput);
}

TEST_F(OfflineCommandsTest, SimulateTellsWhatDiffersFromToday) {
  EXPECT_EQ(Run(Simulate, {"--add-nodes=1", "--like=n1", "-o=json"}), kDone);
  EXPECT_THAT(out_, StartsWith(R"({"after":{"evicted":0,"memory":)"));
  EXPECT_THAT(
      out_,
      HasSubstr(
          R"("nodes":2,"pending":1,"pods":3,"usedNodes":1,"usedNodesLowerBound":1},"before":{"evicted":0,)"));
  EXPECT_THAT(out_, HasSubstr(R"("evictedBefore":[],"now":{"evicted":0,)"));
  EXPECT_THAT(out_, HasSubstr(R"("pods":[]})"));
  EXPECT_EQ(Run(Simulate, {"--drain=n1"}), kDone);
  EXPECT_THAT(out_,
              StartsWith("        NODES  USED  AT LEAST  PODS  PENDING  EVICTED  CPU  STRANDED  "
                         "MEMORY  STRANDED\n"
                         "now         1     1         1     3        2        0   0%         0     "
                         "  -         0\n"
                         "placed      1     1         1     3        1        0  25%         0     "
                         "  -         0\n"));
  EXPECT_THAT(out_, HasSubstr("  is lost: default/there, which no controller makes again\n"));
  EXPECT_EQ(Run(Simulate, {"--remove-node=n1"}), kDone);
  EXPECT_THAT(out_, HasSubstr("default/fits   n1      -"));
  EXPECT_EQ(err_, kReadCluster);
}

// The second pod's first attempt binds the volume that the first one's has changed.
TEST_F(OfflineCommandsTest, AttemptsThatAreRepeatedAreNoPartOfAnAnswer) {
  const std::string add = folder_.Write("volumes.yaml", R"(---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv1}
spec: {capacity: {storage: 10Gi}, accessModes: [ReadWriteOnce], storageClassName: local, local: {path: /x}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1]}]}]}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c1}
spec: {accessModes: [ReadWriteOnce], storageClassName: local, resources: {requests: {storage: 5Gi}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p1}, spec: {containers: [{name: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: c1}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p7}, spec: {containers: [{name: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: c1}}]}}
)");
  file_ = folder_.Write("node.yaml", R"(
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {cpu: 4, pods: 110}}
)");
  EXPECT_EQ(Run(Simulate, {"--add", add}), kDone);
  EXPECT_THAT(out_, HasSubstr("\ndefault/p7  -       n1"));
  EXPECT_THAT(err_, Not(HasSubstr("Error scheduling pod")));
  EXPECT_EQ(Run(Simulate, {"--add", add, "-v=0"}), kDone);
  EXPECT_THAT(err_, HasSubstr("Error scheduling pod"));
}

TEST_F(OfflineCommandsTest, NoControlCharacterReachesTheTerminal) {
  file_ = folder_.Write("controls.json", R"({"apiVersion": "v1", "kind": "List", "items": [
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n\u001b[31m1", "labels": {"node.kubernetes.io/instance-type": "x\u0007"}}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}},
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p\u001b]0;x\u0007\nq\u009b\u007f"}, "spec": {"containers": [{"name": "c"}]}},
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "gone\u001b"}, "spec": {"nodeName": "no\u001b", "containers": [{"name": "c"}]}},
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "big\u001b"}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "40"}}}]}}
]})");
  const std::pair<CommandFunction*, Arguments> questions[] = {
      {Simulate, {}},
      {Simulate, {"--drain", "n\x1B[31m1"}},
      {Explain, {}},
      {Explain, {"--fix", "--preemption"}},
      {Explain, {"x\x1By"}},
      {Packing, {}},
      {Plan, {"--goal=pending"}},
      {Plan, {"--goal=empty=x\x1By"}},
  };
  for (const auto& [command, arguments] : questions) {
    (void)Run(command, arguments);
    for (const std::string& text : {out_, err_}) {
      for (const char* control : {"\x1B", "\x07", "\x7F", "\xC2\x9B"}) {
        EXPECT_THAT(text, Not(HasSubstr(control)));
      }
    }
    EXPECT_THAT(out_ + err_, HasSubstr("\\x1b"));
  }
}

TEST_F(OfflineCommandsTest, OnlyEvictedPodsOfTheNamespaceAreNamed) {
  file_ = folder_.Write("evicted.yaml", R"(---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 1}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: low, namespace: a}, spec: {nodeName: n1, priority: -1, containers: [{name: c}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: high, namespace: b}, spec: {priority: 5, containers: [{name: c}]}}
)");
  EXPECT_EQ(Run(Simulate, {}), kDone);
  EXPECT_THAT(out_, HasSubstr("\n1 pod evicted to make room: a/low\n"));
  EXPECT_EQ(Run(Simulate, {"-n=a"}), kDone);
  EXPECT_THAT(out_, HasSubstr("\n1 pod evicted to make room: a/low\n"));
  EXPECT_EQ(Run(Simulate, {"-n=b"}), kDone);
  EXPECT_THAT(out_, HasSubstr("\n1 pod evicted to make room, 0 of namespace b\n"));
}

TEST_F(OfflineCommandsTest, ADrainCountsThePodsOfOtherNamespaces) {
  file_ = folder_.Write("drained.yaml", R"(---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}}}
---
apiVersion: v1
kind: Pod
metadata: {name: owned, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u, controller: true}]}
spec: {nodeName: n1, containers: [{name: c}]}
---
{apiVersion: v1, kind: Pod, metadata: {name: alone}, spec: {nodeName: n1, containers: [{name: c}]}}
)");
  EXPECT_EQ(Run(Simulate, {"-n=other", "--drain=n1", "-o=json"}), kNegative);
  EXPECT_THAT(out_, HasSubstr(R"("drained":[{"fitNowhere":[],"moved":[],"node":"n1",)"
                              R"("otherNamespaces":{"fitNowhere":1,"moved":0,"stopped":0,)"
                              R"("unmanaged":1,"withEmptyDir":0},"stopped":[])"));
  EXPECT_EQ(Run(Simulate, {"-n=other", "--drain=n1"}), kNegative);
  EXPECT_THAT(out_, HasSubstr("\n  of other namespaces 1 fits nowhere, 1 is lost\n"));
  EXPECT_EQ(Run(Simulate, {"-n=default", "--drain=n1"}), kNegative);
  EXPECT_THAT(out_, Not(HasSubstr("other namespaces")));
}

TEST_F(OfflineCommandsTest, OfAPodThatHasEndedThatIsTold) {
  file_ = folder_.Write("ended.yaml", std::string(kCluster) + R"(---
{apiVersion: v1, kind: Pod, metadata: {name: done}, spec: {nodeName: n1}, status: {phase: Succeeded}}
---
{apiVersion: v1, kind: Pod, metadata: {name: broken}, status: {phase: Failed}}
)");
  ExpectRefused("pod default/done has ended (Succeeded): ", Explain, {"done"});
  ExpectRefused("pod default/broken has ended (Failed): ", Explain, {"--pod=broken"});
  ExpectRefused("pod default/broken has ended (Failed): ", Plan, {"--goal=fit=broken"});
  ExpectRefused("the cluster has no pod default/gone", Explain, {"gone"});
}

TEST_F(OfflineCommandsTest, TheWordForPodsOrNodesMayBeInAnyCase) {
  for (const Arguments& named :
       {Arguments{"Pod/fits"}, {"PODS/fits"}, {"Pod", "fits"}, {"--pod", "Po/fits"}}) {
    EXPECT_EQ(Run(Explain, named), kDone) << err_;
    EXPECT_THAT(out_, StartsWith("default/fits: scheduled"));
  }
  EXPECT_EQ(Run(Plan, {"--goal=fit=Pod/fits"}), kDone) << err_;
  EXPECT_EQ(Run(Simulate, {"--cordon=Node/n1", "--add-nodes=1", "--like=NODE/n1"}), kDone) << err_;
}

TEST_F(OfflineCommandsTest, ANodeMayBeNamedAsToKubectl) {
  EXPECT_EQ(Run(Simulate, {"--cordon", "node/n1", "--drain", "nodes/n1,no/n1", "-o=json"}), kDone);
  EXPECT_THAT(out_, HasSubstr(R"("node":"n1")"));
  EXPECT_EQ(Run(Simulate, {"--cordon", "node/"}), kBadInput);
  ExpectRefused("--commands goes with --fix", Explain, {"--commands"});
}

TEST_F(OfflineCommandsTest, NodesAreNamedOneByOneOrInAList) {
  EXPECT_EQ(Run(Simulate, {"--add-nodes=2", "--like=n1", "--drain=n1-like-1,n1-like-2",
                           "--drain=n1", "-o=json"}),
            kDone);
  ExpectRefused("--remove-node: the cluster has no node n9", Simulate, {"--remove-node=n1,n9"});
  for (const char* flag : {"--remove-node", "--drain", "--cordon"}) {
    EXPECT_EQ(Run(Simulate, {flag, "n1,node/n1", flag, "n1"}), kDone) << err_;
    EXPECT_EQ(out_.find("Drain of n1"), out_.rfind("Drain of n1")) << out_;
  }
  EXPECT_EQ(Run(Simulate, {"--drain=n1,"}), kBadInput);
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

TEST_F(OfflineCommandsTest, WhatAFillLeavesOutIsTold) {
  const std::string node = "{apiVersion: v1, kind: Node, metadata: {name: n2}}\n---\n";
  const std::string pod =
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}]}}\n";
  const std::string set =
      "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {selector: "
      "{matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: "
      "c}]}}}}\n";
  const std::string warning = ": without 1 other object, which --add would bring\n";
  for (const std::string& alone : {pod, set}) {
    EXPECT_EQ(Run(Simulate, {"--fill", folder_.Write("fill.yaml", alone)}), kDone) << err_;
    EXPECT_THAT(err_, Not(HasSubstr(warning)));
    EXPECT_EQ(Run(Simulate, {"--fill", folder_.Write("fill.yaml", node + alone)}), kDone) << err_;
    EXPECT_THAT(err_, HasSubstr(warning));
  }
}

TEST_F(OfflineCommandsTest, TheStandardInputIsOfOneFlag) {
  ExpectRefused(
      "the standard input (-) can be read once only, and --cluster and --add both name it",
      Simulate, {"--cluster=-", "--add=-"}, false);
  ExpectRefused("--cluster and --fill both name it", Simulate,
                {"--cluster", file_ + ",-", "--fill=-"}, false);
  ExpectRefused("--add and --fill both name it", Simulate, {"--add=-", "--fill=-"});
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
                              "  The next one: 0/1 nodes are available: 1 Insufficient cpu."));
  EXPECT_EQ(Run(Simulate, {"--add", node, "--fill", pod, "-o=json"}), kDone);
  // The pod of 9 cores goes first.
  EXPECT_THAT(out_, HasSubstr(R"("nodes":{"n1":1,"n2":5},"pods":6})"));
  EXPECT_THAT(out_, HasSubstr(R"({"after":"n2","before":null,"pod":"default/large"})"));
}

TEST_F(OfflineCommandsTest, AnAddedPodMayBeOnANodeOfTheCluster) {
  const std::string pod = folder_.Write(
      "pod.json",
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"nodeName":"n1",
          "containers":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]}})");
  EXPECT_EQ(Run(Simulate, {"--add", pod, "-o=json"}), kDone);
  EXPECT_THAT(out_, HasSubstr(R"({"after":"n1","pod":"default/x"})"));
  const std::string elsewhere =
      folder_.Write("elsewhere.json", R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},
                            "spec":{"nodeName":"n9"}})");
  ExpectRefused("--add: default/x: spec.nodeName: Not found: \"n9\"", Simulate,
                {"--add", elsewhere});
}

// As of a chart's output.
TEST_F(OfflineCommandsTest, WhatIsAddedIsSaidAndWhatIsNotToo) {
  const std::string map = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: m}}\n";
  const std::string chart = folder_.Write(
      "chart.yaml", map + "---\n{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {}}\n");
  EXPECT_EQ(Run(Simulate, {"--add", chart}), kDone);
  EXPECT_EQ(err_, std::string(kReadCluster) +
                      "In the question: 0 nodes, 1 pod (1 pending); skipped 1 ConfigMap.\n");
  EXPECT_EQ(Run(Simulate, {"--add", folder_.Write("none.yaml", map)}), kBadInput);
  EXPECT_EQ(err_, std::string(kReadCluster) +
                      "Error: --add: nothing that scheduling reads is there: 0 nodes, 0 pods; "
                      "skipped 1 ConfigMap\n");
  const std::string empty = folder_.Write(
      "empty.yaml", "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}\n");
  EXPECT_EQ(Run(Simulate, {"--add", empty}), kBadInput);
  EXPECT_EQ(err_, std::string(kReadCluster) + "Error: --add: " + empty +
                      ":2: document 1: Deployment default/d: spec.template.spec.containers: "
                      "Required value\n");
}

TEST_F(OfflineCommandsTest, WhatAQuestionRefersToAndIsNotThereIsNamed) {
  file_ = folder_.Write("cluster.yaml", std::string(kCluster) +
                                            "---\n{apiVersion: v1, kind: Namespace, metadata: "
                                            "{name: default}}\n");
  const std::string add = folder_.Write("add.yaml", R"(---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: shop}
spec:
  containers: [{name: c}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: gone}}]
  resourceClaims: [{name: g, resourceClaimTemplateName: gpus}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  template: {spec: {containers: [{name: c}]}}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: fast}}]
)");
  EXPECT_EQ(Run(Simulate, {"--add", add}), kDone);
  EXPECT_THAT(err_,
              HasSubstr("Warning: Namespaces of pods were not read: shop; an API server "
                        "would refuse what is to be in them\n"
                        "Warning: PersistentVolumeClaims of pods were not read: shop/gone; "));
  EXPECT_THAT(err_, HasSubstr("Warning: StorageClasses of claims were not read: fast; "));
  EXPECT_THAT(err_, HasSubstr("Warning: ResourceClaimTemplates of pods were not read: shop/gpus"));
}

TEST_F(OfflineCommandsTest, ANamespaceIsThatOfWhatAQuestionNamesWithoutOne) {
  const std::string pod = folder_.Write(
      "pod.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{}]}}\n");
  EXPECT_EQ(Run(Simulate, {"-n", "shop", "--add", pod, "-o=json"}), kDone);
  EXPECT_THAT(out_, HasSubstr(R"({"after":"n1","pod":"shop/p"})"));
  ExpectRefused("--scale: no pod of Deployment shop/web is there", Simulate,
                {"-n", "shop", "--scale", "deploy/web=2"});
}

TEST_F(OfflineCommandsTest, AStoredWorkloadWithoutPodsScalesByItsTemplate) {
  file_ = folder_.Write("cluster.yaml", std::string(kCluster) + R"(---
apiVersion: apps/v1
kind: Deployment
metadata: {name: idle, namespace: shop, uid: u}
spec:
  replicas: 0
  selector: {matchLabels: {app: idle}}
  template:
    metadata: {labels: {app: idle}, annotations: {a: hush}}
    spec: {runtimeClassName: kata, containers: [{name: c, env: [{name: A, value: hush}]}]}
)");
  const auto expect_scaled = [this] {
    EXPECT_EQ(Run(Simulate, {"--scale", "shop/deploy/idle=1", "-o=json"}), kDone);
    EXPECT_THAT(out_, HasSubstr(R"({"after":"n1","pod":"shop/idle-new-0"})"));
  };
  expect_scaled();
  EXPECT_EQ(Run(Dump, {}), kDone);
  const std::string dump = out_;
  EXPECT_THAT(dump, Not(HasSubstr("hush")));
  EXPECT_THAT(dump, HasSubstr(R"("selector":{"matchLabels":{"app":"idle"}})"));
  EXPECT_THAT(dump, HasSubstr(R"("runtimeClassName":"kata")"));
  file_ = folder_.Write("dump.json", dump);
  expect_scaled();
  EXPECT_EQ(Run(Dump, {}), kDone);
  EXPECT_EQ(out_, dump);
  EXPECT_THAT(err_, Not(HasSubstr("unknown field")));
}

TEST_F(OfflineCommandsTest, AChartIsExpandedWhereverItStands) {
  const std::string chart = folder_.Write("chart.yaml", R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: gold}
value: 5
---
apiVersion: batch/v1
kind: Job
metadata: {name: sum}
spec:
  parallelism: 2
  template: {spec: {priorityClassName: gold, containers: [{name: c, resources: {limits: {cpu: "3"}}}]}}
)");
  EXPECT_EQ(Run(Simulate, {"--add", chart, "-o=json"}), kDone);
  EXPECT_EQ(err_,
            std::string(kReadCluster) + "In the question: 0 nodes, 0 pods; expanded 1 Job.\n");
  EXPECT_THAT(out_, HasSubstr(R"("pod":"default/sum-new-0")"));
  EXPECT_THAT(out_, HasSubstr(R"("pod":"default/sum-new-1")"));
  const std::string answer = out_;
  const int kept = dup(STDIN_FILENO);
  ASSERT_NE(std::freopen(chart.c_str(), "r", stdin), nullptr);
  EXPECT_EQ(Run(Simulate, {"--add", "-", "-o=json"}), kDone) << err_;
  EXPECT_EQ(out_, answer);
  dup2(kept, STDIN_FILENO);
  close(kept);
  EXPECT_EQ(Run(Simulate, {"--fill", chart, "-o=json"}), kDone);
  EXPECT_THAT(out_,
              HasSubstr(R"("filled":{"message":"0/1 nodes are available: 1 Insufficient cpu.)"));
  EXPECT_EQ(Run(Explain, {"--cluster", chart, "--pod", "default/sum-new-1"}), kDone);
  EXPECT_THAT(err_, HasSubstr("; expanded 1 Job.\n"));
}

// What the cluster has, or the chart brings.
constexpr const char* kAdmission = R"(---
apiVersion: v1
kind: LimitRange
metadata: {name: limits, namespace: shop, uid: l}
spec: {limits: [{type: Container, defaultRequest: {cpu: 1500m}}]}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata
overhead: {podFixed: {cpu: 500m}}
scheduling: {nodeSelector: {sandbox: kata}, tolerations: [{key: sandbox, operator: Exists}]}
)";
constexpr const char* kSandboxes = R"(---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {sandbox: kata}}
spec: {taints: [{key: sandbox, effect: NoSchedule}]}
status: {allocatable: {cpu: 5, pods: 10}}
)";
constexpr const char* kSandboxed = R"(---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {runtimeClassName: kata, containers: [{name: c}]}
)";

TEST_F(OfflineCommandsTest, ManifestsAreAdmittedByWhatTheClusterOrTheyThemselvesHold) {
  const std::string with = std::string(kCluster) + kSandboxes + kAdmission;
  const std::string without = std::string(kCluster) + kSandboxes;
  const std::string cluster = folder_.Write("with.yaml", with);
  const std::string bare = folder_.Write("without.yaml", without);
  const std::string pods = folder_.Write("pods.yaml", kSandboxed);
  const std::string chart = folder_.Write("chart.yaml", std::string(kAdmission) + kSandboxed);
  // Each takes 1.5 and 0.5 cpu of the one node that its class names.
  const auto placed = [this] {
    size_t count = 0;
    for (size_t at = 0; (at = out_.find(R"("after":"n2")", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  for (const auto& [in, what] : {std::pair(cluster, pods), {bare, chart}}) {
    SCOPED_TRACE(in);
    file_ = in;
    EXPECT_EQ(Run(Simulate, {"--add", what, "-o=json"}), kDone);
    EXPECT_EQ(placed(), 2u) << out_;
    EXPECT_THAT(err_, Not(HasSubstr("Warning")));
    EXPECT_EQ(Run(Simulate, {"--fill", what, "-o=json"}), kDone);
    EXPECT_THAT(out_, HasSubstr(R"("nodes":{"n2":2},"pods":2})"));
    EXPECT_EQ(Run(Simulate, {"--cluster", what, "-o=json"}), kDone);
    EXPECT_THAT(out_, HasSubstr(R"({"pod":"shop/web-new-1","node":"n2"})"));
    EXPECT_THAT(out_, HasSubstr(R"({"pod":"shop/web-new-2","node":null)"));
    EXPECT_THAT(err_, Not(HasSubstr("Warning")));
  }
  // Of the chart without its class.
  EXPECT_EQ(Run(Simulate, {"--add", pods, "-o=json"}), kDone);
  EXPECT_EQ(placed(), 0u);
  constexpr const char* kMissing =
      "Warning: RuntimeClasses of manifests were not read: kata; their pods have no overhead, node "
      "selector or tolerations of them\n";
  EXPECT_THAT(err_, HasSubstr(kMissing));
  EXPECT_EQ(Run(Simulate, {"--cluster", pods}), kDone);
  EXPECT_THAT(err_, HasSubstr(kMissing));
}

// An API server would not take the pod.
TEST_F(OfflineCommandsTest, APodAgainstItsRuntimeClassIsNoQuestion) {
  const std::string cluster = folder_.Write("with.yaml", std::string(kCluster) + kAdmission);
  const std::string pod = folder_.Write("pod.yaml", R"(
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {runtimeClassName: kata, nodeSelector: {sandbox: gvisor}, containers: [{name: c}]}
)");
  constexpr const char* kProblem =
      R"(default/p: spec.nodeSelector: Invalid value: "sandbox=gvisor": RuntimeClass "kata" has )"
      R"("sandbox=kata")";
  file_ = cluster;
  ExpectRefused(std::string("Error: --add: ") + kProblem + "\n", Simulate, {"--add", pod});
  EXPECT_EQ(Run(Simulate, {"--cluster", pod}), kDone);
  EXPECT_THAT(err_,
              HasSubstr(std::string("Warning: pod ") + kProblem + "; the pod's own counts\n"));
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

// One of two pods fits: by either configuration that which has waited for longer, or of manifests
// the one that stands first.
TEST_F(OfflineCommandsTest, TheSameConfigurationMovesNoPodWhateverTheirNames) {
  const std::string config = folder_.Write(
      "config.yaml",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n");
  const auto pod = [](const std::string& metadata) {
    return "---\n{apiVersion: v1, kind: Pod, metadata: " + metadata +
           ", spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}\n";
  };
  const std::string node =
      "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 1, pods: "
      "9}}}\n";
  for (const std::string& pods :
       {pod("{name: a, uid: a, creationTimestamp: '2026-01-01T00:00:09Z'}") +
            pod("{name: b, uid: b, creationTimestamp: '2026-01-01T00:00:02Z'}"),
        pod("{name: b}") + pod("{name: a}")}) {
    SCOPED_TRACE(pods);
    file_ = folder_.Write("two.yaml", node + pods);
    EXPECT_EQ(Run(Simulate, {"-ojson"}), kDone);
    EXPECT_THAT(out_, StartsWith(R"({"pod":"default/b","node":"n1"})"));
    EXPECT_EQ(Run(Simulate, {"--new-config", config}), kDone);
    EXPECT_THAT(out_, HasSubstr("\nNo pod is elsewhere.\n"));
  }
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
  EXPECT_THAT(err_, StartsWith(std::string(kReadCluster) + "2 pods, each decided in "));
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
      // The claim is made, but no class makes a volume for it.
      {"ephemeral", "pod has unbound immediate PersistentVolumeClaims"},
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
    EXPECT_THAT(out_,
                HasSubstr("{\"pod\":\"default/" + pod +
                          "\",\"node\":null,\"message\":\"0/1 nodes are available: " + reason));
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
  EXPECT_THAT(out_, HasSubstr(R"("changes":[{"change":"LowerRequest","from":"9",)"
                              R"("resource":"cpu","to":"4"}],"cost":65,"nodes":["n1"]}],)"
                              R"("message":"0/1 nodes)"));
  // The pod that fits has no such member.
  EXPECT_EQ(out_.find("fixes"), out_.rfind("fixes"));
  EXPECT_EQ(Run(Explain, {"--fix", "--commands"}), kDone);
  EXPECT_THAT(out_, HasSubstr("\n# pod: request cpu 4 instead of 9\nkubectl patch pod large -n "
                              "default -p '{\"spec\":"));
}

TEST_F(OfflineCommandsTest, ExplainSaysWhatAClaimGetsOnEachNode) {
  file_ = folder_.Write("claims.yaml", kClaims);
  EXPECT_EQ(Run(Explain, {"--pod=web"}), kDone);
  EXPECT_THAT(out_, HasSubstr("\n  Claims, alike nodes together:\n"
                              "  NODES  CLAIM         GETS  KEEPS THE POD OUT                    "
                              "                     "
                              "EXAMPLES\n"
                              "      1  default/data  pv-1  -                                    "
                              "                     "
                              "n1\n"
                              "      1  default/data  -     node(s) didn't find available "
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

// Each of the pods needs what a controller does first; "%" stands for a uid.
constexpr const char* kUncontrolled = R"(---
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: a}}, status: {allocatable: {cpu: 4, pods: 9}}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: csi, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: csi.example.com
volumeBindingMode: WaitForFirstConsumer
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv%}, spec: {capacity: {storage: 10Gi},
 accessModes: [ReadWriteOnce], storageClassName: local}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: static%}, spec: {accessModes: [ReadWriteOnce],
 storageClassName: local, resources: {requests: {storage: 5Gi}}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: plain%}, spec: {accessModes: [ReadWriteOnce],
 resources: {requests: {storage: 5Gi}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: volume%}, spec: {containers: [{name: c}],
 volumes: [{name: v, persistentVolumeClaim: {claimName: static}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: class%}, spec: {containers: [{name: c}],
 volumes: [{name: v, persistentVolumeClaim: {claimName: plain}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: ephemeral%}, spec: {containers: [{name: c}], volumes: [{name: v,
 ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]}}
)";

TEST_F(OfflineCommandsTest, ExplainJudgesManifestsOnceControllersHaveSeenThem) {
  const auto write = [this](bool stored) {
    std::string text = kUncontrolled;
    for (size_t uid = 1, at = 0; (at = text.find('%', at)) != std::string::npos; ++uid)
      text.replace(at, 1, stored ? ", uid: u" + std::to_string(uid) : "");
    file_ = folder_.Write("uncontrolled.yaml", text);
  };
  write(false);
  for (const char* pod : {"volume", "class", "ephemeral"}) {
    SCOPED_TRACE(pod);
    EXPECT_EQ(Run(Explain, {std::string("--pod=") + pod}), kDone) << out_;
  }
  EXPECT_EQ(Run(Dump, {}), kDone);
  EXPECT_THAT(out_, Not(HasSubstr("ephemeral-v"))) << "a dump is what was read";
  // What an API server has stored is judged as it is.
  write(true);
  EXPECT_EQ(Run(Explain, {"--pod=volume"}), kNegative);
  EXPECT_THAT(out_, HasSubstr("didn't find available persistent volumes to bind"));
  EXPECT_EQ(Run(Explain, {"--pod=class"}), kNegative);
  EXPECT_THAT(out_, HasSubstr("unbound immediate PersistentVolumeClaims"));
  EXPECT_EQ(Run(Explain, {"--pod=ephemeral"}), kNegative);
  EXPECT_THAT(out_, HasSubstr("waiting for ephemeral volume controller"));
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
  const std::string config = folder_.Write("config.yaml",
                                           "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                           "kind: KubeSchedulerConfiguration\n"
                                           "profiles: [{schedulerName: another}]\n");
  EXPECT_EQ(Run(Packing, {"-o", "json", "--config", config}), kDone);
  EXPECT_THAT(out_, StartsWith("{\"nodes\":1,\"pods\":1,\"pendingPods\":0,\"nodePools\":["));
}

// Two nodes of 4 cores; a of 2 stands in big's way.
constexpr const char* kPieces = R"(---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 4, pods: 10}}}
---
apiVersion: v1
kind: Pod
metadata: {name: a, uid: a, ownerReferences: [{kind: ReplicaSet, name: a, uid: r, controller: true}]}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 2}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: bare, uid: b}
spec: {nodeName: n2, containers: [{name: c, resources: {requests: {cpu: 2}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: big}
spec: {containers: [{name: c, resources: {requests: {cpu: 4}}}]}
)";

// Extenders are not asked by a simulation, so its recording has no answers of theirs.
TEST_F(OfflineCommandsTest, ARecordedSimulationWithExtendersIsRepeated) {
  std::atomic<int> asked = 0;
  const test::TestServer extender(
      [&asked](const test::ServedRequest&, test::ServerPeer& peer) {
        ++asked;
        peer.Answer(200, R"({"nodenames":["n7"],"failedNodes":{"n8":"no"}})");
      },
      {.tls = false});
  std::string cluster;
  for (int i = 0; i < 120; ++i) {
    cluster += "---\n{apiVersion: v1, kind: Node, metadata: {name: n" + std::to_string(i) +
               "}, status: {allocatable: {cpu: 4, pods: 10}}}\n";
  }
  // They do not all fit, and some evict others.
  for (int i = 0; i < 220; ++i) {
    cluster += "---\n{apiVersion: v1, kind: Pod, metadata: {name: p" + std::to_string(i) +
               "}, spec: {priority: " + std::to_string(i >= 100 && i % 3 != 0) +
               (i < 100 ? ", nodeName: n" + std::to_string(i) : "") +
               ", containers: [{name: c, resources: {requests: {cpu: 3, example.com/x: " +
               std::to_string(i % 2) + "}}}]}}\n";
  }
  file_ = folder_.Write("cluster.yaml", cluster);
  const std::string head =
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "extenders:\n- {urlPrefix: '" +
      extender.url() +
      "', filterVerb: filter, prioritizeVerb: prioritize, weight: 5, preemptVerb: preempt, "
      "bindVerb: bind, nodeCacheCapable: true, ignorable: false";
  const std::string managed =
      ", managedResources: [{name: example.com/x, ignoredByScheduler: true}]";
  for (const std::string& rest : {std::string("}\n"), managed + "}\n"}) {
    SCOPED_TRACE(rest);
    const test::TempFolder recordings;
    const std::string config = folder_.Write("config.yaml", head + rest);
    EXPECT_EQ(Run(Simulate, {"--config", config, "--record", recordings.Path(""), "-o=json"}),
              kDone);
    EXPECT_THAT(out_, HasSubstr(R"({"evicted":"default/p)"));
    EXPECT_EQ(Run(Replay, {recordings.Path("")}, false), kDone) << out_ << err_;
    EXPECT_THAT(out_, HasSubstr("Every decision is the recorded one, bit for bit.")) << out_;
  }
  EXPECT_EQ(asked, 0);
}

TEST_F(OfflineCommandsTest, AReplayShowsDifferencesOfANamespaceAndCountsAll) {
  file_ = folder_.Write("cluster.yaml", R"(
{apiVersion: v1, kind: Node, metadata: {name: closed}, spec: {taints: [{key: x, effect: NoSchedule}]},
 status: {allocatable: {cpu: 9, pods: 9}}}
---
{apiVersion: v1, kind: Node, metadata: {name: open}, status: {allocatable: {cpu: 3, pods: 9}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop},
 spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b},
 spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
)");
  const test::TempFolder recordings;
  EXPECT_EQ(Run(Simulate, {"--record", recordings.Path("")}), kDone);
  const std::string config =
      folder_.Write("config.yaml",
                    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                    "profiles: [{plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}}]\n");
  const Arguments replay = {"--config", config, recordings.Path("")};
  EXPECT_EQ(Run(Replay, replay, false), kNegative);
  EXPECT_THAT(out_, testing::AllOf(HasSubstr(" shop/a "), HasSubstr(" default/b ")));
  Arguments of_one = replay;
  of_one.push_back("--namespace=shop");
  EXPECT_EQ(Run(Replay, of_one, false), kNegative);
  EXPECT_THAT(
      out_, testing::AllOf(HasSubstr("2 differences, 0 decisions as recorded. 1 of the differences "
                                     "is in namespace shop.\n"),
                           HasSubstr(" shop/a "), Not(HasSubstr("default/b"))));
  of_one.back() = "-nelse";
  of_one.push_back("-ojson");
  EXPECT_EQ(Run(Replay, of_one, false), kNegative);
  EXPECT_THAT(out_, HasSubstr(R"("differences":2,"shown":0,"first":[])"));
}

TEST_F(OfflineCommandsTest, APlanIsPrintedAndItsLackEndsWithOne) {
  file_ = folder_.Write("pieces.yaml", kPieces);
  EXPECT_EQ(Run(Plan, {"--goal=fit=default/big"}), kDone);
  EXPECT_EQ(out_,
            "default/big fits after 1 move; no plan has fewer.\n"
            "\n"
            "  WAVE  POD          FROM  TO  FREES\n"
            "     1  default/a    n1    n2  2 cpu\n"
            "     1  default/big  -     n1\n");
  const std::string table = out_;
  for (const Arguments& named :
       {Arguments{"--goal=fit=big"}, {"--goal=fit=pod/big"}, {"--goal=fit=big", "-n", "default"}}) {
    EXPECT_EQ(Run(Plan, named), kDone) << err_;
    EXPECT_EQ(out_, table);
  }
  ExpectRefused("the cluster has no pod shop/big", Plan, {"--goal=fit=big", "-n", "shop"});
  ExpectRefused("must be a name, pod/NAME or NAMESPACE/NAME", Plan, {"--goal=fit="});
  EXPECT_EQ(Run(Plan, {"--goal", "empty=n2", "-o", "json"}), kNegative);
  EXPECT_THAT(out_, HasSubstr(R"("outcome":"impossible")"));
  ExpectRefused("the cluster has no pod default/none", Plan, {"--goal=fit=default/none"});
  ExpectRefused("which goal? Name it with --goal", Plan, {});
  ExpectRefused("a goal is fit=NAMESPACE/NAME, pending, ", Plan, {"--goal=full=n1"});
}

TEST_F(OfflineCommandsTest, OnlyPlansForPodsThatWaitMayEvictForGood) {
  file_ = folder_.Write("pieces.yaml", kPieces);
  EXPECT_EQ(Run(Plan, {"--goal=fit=default/big", "--evict", "-ojson"}), kDone);
  EXPECT_THAT(out_, HasSubstr(R"("evict":true)"));
  EXPECT_EQ(Run(Plan, {"--goal=fit=default/big", "-ojson"}), kDone);
  EXPECT_THAT(out_, Not(HasSubstr("evict")));
  ExpectRefused("--evict: only pods that wait may have others evicted for good", Plan,
                {"--goal=empty=n1", "--evict"});
  ExpectRefused("--evict goes with --goal", Plan, {"--apply=plan.yaml", "--evict"}, false);
}

TEST_F(OfflineCommandsTest, APlanThatDoesNotPayEndsWithOne) {
  file_ = folder_.Write("pieces.yaml", kPieces);
  EXPECT_EQ(Run(Plan, {"--goal=fit=default/big", "--min-gain=1"}), kDone);
  EXPECT_EQ(Run(Plan, {"--goal=fit=default/big", "--min-gain=1.5"}), kNegative);
  EXPECT_THAT(out_, StartsWith("default/big fits after 1 move, which does not pay: "));
  EXPECT_EQ(Run(Plan, {"--goal=fit=default/big", "--min-gain=1500m", "-ojson"}), kNegative);
  EXPECT_THAT(out_, HasSubstr(R"("outcome":"refused")"));
  ExpectRefused("must be a quantity from 0", Plan, {"--goal=pending", "--min-gain=-1"});
  ExpectRefused("--min-gain goes with --goal", Plan, {"--apply=plan.yaml", "--min-gain=1"}, false);
  ExpectRefused("--wait-timeout: must not be negative", Plan,
                {"--apply=plan.yaml", "--wait-timeout=-1s"}, false);
  ExpectRefused("--max-age: must not be negative", Plan, {"--goal=pending", "--max-age=-1h"});
}

TEST_F(OfflineCommandsTest, AWorkloadIsNamedAsForScale) {
  file_ = folder_.Write("spread.yaml", R"(
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {rack: a}}, status: {allocatable: {cpu: "4", pods: "9"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {rack: b}}, status: {allocatable: {cpu: "4", pods: "9"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: u, controller: true}]}, spec: {nodeName: n1, containers: [{name: m}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: u, controller: true}]}, spec: {nodeName: n1, containers: [{name: m}]}}
)");
  for (const Arguments& named : {Arguments{"--goal=skew=shop/StatefulSet/db:1@rack"},
                                 {"--goal=skew=sts/db:1@rack", "-n", "shop"}}) {
    EXPECT_EQ(Run(Plan, named), kDone) << err_;
    EXPECT_THAT(out_, StartsWith("shop/StatefulSet/db has a skew of 0 instead of 2 over rack after "
                                 "1 move; no plan has fewer.\n"));
  }
  ExpectRefused("no pod of StatefulSet default/db is there; there is shop/db (-n shop)", Plan,
                {"--goal=skew=sts/db:1@rack"});
  ExpectRefused("--namespace is shop, and the workload's other", Plan,
                {"--goal=skew=other/sts/db:1", "-n", "shop"});
  ExpectRefused("a workload is not found by name across all namespaces", Plan,
                {"--goal=skew=sts/db:1", "-A"});
}

TEST_F(OfflineCommandsTest, WhatIsNoPlanToApplyIsRefusedBeforeACluster) {
  const std::string file = folder_.Write("plan.yaml", R"(apiVersion: berth.dev/v1
goal: fit=default/big
made: 2026-11-28T05:00:00Z
outcome: found
moves: [{pod: default/a, uid: u, from: n1, too: n2, wave: 1}]
)");
  const std::string apply = "--apply=" + file;
  ExpectRefused("moves[0].to: Required value", Plan, {apply}, false);
  EXPECT_THAT(err_, HasSubstr("moves[0].too"));
  ExpectRefused("--apply and --cluster exclude each other", Plan, {apply});
  ExpectRefused("--apply and --goal exclude each other", Plan, {apply, "--goal=pending"}, false);
  ExpectRefused("go with --apply", Plan, {"--dry-run", "--goal=pending"});
  ExpectRefused("--eviction goes with --apply", Plan, {"--eviction=request", "--goal=pending"});
  ExpectRefused("must be subresource or request", Plan, {apply, "--eviction=delete"}, false);
  folder_.Write("plan.yaml", R"(apiVersion: berth.dev/v1
goal: fit=default/big
made: 2001-01-01T00:00:00Z
outcome: found
moves: [{pod: default/a, uid: u, from: n1, to: n2, wave: 1}]
)");
  ExpectRefused("plan.yaml: made: Invalid value: \"2001-01-01T00:00:00Z\"", Plan, {apply}, false);
  // A dump's plan cannot be applied.
  file_ = folder_.Write("pieces.yaml", kPieces);
  EXPECT_EQ(Run(Plan, {"--goal=fit=default/big", "-o", "yaml"}), kDone);
  folder_.Write("plan.yaml", "apiVersion: berth.dev/v1\n" + out_.substr(out_.find('\n') + 1));
  ExpectRefused("made: Required value", Plan, {apply}, false);
}

TEST_F(OfflineCommandsTest, EachAnswerSaysWhatWasRead) {
  std::string text = kCluster;
  for (const char* kind : {"v1, kind: Secret", "apps/v1, kind: Deployment", "v1, kind: Service",
                           "batch/v1, kind: Job", "x.dev/v1, kind: Job"}) {
    text += "---\n{apiVersion: " + std::string(kind) + ", metadata: {name: x}}\n";
  }
  text += "---\n{apiVersion: v1, kind: Pod, metadata: {name: e}, status: {phase: Failed}}\n";
  for (int i = 0; i < 1200; ++i) {
    text += "---\n{apiVersion: v1, kind: Node, metadata: {name: n-" + std::to_string(i) + "}}\n";
  }
  file_ = folder_.Write("kinds.yaml", text);
  for (const auto command : {Simulate, Explain, Packing, Plan, Dump}) {
    EXPECT_EQ(Run(command, command == Plan ? Arguments{"--goal=fit=default/fits"} : Arguments{}),
              kDone);
    EXPECT_EQ(err_,
              "Read 1,201 nodes, 3 pods (2 pending), 1 other object; "
              "skipped 1 ended pod, 1 Deployment (not expanded), 1 Job (not expanded), 1 "
              "Job.x.dev, 1 Secret.\n");
  }
}

TEST_F(OfflineCommandsTest, WhatIsOddIsAWarningAsKubectlPrintsIt) {
  file_ = folder_.Write("odd.yaml", std::string(kCluster) + R"(---
{apiVersion: v1, kind: Pod, metadata: {name: lost}, spec: {nodeName: n9}}
---
{apiVersion: v1, kind: Pod, metadata: {name: odd}, spec: {nodeSelectors: {}, priority: 1, priority: 2}}
)");
  EXPECT_EQ(Run(Explain, {}), kDone);
  EXPECT_EQ(err_, "Warning: pod default/lost is left out: spec.nodeName: Not found: \"n9\"\n" +
                      ("Warning: " + file_) +
                      ":18: key \"priority\" already set in map; the last one counts\n" +
                      ("Warning: " + file_) +
                      ":18: document 6: unknown field \"spec.nodeSelectors\"; did you mean "
                      "\"nodeSelector\"?\nRead 1 node, 4 pods (3 pending).\n");
  std::string many = kCluster;
  for (int i = 0; i < 105; ++i)
    many += "---\n{apiVersion: v1, kind: Pod, metadata: {name: l" + std::to_string(i) +
            "}, spec: {nodeName: n9}}\n";
  file_ = folder_.Write("many.yaml", many);
  EXPECT_EQ(Run(Explain, {}), kDone);
  EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 102);
  EXPECT_THAT(err_, HasSubstr("\nWarning: 5 more of these\nRead 1 node, 3 pods (2 pending).\n"));
}

TEST_F(OfflineCommandsTest, WhatIsOddAboutAConfigurationIsAWarningAsKubectlPrintsIt) {
  const auto config = [this](const std::string& body) {
    return folder_.Write("config.yaml",
                         "apiVersion: kubescheduler.config.k8s.io/v1\n"
                         "kind: KubeSchedulerConfiguration\n" +
                             body);
  };
  Run(Explain, {"--config", config("profiles: [{plugins: {score: {enabled: [{name: "
                                   "NodeResourcesMostAllocated}]}}}]")});
  EXPECT_THAT(err_, StartsWith("Warning: profile \"default-scheduler\": plugin "
                               "\"NodeResourcesMostAllocated\" is of older releases; write in its "
                               "place scoringStrategy: {type: MostAllocated}"));
  Run(Explain, {"--config", config("profiles: [{plugins: {score: {disabled: [{name: "
                                   "NodeResourceFit}]}}}]")});
  EXPECT_THAT(err_, StartsWith("Warning: profile \"default-scheduler\": disabled "
                               "\"NodeResourceFit\": there is no such plugin; did you mean "
                               "NodeResourcesFit?\n"));
  const std::string file = config("extenders: [{urlPrefix: 'http://x', filterVerb: f}]");
  EXPECT_EQ(Run(Explain, {"--config", file}), kDone);
  EXPECT_THAT(err_, StartsWith("Warning: the extenders of the configuration are not asked: what "
                               "follows is decided without them\nRead 1 node, "));
}

TEST_F(OfflineCommandsTest, ADumpWithoutNodesOrPodsIsNoCluster) {
  const std::string node =
      folder_.Write("node.yaml", "{apiVersion: v1, kind: Node, metadata: {name: n1}}\n");
  const std::string pod =
      folder_.Write("pod.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: p}}\n");
  for (const auto command : {Simulate, Explain, Packing, Ui}) {
    file_ = node;
    EXPECT_EQ(Run(command, {}), kBadInput);
    EXPECT_EQ(err_, "Error: --cluster: no pod was read: 1 node, 0 pods\n");
    file_ = pod;
    EXPECT_EQ(Run(command, {}), kBadInput);
    EXPECT_EQ(err_, "Error: --cluster: no node was read: 0 nodes, 1 pod (1 pending)\n");
  }
  // A question may bring what is not there.
  EXPECT_EQ(Run(Simulate, {"--add", node}), kDone);
  file_ = node;
  EXPECT_EQ(Run(Simulate, {"--fill", pod}), kDone);
  EXPECT_EQ(Run(Simulate, {"--add", pod}), kDone);
}

// What a dump of a cluster lets be answered, the cluster does, though it has less of it.
TEST_F(OfflineCommandsTest, ADumpHasAllThatScheduleReadsAndNoSecrets) {
  constexpr const char* kSecretive = R"(---
apiVersion: v1
kind: Pod
metadata:
  name: secretive
  uid: "7"
  annotations:
    vault.example.com/token: hush
    kubectl.kubernetes.io/last-applied-configuration: '{"hush":1}'
    controller.kubernetes.io/pod-deletion-cost: "-7"
    cluster-autoscaler.kubernetes.io/safe-to-evict: "false"
    karpenter.sh/do-not-disrupt: "true"
    kubernetes.io/config.mirror: "1"
spec:
  tolerations: [{key: a, operator: Exists}]
  containers:
  - name: c
    image: example.com/app
    command: [hush]
    args: [--password=hush]
    env: [{name: PASSWORD, value: hush}]
    ports: [{hostPort: 80}]
---
{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: hush}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: gold}, value: 9, preemptionPolicy: Never}
---
apiVersion: v1
kind: LimitRange
metadata: {name: l, annotations: {a: hush}}
spec: {limits: [{type: Container, default: {cpu: 1}}]}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata, annotations: {a: hush}}
handler: kata
overhead: {podFixed: {cpu: 250m}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: bound
  annotations: {pv.kubernetes.io/bind-completed: "yes", kubectl.kubernetes.io/last-applied-configuration: hush}
spec: {volumeName: v}
)";
  for (const char* cluster : {kCluster, kFull, kClaims, kVolumes, kPodGroups}) {
    SCOPED_TRACE(cluster);
    file_ = folder_.Write("cluster.yaml", std::string(cluster) + kSecretive);
    EXPECT_EQ(Run(Explain, {"-o=json", "--preemption", "--claims"}), kDone);
    const std::string verdicts = out_;
    EXPECT_EQ(Run(Dump, {}), kDone);
    const std::string dump = out_;
    EXPECT_THAT(dump, Not(HasSubstr("hush")));
    EXPECT_THAT(dump, HasSubstr(R"("pv.kubernetes.io/bind-completed":"yes")"));
    // What says which pods may go, and in which order.
    EXPECT_THAT(dump,
                HasSubstr(R"("annotations":{"cluster-autoscaler.kubernetes.io/safe-to-evict":)"
                          R"("false","controller.kubernetes.io/pod-deletion-cost":"-7",)"
                          R"("karpenter.sh/do-not-disrupt":"true",)"
                          R"("kubernetes.io/config.mirror":"1"})"));
    EXPECT_THAT(dump, HasSubstr(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",)"
                                R"("metadata":{"name":"gold"},"preemptionPolicy":"Never",)"
                                R"("value":9})"));
    EXPECT_THAT(dump, HasSubstr(R"({"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l",)"
                                R"("namespace":"default"},"spec":{"limits":[{"type":"Container",)"
                                R"("default":{"cpu":1}}]}})"));
    EXPECT_THAT(dump, HasSubstr(R"({"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass",)"
                                R"("metadata":{"name":"kata"},)"
                                R"("overhead":{"podFixed":{"cpu":"250m"}}})"));
    file_ = folder_.Write("dump.json", dump);
    EXPECT_EQ(Run(Explain, {"-o=json", "--preemption", "--claims"}), kDone);
    EXPECT_EQ(out_, verdicts);
    // It is whole: a dump of it is the same, by way of YAML, too.
    EXPECT_EQ(Run(Dump, {}), kDone);
    EXPECT_EQ(out_, dump);
    EXPECT_EQ(Run(Dump, {"-oyaml"}), kDone);
    EXPECT_THAT(out_, StartsWith("---\napiVersion: "));
    file_ = folder_.Write("dump.yaml", out_);
    EXPECT_EQ(Run(Dump, {}), kDone);
    EXPECT_EQ(nlohmann::json::parse(out_), nlohmann::json::parse(dump));
  }
}

TEST_F(OfflineCommandsTest, BadInputIsToldOnStandardErrorAndEndsWithTwo) {
  const struct {
    int (*command)(const Arguments&, const std::string&, const InTreePlugins&);
    Arguments arguments;
    bool with_cluster;
    std::string want;
  } cases[] = {
      {Simulate, {}, false, "which cluster? Neither KUBECONFIG nor ~/.kube/config is there;"},
      {Explain, {}, false, "name a live one with --kubeconfig, or a dump with --cluster"},
      {Explain, {"--context=c"}, true, "--cluster and --context exclude each other"},
      {Explain, {"-n=a", "-A"}, true, "--namespace and --all-namespaces exclude each other"},
      {Explain, {"-A", "fits"}, true, "a pod is not found by name across all namespaces"},
      {Explain, {"-n=a", "b/fits"}, true, "--namespace is a, and the pod's b"},
      {Explain, {"--clster=c"}, true, "unknown flag: --clster; did you mean --cluster?"},
      {Dump, {"--request-timeout=soon"}, false, "must be a time with its unit, such as 90s"},
      {Simulate, {"--seed=x"}, true, "flag: must be a whole number, 0 or more"},
      {Explain, {"--kubeconfig=k"}, true, "--cluster and --kubeconfig exclude each other"},
      {Explain, {"--kubeconfig=/no/such/file"}, false, "/no/such/file"},
      {Packing, {}, false, "which cluster?"},
      {Packing, {"--pod=fits"}, true, "unknown flag: --pod"},
      {Ui, {}, false, "which cluster?"},
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
      {Simulate, {"--scale=web=2"}, true, "must be [NAMESPACE/]KIND/NAME=N"},
      {Simulate, {"--scale=a/Job/b=2"}, true, "--scale: no pod of Job a/b is there to be copied"},
      {Simulate, {"--fill=/no/such/file"}, true, "open /no/such/file"},
      {Simulate, {"--fill=" + file_}, true, "must hold one pod"},
      {Simulate, {"--new-config=/no/such/file"}, true, "open /no/such/file"},
      {Explain, {"--drain=n1"}, true, "unknown flag: --drain"},
      {Simulate, {"--cluster=/no/such/file"}, true, "open /no/such/file"},
      {Simulate, {"--config=/no/such/file"}, true, "open /no/such/file"},
      {Simulate,
       {"--feature-gates=GenericWorkloads=true"},
       true,
       "unrecognized feature gate: GenericWorkloads; did you mean GenericWorkload?"},
      {Explain,
       {"--feature-gates=GenericWorkload=maybe"},
       true,
       "\"--feature-gates\" flag: must be NAME=true or NAME=false; `berth "},
      {Dump, {"--feature-gates=kube:GenericWorkload"}, true, "must be NAME=true or NAME=false"},
      {ShowConfig, {"--feature-gates=GenericWorkload=1.5"}, false, "NAME=true or NAME=false"},
      {Replay, {"--feature-gates=GenericWorkload=no", "r"}, false, "NAME=true or NAME=false"},
      {Simulate, {"more"}, true, "unexpected argument \"more\""},
      {Simulate, {"-oxml"}, true, "must be table, wide, json or yaml"},
      {Simulate, {"--seed=-1"}, true, "--seed"},
      {Explain, {"--pod=nope"}, true, "the cluster has no pod default/nope"},
      {Explain, {"--pod=fist"}, true, "no pod default/fist; did you mean default/fits?"},
      {Explain,
       {"shop/there"},
       true,
       "the cluster has no pod shop/there; there is default/there (-n default)"},
      {Explain, {"--pod=a/b/c"}, true, "must be a name, pod/NAME or NAMESPACE/NAME"},
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
       "The connection to the server 127.0.0.1:1 was refused - did you specify the right host"},
      {Dump, {"--kubeconfig=k"}, true, "--cluster and --kubeconfig exclude each other"},
      {Dump, {"--kubeconfig=/no/such/file"}, false, "/no/such/file"},
      {Dump, {"-o=table"}, true, "must be json or yaml"},
      {Replay, {"-n=shop", "-A", "r"}, false, "--namespace and --all-namespaces exclude each"},
      {Dump, {"more"}, true, "unexpected argument \"more\""},
      {Why, {}, false, "which pod?"},
      {Why, {"a/b/c"}, false, "POD: must be a name, pod/NAME or NAMESPACE/NAME"},
      {Why, {"a", "b"}, false, "unexpected argument \"b\""},
      {Why, {"--cluster=c", "a"}, false, "unknown flag: --cluster"},
      {Why, {"--kubeconfig=/no/such/file", "a"}, false, "/no/such/file"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.want);
    EXPECT_EQ(Run(c.command, c.arguments, c.with_cluster), kBadInput);
    EXPECT_EQ(out_, "");
    EXPECT_THAT(err_, testing::AnyOf(StartsWith("Error: "), HasSubstr("\nError: "),
                                     StartsWith("The connection to the server ")));
    EXPECT_THAT(err_, HasSubstr(c.want));
  }
}

TEST_F(OfflineCommandsTest, AWrongValueIsToldWithoutTheNamesOfGosFunctions) {
  using Code = int (*)(const Arguments&, const std::string&, const InTreePlugins&);
  const std::pair<Code, std::string> cases[] = {{Simulate, "--seed"},
                                                {Simulate, "--add-nodes"},
                                                {Simulate, "--record-max-size"},
                                                {Simulate, "--reschedule"},
                                                {Explain, "--v"},
                                                {Explain, "--fix"},
                                                {Explain, "--request-timeout"},
                                                {Explain, "-A"},
                                                {Ui, "--port"},
                                                {Packing, "--seed"}};
  for (const auto& [command, flag] : cases) {
    SCOPED_TRACE(flag);
    ExpectRefused("must be ", command, {flag + "=x"});
    EXPECT_THAT(err_, Not(HasSubstr("strconv")));
  }
}

TEST_F(OfflineCommandsTest, APodMayBeNamedAsToKubectl) {
  for (const Arguments& arguments : {Arguments{"--pod=fits"},
                                     {"fits"},
                                     {"pod/fits"},
                                     {"po/fits"},
                                     {"default/fits"},
                                     {"pods", "fits"},
                                     {"-n", "default", "fits"}}) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    EXPECT_EQ(Run(Explain, arguments), kDone) << err_;
    EXPECT_THAT(out_, StartsWith("default/fits: scheduled"));
  }
}

// Two nodes, of which the pod's own is the fuller one, so that it would go to the other today.
TEST_F(OfflineCommandsTest, OfAPlacedPodItTellsHowItsNodeDoesAndTheOthers) {
  file_ = folder_.Write("placed.yaml", R"(---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, memory: 4Gi, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 4, memory: 4Gi, pods: 10}}}
---
apiVersion: v1
kind: Pod
metadata: {name: full}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 3, memory: 1Gi}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}
status:
  conditions: [{type: PodScheduled, status: "True", lastTransitionTime: "2026-03-01T00:00:00Z"}]
)");
  EXPECT_EQ(Run(Explain, {"web"}), kDone);
  EXPECT_THAT(out_, StartsWith("default/web is on node n1, since 2026-03-01T00:00:00Z. "));
  EXPECT_THAT(out_, HasSubstr(" today, 1 of 2 feasible nodes score more, up to "));
  EXPECT_THAT(out_, HasSubstr("\ndefault/web: scheduled (profile default-scheduler)\n"));
  // Its own room does not count: with it n1 would be full.
  EXPECT_THAT(out_, HasSubstr("\n  1 node of 2 feasible "));
  EXPECT_EQ(Run(Explain, {"web", "-ojson"}), kDone);
  EXPECT_THAT(out_, HasSubstr(R"("placedOn":"n1","pod":"default/web",)"));
  EXPECT_EQ(Run(Explain, {"-ojson"}), kDone);
  EXPECT_EQ(out_, "") << "none waits";
}

TEST_F(OfflineCommandsTest, ANamespaceFiltersWhatIsShownAndNotWhatCounts) {
  file_ = folder_.Write("two.yaml", std::string(kCluster) + R"(---
apiVersion: v1
kind: Pod
metadata: {name: shop, namespace: shop}
spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}
)");
  EXPECT_EQ(Run(Explain, {"-n", "shop"}), kDone);
  EXPECT_THAT(out_, StartsWith("shop/shop: scheduled"));
  EXPECT_THAT(out_, Not(HasSubstr("default/fits")));
  EXPECT_EQ(Run(Explain, {"-n", "shp"}), kDone);
  EXPECT_EQ(out_, "No pod of namespace shp is pending; 3 elsewhere.\n");
  EXPECT_EQ(Run(Explain, {"-A"}), kDone);
  EXPECT_THAT(out_, HasSubstr("default/fits: "));
  EXPECT_THAT(out_, HasSubstr("shop/shop: "));
  EXPECT_EQ(Run(Simulate, {"-n", "shop", "-ojson"}), kDone);
  EXPECT_THAT(out_, StartsWith("{\"pod\":\"shop/shop\",\"node\":\"n1\"}\n{\"summary\":{"));
  EXPECT_EQ(Run(Simulate, {"-n", "shop", "--remove-node", "n1"}), kDone);
  EXPECT_THAT(out_, HasSubstr("in shop is elsewhere:"));
  EXPECT_THAT(out_, HasSubstr("shop/shop"));
  EXPECT_THAT(out_, Not(HasSubstr("default/fits")));
  EXPECT_EQ(Run(Simulate, {"-A", "--remove-node", "n1"}), kDone);
  EXPECT_THAT(out_, HasSubstr("default/fits"));
}

TEST_F(OfflineCommandsTest, EachDocumentTellsItsVersion) {
  for (const char* format : {"-ojson", "-oyaml"}) {
    EXPECT_EQ(Run(Explain, {format}), kDone);
    EXPECT_EQ(versions_, 2u);
    EXPECT_EQ(Run(Simulate, {format}), kDone);
    EXPECT_EQ(versions_, 3u) << "two decisions and a summary";
    EXPECT_EQ(Run(Packing, {format}), kDone);
    EXPECT_EQ(versions_, 1u);
    EXPECT_EQ(Run(Simulate, {"--drain=n1", format}), kDone);
    EXPECT_EQ(versions_, 1u);
    EXPECT_EQ(Run(Plan, {"--goal=fit=default/fits", format}), kDone);
    EXPECT_EQ(versions_, 1u);
  }
  EXPECT_EQ(Run(Explain, {}), kDone);
  EXPECT_EQ(versions_, 0u) << "of a table";
}

TEST_F(OfflineCommandsTest, DocumentsAlsoComeAsYaml) {
  EXPECT_EQ(Run(Explain, {"fits", "-oyaml"}), kDone);
  EXPECT_THAT(out_, StartsWith("---\nbest:\n- n1\n"));
  EXPECT_THAT(out_, HasSubstr("\npod: default/fits\n"));
  EXPECT_EQ(Run(Simulate, {"-oyaml"}), kDone);
  EXPECT_THAT(out_, StartsWith("---\nnode: n1\npod: default/fits\n---\n"));
  EXPECT_EQ(Run(Packing, {"-oyaml"}), kDone);
  EXPECT_THAT(out_, HasSubstr("\npendingPods: 2\n"));
  EXPECT_EQ(Run(Simulate, {"--drain=n1", "-oyaml"}), kDone);
  EXPECT_THAT(out_, StartsWith("---\nafter:\n"));
}

// As `/debug/explain` of all pods does.
TEST_F(OfflineCommandsTest, ManyPodsAreGroupedUnlessAllIsAskedFor) {
  std::string cluster = kCluster;
  for (int i = 0; i < 40; ++i) {
    cluster += "---\n{apiVersion: v1, kind: Pod, metadata: {name: big-" + std::to_string(i) +
               "}, spec: {containers: [{name: c, resources: {requests: {cpu: 9}}}]}}\n";
  }
  file_ = folder_.Write("many.yaml", cluster);
  EXPECT_EQ(Run(Explain, {}), kDone);
  EXPECT_THAT(out_, StartsWith("PODS  RESULT         FIRST"));
  EXPECT_THAT(out_, HasSubstr("\n  41  unschedulable  default/big-0"));
  const std::string all = out_;
  file_ = folder_.Write("many.yaml", cluster +
                                         "---\n{apiVersion: v1, kind: Pod, metadata: {name: big, "
                                         "namespace: shop}, spec: {containers: [{name: c, "
                                         "resources: {requests: {cpu: 9}}}]}}\n");
  EXPECT_EQ(Run(Explain, {"-n", "default"}), kDone);
  EXPECT_EQ(out_, all) << "but for those of others";
  EXPECT_EQ(Run(Explain, {"-owide"}), kDone);
  EXPECT_THAT(out_, HasSubstr("default/big-39: unschedulable"));
}

// A pod that has 1 cpu and wants 3 on a full node, and one that wants what is there.
constexpr const char* kResizes = R"(---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 4, pods: 10}}}
---
apiVersion: v1
kind: Pod
metadata: {name: low}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 2}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: app}
spec: {nodeName: n1, priority: 5, containers: [{name: c, resources: {requests: {cpu: 3}}}]}
status:
  conditions: [{type: PodResizePending, status: "True", reason: Deferred}]
  containerStatuses: [{name: c, allocatedResources: {cpu: 1}}]
---
apiVersion: v1
kind: Pod
metadata: {name: easy}
spec: {nodeName: n2, containers: [{name: c, resources: {requests: {cpu: 3}}}]}
status: {conditions: [{type: PodResizePending, status: "True", reason: Deferred}]}
)";

TEST_F(OfflineCommandsTest, ExplainTellsHowDeferredResizesStandWithTheirGate) {
  file_ = folder_.Write("resizes.yaml", kResizes);
  const std::string gate = "--feature-gates=InPlacePodVerticalScalingSchedulerPreemption=true";
  EXPECT_EQ(Run(Explain, {gate, "--preemption", "--fix"}), 0);
  EXPECT_THAT(out_, HasSubstr("default/app: its resize on n1 is unschedulable (profile "
                              "default-scheduler)\n"));
  EXPECT_THAT(out_, HasSubstr("Insufficient cpu"));
  EXPECT_THAT(out_, HasSubstr("cluster: n1 without default/low"));
  EXPECT_THAT(out_, HasSubstr("default/easy: its resize fits on n2, where the kubelet is to do it "
                              "(profile default-scheduler)\n"));
  EXPECT_EQ(Run(Explain, {gate, "--pod=app", "--preemption", "-o", "json"}), 1);
  EXPECT_THAT(out_, HasSubstr(R"("candidates":{"n1":{"victims":["default/low"]}})"));
  EXPECT_THAT(out_, HasSubstr(R"("resizeOn":"n1","result":"unschedulable")"));

  EXPECT_EQ(Run(Explain, {}), 0);
  EXPECT_THAT(out_, Not(HasSubstr("app")));
  EXPECT_EQ(Run(Explain, {"--pod=app"}), 0);
  EXPECT_THAT(out_, StartsWith("default/app is on node n1"));
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

TEST_F(OfflineCommandsTest, EachCommandHasTheFlagsOfKubectlThatItCanHave) {
  const struct {
    CommandFunction* command;
    bool reads_a_cluster;
    bool tells_of_pods;
    bool prints_a_document;
  } cases[] = {
      {Simulate, true, true, true}, {Explain, true, true, true}, {Why, true, true, true},
      {Packing, true, true, true},  {Plan, true, true, true},    {Ui, true, true, false},
      {Dump, true, false, true},    {Replay, false, true, true}, {ShowConfig, false, false, true},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Run(c.command, {"--help"}, false), kDone);
    SCOPED_TRACE(out_);
    const auto expect = [this](bool there, std::initializer_list<std::string> flags) {
      for (const std::string& flag : flags) {
        EXPECT_EQ(out_.find("\n  " + flag) != std::string::npos, there) << flag;
      }
    };
    expect(c.reads_a_cluster, {"--kubeconfig FILE ", "--context NAME ", "--request-timeout TIME "});
    expect(c.tells_of_pods, {"-n,--namespace NAME ", "-A,--all-namespaces "});
    expect(c.prints_a_document, {"-o,--output "});
  }
}

TEST(OfflineFlagsTest, ClustersRepeatAndAPodWithoutANamespaceIsInDefault) {
  const auto flags = ParseOfflineFlags(
      OfflineCommand::kExplain,
      {"--cluster=a", "--cluster", "b", "--pod", "web", "--seed", "7", "-ojson", "--v=3",
       "--feature-gates=AllBeta=true", "--feature-gates=AllAlpha=true", "--config=c"},
      "berth explain");
  ASSERT_TRUE(flags);
  EXPECT_THAT(flags->clusters, ElementsAre("a", "b"));
  EXPECT_EQ(flags->pod, "default/web");
  EXPECT_EQ(flags->seed, 7u);
  EXPECT_EQ(flags->output, OutputFormat::kJson);
  EXPECT_EQ(flags->run.log.verbosity, 3);
  EXPECT_THAT(flags->run.feature_gates, ElementsAre("AllBeta=true", "AllAlpha=true"));
  EXPECT_EQ(flags->run.config, "c");
}

}  // namespace
}  // namespace berth::app
