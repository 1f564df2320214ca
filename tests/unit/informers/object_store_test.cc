// SPDX-License-Identifier: Apache-2.0
#include "src/informers/object_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "berth/plugin_kinds.h"
#include "berth/random.h"
#include "src/api/protobuf_writer.h"
#include "tests/support/device_builders.h"
#include "tests/unit/informers/wire.h"

namespace berth::informers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ObjectStoreTest : public testing::Test {
 protected:
  std::string Put(const std::string& text) { return store_.Put(api::Encoding::kJson, text); }
  std::string Delete(const std::string& text) { return store_.Delete(api::Encoding::kJson, text); }
  // What has been sent since the last call.
  std::vector<std::string> Sent() {
    std::vector<std::string> lines;
    for (const InformerEvent& event : std::exchange(events_, {})) lines.push_back(Describe(event));
    return lines;
  }

  std::vector<InformerEvent> events_;
  ObjectStore store_{InfoOf(Kind::kPod),
                     [this](InformerEvent event) { events_.push_back(std::move(event)); }};
};

TEST_F(ObjectStoreTest, ChangesCarryTheVersionBefore) {
  EXPECT_EQ(Put(PodJson("a", 1)), "1");
  EXPECT_EQ(Put(PodJson("a", 2)), "2");
  EXPECT_EQ(Delete(PodJson("a", 3)), "3");
  EXPECT_THAT(Sent(), ElementsAre("+a1", "~a1>2", "-a2"));
  EXPECT_EQ(store_.size(), 0u);
}

TEST_F(ObjectStoreTest, TheSameVersionTwiceIsOneEvent) {
  Put(PodJson("a", 1));
  Put(PodJson("a", 1));
  EXPECT_THAT(Sent(), ElementsAre("+a1"));
}

TEST_F(ObjectStoreTest, DeletingWhatIsNotKnownIsNothing) {
  EXPECT_EQ(Delete(PodJson("a", 4)), "4");
  EXPECT_THAT(Sent(), IsEmpty());
}

TEST_F(ObjectStoreTest, AListReportsOnlyTheDifferences) {
  for (const char* name : {"d", "a", "b", "c"}) Put(PodJson(name, 1));
  Sent();
  store_.BeginList();
  Put(PodJson("a", 1));
  Put(PodJson("b", 2));
  Put(PodJson("e", 3));
  EXPECT_THAT(Sent(), ElementsAre("~b1>2", "+e3"));
  store_.EndList();
  EXPECT_THAT(Sent(), ElementsAre("-c1", "-d1"));
}

TEST_F(ObjectStoreTest, AListThatBrokeOffCountsForNothing) {
  Put(PodJson("a", 1));
  store_.BeginList();
  Put(PodJson("b", 2));
  store_.BeginList();
  Put(PodJson("a", 1));
  store_.EndList();
  EXPECT_THAT(Sent(), ElementsAre("+a1", "+b2", "-b2"));
}

TEST_F(ObjectStoreTest, ARecreatedObjectIsDeletedAndAdded) {
  Put(PodJson("a", 1, "first"));
  Put(PodJson("a", 5, "second"));
  EXPECT_THAT(Sent(), ElementsAre("+a1", "-a1", "+a5"));
  Put(BadPodJson("a", 6));
  EXPECT_THAT(Sent(), ElementsAre("-a5", "?default/a"));
}

TEST_F(ObjectStoreTest, AnUndecodableUpdateKeepsTheOldVersionAndIsToldOnce) {
  Put(PodJson("a", 1));
  EXPECT_EQ(Put(BadPodJson("a", 2, "node-1")), "2");
  Put(BadPodJson("a", 2, "node-1"));
  ASSERT_EQ(events_.size(), 2u);
  EXPECT_EQ(events_[1].undecodable->uid, "uid-a");
  EXPECT_EQ(events_[1].undecodable->node_name, "node-1");
  EXPECT_EQ(events_[1].undecodable->scheduler_name, "ours");
  EXPECT_THAT(events_[1].undecodable->error, HasSubstr("cpu"));
  EXPECT_THAT(Sent(), ElementsAre("+a1", "?default/a 1"));
  EXPECT_EQ(store_.undecodable(), 1u);

  Put(BadPodJson("a", 3));
  EXPECT_EQ(store_.undecodable(), 2u);
  Put(PodJson("a", 4));
  EXPECT_THAT(Sent(), ElementsAre("?default/a 1", "~a1>4"));
}

// A placed pod whose place and room can be read takes them, whatever else is damaged; one without
// a node must not be decided upon a part of it.
TEST_F(ObjectStoreTest, DamageCountsByField) {
  const auto pod = [](const std::string& node, const std::string& fields) {
    return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"default",)"
           R"("uid":"u","resourceVersion":"1"},"spec":{"nodeName":")" +
           node + R"(",)" + fields + "}}";
  };
  const struct {
    const char* fields;
    bool closes;
  } cases[] = {
      {R"("tolerations":[{"key":1}])", false},
      {R"("containers":[{"image":5}])", false},
      {R"("affinity":{"podAffinity":7})", false},
      {R"("containers":[{},{"resources":{"requests":{"cpu":"x"}}}])", true},
      {R"("containers":[{"ports":[{"hostPort":"x"}]}])", true},
      {R"("containers":7)", true},
      {R"("volumes":[{"name":7}])", true},
      {R"("overhead":7)", true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.fields);
    ObjectStore store(InfoOf(Kind::kPod),
                      [this](InformerEvent event) { events_.push_back(std::move(event)); });
    store.Put(api::Encoding::kJson, pod("n1", c.fields));
    store.Put(api::Encoding::kJson, pod("n1", c.fields));
    EXPECT_EQ(store.undecodable(), 1u);
    EXPECT_THAT(Sent(), ElementsAre(c.closes ? "?default/a" : "+a1"));
    ObjectStore pending(InfoOf(Kind::kPod),
                        [this](InformerEvent event) { events_.push_back(std::move(event)); });
    pending.Put(api::Encoding::kJson, pod("", c.fields));
    EXPECT_THAT(Sent(), ElementsAre("?default/a"));
  }
}

TEST(ClaimStoreTest, AClaimThatCannotBeReadWholeHoldsItsDevices) {
  std::vector<InformerEvent> events;
  ObjectStore store(InfoOf(Kind::kResourceClaim),
                    [&](InformerEvent event) { events.push_back(std::move(event)); });
  const auto put = [&](const std::string& spec, const std::string& allocation) {
    store.Put(api::Encoding::kJson,
              R"({"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"c",)"
              R"("namespace":"default","uid":"u"},"spec":{"devices":)" +
                  spec + R"(},"status":{"allocation":)" + allocation + "}}");
    return *api::As<api::ResourceClaim>(events.back().new_object);
  };
  const std::string holds = R"({"devices":{"results":[{"driver":"d","pool":"p","device":"one"}]}})";
  const api::ResourceClaim damaged_spec = put("7", holds);
  EXPECT_THAT(damaged_spec.metadata.damage->front().ToString(),
              HasSubstr("spec.devices: expected an object"));
  EXPECT_EQ(damaged_spec.status.allocation->devices.results.at(0).device, "one");
  // Those it held before, where its own cannot be read.
  const api::ResourceClaim damaged = put("{}", R"({"devices":{"results":7}})");
  ASSERT_TRUE(damaged.metadata.damage);
  EXPECT_EQ(damaged.status.allocation->devices.results.at(0).device, "one");
  const api::ResourceClaim whole = put("{}", "null");
  EXPECT_FALSE(whole.metadata.damage);
  EXPECT_FALSE(whole.status.allocation);
  EXPECT_EQ(store.undecodable(), 2u);
}

TEST_F(ObjectStoreTest, AnObjectThatNeverCouldBeDecodedIsStillKnown) {
  Put(BadPodJson("a", 1));
  store_.BeginList();
  Put(BadPodJson("a", 1));
  store_.EndList();
  EXPECT_THAT(Sent(), ElementsAre("?default/a"));
  Delete(PodJson("a", 2));
  EXPECT_THAT(Sent(), ElementsAre("-default/a"));

  Put(BadPodJson("b", 1));
  Put(PodJson("b", 2));
  EXPECT_THAT(Sent(), ElementsAre("?default/b", "+b2"));
}

TEST_F(ObjectStoreTest, GarbageIsCountedAndNothingElse) {
  EXPECT_EQ(Put("garbage"), "");
  EXPECT_EQ(Delete("garbage"), "");
  EXPECT_THAT(Sent(), IsEmpty());
  EXPECT_EQ(store_.undecodable(), 1u);
  EXPECT_EQ(store_.size(), 0u);
}

// Whatever mixture of watch events, missed events and relists: replaying the events gives the
// state of the server.
TEST_F(ObjectStoreTest, ReplayingTheEventsGivesTheServersState) {
  Random random(42);
  std::map<std::string, std::pair<int, int>> server;  // name -> (uid, version)
  std::map<std::string, std::pair<std::string, std::string>> replayed;
  int version = 0;
  const auto pod = [&](const std::string& name) {
    return PodJson(name, server[name].second, std::to_string(server[name].first));
  };
  for (int step = 0; step < 3000; ++step) {
    const std::string name(1, static_cast<char>('a' + random.Below(8)));
    const bool watched = random.Below(4) != 0;
    ++version;
    if (server.contains(name) && random.Below(3) == 0) {
      server[name].second = version;
      if (watched) Delete(pod(name));
      server.erase(name);
    } else {
      if (!server.contains(name)) server[name].first = version;
      server[name].second = version;
      if (watched) Put(pod(name));
    }
    if (step % 10 != 9) continue;
    store_.BeginList();
    for (const auto& [known, unused] : server) Put(pod(known));
    store_.EndList();
    for (const InformerEvent& event : std::exchange(events_, {})) {
      const auto& object = event.type == EventType::kDeleted ? event.old_object : event.new_object;
      const api::ObjectMeta& meta = *MetaOf(object);
      if (event.type == EventType::kAdded) {
        ASSERT_FALSE(replayed.contains(meta.name));
      } else {
        ASSERT_EQ(replayed.at(meta.name).second, MetaOf(event.old_object)->resource_version);
        ASSERT_EQ(replayed.at(meta.name).first, meta.uid);
      }
      if (event.type == EventType::kDeleted) {
        replayed.erase(meta.name);
      } else {
        replayed[meta.name] = {meta.uid, meta.resource_version};
      }
    }
    ASSERT_EQ(replayed.size(), server.size());
    for (const auto& [known, state] : server) {
      ASSERT_EQ(replayed.at(known),
                std::pair(std::to_string(state.first), std::to_string(state.second)));
    }
  }
}

TEST(KindsTest, EveryKindHasItsLine) {
  const struct {
    Kind kind;
    const char* path;
    const char* object;
  } cases[] = {
      {Kind::kPod, "/api/v1/pods", R"({"metadata":{"name":"x"}})"},
      {Kind::kNode, "/api/v1/nodes", R"({"metadata":{"name":"x"}})"},
      {Kind::kNamespace, "/api/v1/namespaces", R"({"metadata":{"name":"x"}})"},
      {Kind::kService, "/api/v1/services", R"({"kind":"Service","metadata":{"name":"x"}})"},
      {Kind::kReplicationController, "/api/v1/replicationcontrollers",
       R"({"kind":"ReplicationController","metadata":{"name":"x"}})"},
      {Kind::kReplicaSet, "/apis/apps/v1/replicasets",
       R"({"kind":"ReplicaSet","metadata":{"name":"x"}})"},
      {Kind::kStatefulSet, "/apis/apps/v1/statefulsets",
       R"({"kind":"StatefulSet","metadata":{"name":"x"}})"},
      {Kind::kPodDisruptionBudget, "/apis/policy/v1/poddisruptionbudgets",
       R"({"kind":"PodDisruptionBudget","metadata":{"name":"x"}})"},
      {Kind::kPersistentVolume, "/api/v1/persistentvolumes",
       R"({"kind":"PersistentVolume","metadata":{"name":"x"}})"},
      {Kind::kPersistentVolumeClaim, "/api/v1/persistentvolumeclaims",
       R"({"kind":"PersistentVolumeClaim","metadata":{"name":"x"}})"},
      {Kind::kStorageClass, "/apis/storage.k8s.io/v1/storageclasses",
       R"({"kind":"StorageClass","metadata":{"name":"x"}})"},
      {Kind::kCsiNode, "/apis/storage.k8s.io/v1/csinodes",
       R"({"kind":"CSINode","metadata":{"name":"x"}})"},
      {Kind::kCsiDriver, "/apis/storage.k8s.io/v1/csidrivers",
       R"({"kind":"CSIDriver","metadata":{"name":"x"}})"},
      {Kind::kCsiStorageCapacity, "/apis/storage.k8s.io/v1/csistoragecapacities",
       R"({"kind":"CSIStorageCapacity","metadata":{"name":"x"}})"},
      {Kind::kVolumeAttachment, "/apis/storage.k8s.io/v1/volumeattachments",
       R"({"kind":"VolumeAttachment","metadata":{"name":"x"}})"},
      {Kind::kVolumeAttributesClass, "/apis/storage.k8s.io/v1/volumeattributesclasses",
       R"({"kind":"VolumeAttributesClass","metadata":{"name":"x"}})"},
      {Kind::kResourceClaim, "/apis/resource.k8s.io/v1/resourceclaims",
       R"({"kind":"ResourceClaim","metadata":{"name":"x"}})"},
      {Kind::kResourceClaimTemplate, "/apis/resource.k8s.io/v1/resourceclaimtemplates",
       R"({"kind":"ResourceClaimTemplate","metadata":{"name":"x"}})"},
      {Kind::kDeviceClass, "/apis/resource.k8s.io/v1/deviceclasses",
       R"({"kind":"DeviceClass","metadata":{"name":"x"}})"},
      {Kind::kResourceSlice, "/apis/resource.k8s.io/v1/resourceslices",
       R"({"kind":"ResourceSlice","metadata":{"name":"x"}})"},
      {Kind::kDeviceTaintRule, "/apis/resource.k8s.io/v1/devicetaintrules",
       R"({"kind":"DeviceTaintRule","metadata":{"name":"x"}})"},
      {Kind::kPodGroup, "/apis/scheduling.k8s.io/v1beta1/podgroups",
       R"({"kind":"PodGroup","metadata":{"name":"x"}})"},
      {Kind::kCompositePodGroup, "/apis/scheduling.k8s.io/v1alpha3/compositepodgroups",
       R"({"kind":"CompositePodGroup","metadata":{"name":"x"}})"},
      {Kind::kWorkload, "/apis/scheduling.k8s.io/v1beta1/workloads",
       R"({"kind":"Workload","metadata":{"name":"x"}})"},
      {Kind::kCoschedulingPodGroup, "/apis/scheduling.x-k8s.io/v1alpha1/podgroups",
       R"({"kind":"PodGroup","metadata":{"name":"x"}})"},
      {Kind::kNodeResourceTopology, "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies",
       R"({"kind":"NodeResourceTopology","metadata":{"name":"x"}})"},
      {Kind::kElasticQuota, "/apis/scheduling.x-k8s.io/v1alpha1/elasticquotas",
       R"({"kind":"ElasticQuota","metadata":{"name":"x"}})"},
  };
  ASSERT_EQ(AllKinds().size() - PluginKinds().size(), std::size(cases));
  for (const auto& c : cases) {
    SCOPED_TRACE(c.path);
    EXPECT_EQ(InfoOf(c.kind).path, c.path);
    const auto object = InfoOf(c.kind).decode(api::Encoding::kJson, c.object, {});
    ASSERT_TRUE(object.has_value());
    ASSERT_NE(MetaOf(*object), nullptr);
    EXPECT_EQ(MetaOf(*object)->name, "x");
  }
  EXPECT_EQ(InfoOf(Kind::kPod).field_selector, "status.phase!=Succeeded,status.phase!=Failed");
  EXPECT_EQ(api::MetaOf({}), nullptr);
}

TEST(KindsTest, AClaimKeepsItsBytesUntilItIsAllocated) {
  const auto stored = [](api::Encoding encoding, const api::ResourceClaim& claim) {
    std::string bytes;
    if (encoding == api::Encoding::kJson) {
      bytes = api::EncodeJson(claim);
    } else {
      api::EncodeProtobuf(claim, nullptr, bytes);
    }
    const auto object = InfoOf(Kind::kResourceClaim).decode(encoding, bytes, {});
    const auto kept = api::As<api::ResourceClaim>(*object)->stored.bytes;
    EXPECT_TRUE(kept == nullptr || *kept == bytes);
    return kept != nullptr;
  };
  const api::ResourceClaim waiting = test::MakeDeviceClaim("c").Request("gpu", "gpus").Obj();
  EXPECT_TRUE(stored(api::Encoding::kProtobuf, waiting));
  EXPECT_FALSE(stored(api::Encoding::kJson, waiting)) << "its parameters are not as they were";
  EXPECT_FALSE(
      stored(api::Encoding::kProtobuf, test::MakeDeviceClaim("c").Allocated("n1", "gpu-0").Obj()));
}

TEST(KindsTest, GatesDecideWhichKindsAreWatched) {
  const auto watched = [](Kind kind, const Features& features) {
    const auto kinds = WatchedKinds(features);
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  };
  const Features defaults;
  for (const Kind kind : {Kind::kResourceClaim, Kind::kDeviceClass, Kind::kResourceSlice,
                          Kind::kDeviceTaintRule, Kind::kPod}) {
    EXPECT_TRUE(watched(kind, defaults)) << InfoOf(kind).resource;
  }
  for (const Kind kind :
       {Kind::kResourceClaimTemplate, Kind::kPodGroup, Kind::kCompositePodGroup, Kind::kWorkload,
        Kind::kCoschedulingPodGroup, Kind::kNodeResourceTopology, Kind::kElasticQuota}) {
    EXPECT_FALSE(watched(kind, defaults)) << InfoOf(kind).resource;
  }
  Features other;
  other.dra_device_taint_rules = false;
  other.generic_workload = true;
  other.composite_pod_group = true;
  EXPECT_FALSE(watched(Kind::kDeviceTaintRule, other));
  EXPECT_TRUE(watched(Kind::kPodGroup, other));
  EXPECT_FALSE(watched(Kind::kWorkload, other)) << "as in kube-scheduler, which has no right to";
  EXPECT_TRUE(watched(Kind::kCompositePodGroup, other));
  EXPECT_EQ(WatchedKinds(other).size(), AllKinds().size() - PluginKinds().size() - 6);
  Features with_plugin;
  with_plugin.coscheduling = true;
  EXPECT_TRUE(watched(Kind::kCoschedulingPodGroup, with_plugin));
  EXPECT_FALSE(watched(Kind::kPodGroup, with_plugin)) << "nothing but the custom resource";
  with_plugin.node_resource_topologies = true;
  EXPECT_TRUE(watched(Kind::kNodeResourceTopology, with_plugin));
  with_plugin.elastic_quotas = true;
  EXPECT_TRUE(watched(Kind::kElasticQuota, with_plugin));
}

TEST(KeptTextTest, OnlyWhatIsAskedForKeepsItsJson) {
  const std::string pending = R"({"metadata":{"name":"a","managedFields":[{"x":1}]},"spec":{}})";
  const std::string placed = R"({"metadata":{"name":"a"},"spec":{"nodeName":"n"}})";
  const std::string node = R"({"metadata":{"name":"n"}})";
  const auto text_of = [](Kind kind, const std::string& text, const KeptText& kept) {
    const auto object = InfoOf(kind).decode(api::Encoding::kJson, text, kept);
    const api::Pod* pod = api::As<api::Pod>(*object);
    const auto& json = pod != nullptr ? pod->source.json : api::As<api::Node>(*object)->source.json;
    return json == nullptr ? "" : *json;
  };
  EXPECT_EQ(text_of(Kind::kPod, pending, {.pending_pods = true}),
            R"({"metadata":{"name":"a"},"spec":{}})");
  EXPECT_EQ(text_of(Kind::kPod, pending, {.nodes = true, .placed_pods = true}), "");
  EXPECT_EQ(text_of(Kind::kPod, placed, {.placed_pods = true}), placed);
  EXPECT_EQ(text_of(Kind::kPod, placed, {.pending_pods = true}), "");
  EXPECT_EQ(text_of(Kind::kNode, node, {.nodes = true}), node);
  EXPECT_EQ(text_of(Kind::kNode, node, {.pending_pods = true, .placed_pods = true}), "");
  EXPECT_TRUE((KeptText{.placed_pods = true}.any(Kind::kPod)));
  EXPECT_FALSE((KeptText{.placed_pods = true}.any(Kind::kNode)));
}

}  // namespace
}  // namespace berth::informers
