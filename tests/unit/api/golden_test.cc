// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "src/api/decode.h"
#include "src/api/list_reader.h"
#include "src/api/protobuf_writer.h"
#include "src/api/tables.h"
#include "src/api/watch.h"
#include "tests/unit/api/testdata.h"

namespace berth::api {
namespace {

template <Struct T>
void ListUnset(const T& value, const std::string& path, std::vector<std::string>& unset);

template <typename T>
void ListUnsetIn(const T& value, const std::string& path, std::vector<std::string>& unset) {
  if constexpr (Struct<T>) {
    ListUnset(value, path, unset);
  } else if constexpr (kIsOptional<T>) {
    if (value) ListUnsetIn(*value, path, unset);
  } else if constexpr (kIsList<T> && !kIsMap<T>) {
    for (size_t i = 0; i < value.size(); ++i)
      ListUnsetIn(value[i], path + "[" + std::to_string(i) + "]", unset);
  }
}

template <typename T, typename... Fields>
void ListUnsetFields(const T& value, const FieldList<Fields...>& fields, const std::string& path,
                     std::vector<std::string>& unset) {
  const auto look = [&](const auto& field) {
    using FieldOrNested = std::remove_cvref_t<decltype(field)>;
    if constexpr (kIsNested<FieldOrNested>) {
      ListUnsetFields(value, field.fields, path, unset);
    } else {
      const auto& member = value.*FieldOrNested::kMember;
      const std::string here = path + "." + std::string(field.name);
      if (member == std::remove_cvref_t<decltype(member)>()) unset.push_back(here);
      ListUnsetIn(member, here, unset);
    }
  };
  fields.Apply([&](const auto&... field) { (look(field), ...); });
}

// The members of tables, at any depth, that `value` leaves at their default.
template <Struct T>
void ListUnset(const T& value, const std::string& path, std::vector<std::string>& unset) {
  ListUnsetFields(value, kFieldsOf<T>, path, unset);
}

// The object of the golden files, once its protobuf and JSON forms have proved equal.
template <typename T>
T DecodeBothForms(const std::string& name) {
  SCOPED_TRACE(name);
  const auto from_protobuf = DecodeProtobuf<T>(TestData(name + ".pb"));
  EXPECT_TRUE(from_protobuf) << from_protobuf.error().message;
  const auto from_json = DecodeJson<T>(TestData(name + ".json"));
  EXPECT_TRUE(from_json) << from_json.error().message;
  EXPECT_EQ(EncodeJson(*from_protobuf), EncodeJson(*from_json));
  EXPECT_EQ(*from_protobuf, *from_json);
  std::string written;
  EncodeProtobuf(*from_protobuf, nullptr, written);
  const auto again = DecodeProtobuf<T>(written);
  EXPECT_TRUE(again) << again.error().message;
  EXPECT_EQ(*from_protobuf, *again);
  return *from_protobuf;
}

template <typename T>
void ExpectEveryFieldIsRead(const std::string& name) {
  std::vector<std::string> unset;
  ListUnset(DecodeBothForms<T>(name), "", unset);
  EXPECT_EQ(unset, std::vector<std::string>()) << name;
}

TEST(GoldenTest, EveryFieldOfTheTablesIsReadFromProtobufAndJsonAlike) {
  ExpectEveryFieldIsRead<Pod>("pod_full");
  ExpectEveryFieldIsRead<Node>("node_full");
  ExpectEveryFieldIsRead<Namespace>("namespace_full");
  ExpectEveryFieldIsRead<Service>("service_full");
  ExpectEveryFieldIsRead<ReplicationController>("replication_controller_full");
  ExpectEveryFieldIsRead<ReplicaSet>("replica_set_full");
  ExpectEveryFieldIsRead<StatefulSet>("stateful_set_full");
  ExpectEveryFieldIsRead<PodDisruptionBudget>("pod_disruption_budget_full");
  ExpectEveryFieldIsRead<PersistentVolume>("persistent_volume_full");
  ExpectEveryFieldIsRead<PersistentVolumeClaim>("persistent_volume_claim_full");
  ExpectEveryFieldIsRead<StorageClass>("storage_class_full");
  ExpectEveryFieldIsRead<CSINode>("csi_node_full");
  ExpectEveryFieldIsRead<CSIDriver>("csi_driver_full");
  ExpectEveryFieldIsRead<CSIStorageCapacity>("csi_storage_capacity_full");
  ExpectEveryFieldIsRead<VolumeAttachment>("volume_attachment_full");
  ExpectEveryFieldIsRead<VolumeAttributesClass>("volume_attributes_class_full");
  ExpectEveryFieldIsRead<ResourceClaim>("resource_claim_full");
  ExpectEveryFieldIsRead<ResourceClaimTemplate>("resource_claim_template_full");
  ExpectEveryFieldIsRead<DeviceClass>("device_class_full");
  ExpectEveryFieldIsRead<ResourceSlice>("resource_slice_full");
  ExpectEveryFieldIsRead<DeviceTaintRule>("device_taint_rule_full");
  ExpectEveryFieldIsRead<PodGroup>("pod_group_full");
  ExpectEveryFieldIsRead<CompositePodGroup>("composite_pod_group_full");
  ExpectEveryFieldIsRead<Workload>("workload_full");
  ExpectEveryFieldIsRead<Lease>("lease_full");
  ExpectEveryFieldIsRead<ApiStatus>("status_full");
}

TEST(GoldenTest, AnObjectWithNothingSetIsReadAsTheDefault) {
  EXPECT_EQ(DecodeBothForms<Pod>("pod_empty"), Pod());
  EXPECT_EQ(DecodeBothForms<Node>("node_empty"), Node());
}

TEST(GoldenTest, FieldsLandInTheirMembers) {
  const Pod pod = DecodeBothForms<Pod>("pod_full");
  EXPECT_EQ(pod.metadata.name, "metadata.name");
  EXPECT_EQ(pod.metadata.namespace_, "metadata.namespace");
  EXPECT_EQ(pod.metadata.uid, "metadata.uid");
  EXPECT_EQ(pod.metadata.resource_version, "metadata.resourceVersion");
  EXPECT_EQ(pod.metadata.labels, (StringMap{{"alpha", "metadata.labels.alpha"},
                                            {"cpu", "metadata.labels.cpu"},
                                            {"zeta", "metadata.labels.zeta"}}));
  EXPECT_EQ(pod.spec.node_name, "spec.nodeName");
  EXPECT_EQ(pod.spec.scheduler_name, "spec.schedulerName");
  EXPECT_EQ(pod.spec.preemption_policy, "spec.preemptionPolicy");
  EXPECT_EQ(pod.spec.volumes[0].persistent_volume_claim->claim_name, "claimName");
  EXPECT_EQ(pod.spec.volumes[1].image->reference, "reference");
  EXPECT_EQ(pod.spec.tolerations[0].key, "spec.tolerations[0].key");
  EXPECT_EQ(pod.spec.tolerations[0].operator_, "spec.tolerations[0].operator");
  EXPECT_EQ(pod.spec.tolerations[0].value, "spec.tolerations[0].value");
  EXPECT_EQ(pod.spec.tolerations[0].effect, "spec.tolerations[0].effect");
  EXPECT_EQ(pod.status.phase, "status.phase");
  EXPECT_EQ(pod.status.nominated_node_name, "status.nominatedNodeName");
  EXPECT_EQ(pod.status.conditions[0].type, "status.conditions[0].type");
  EXPECT_EQ(pod.status.conditions[0].status, "status.conditions[0].status");
  EXPECT_EQ(pod.status.conditions[0].reason, "status.conditions[0].reason");
  EXPECT_EQ(pod.status.conditions[0].message, "status.conditions[0].message");

  const Node node = DecodeBothForms<Node>("node_full");
  EXPECT_TRUE(node.spec.unschedulable);
  EXPECT_EQ(node.spec.taints[1].key, "spec.taints[1].key");
  EXPECT_EQ(node.spec.taints[1].value, "spec.taints[1].value");
  EXPECT_EQ(node.spec.taints[1].effect, "spec.taints[1].effect");
  ASSERT_TRUE(node.spec.pod_preemption_policy.has_value());
  EXPECT_EQ(node.spec.pod_preemption_policy->disable_resize_preemption[0],
            "disableResizePreemption[0]");
  EXPECT_EQ(node.status.declared_features[0], "status.declaredFeatures[0]");
}

TEST(GoldenTest, AUsualPodKeepsPresenceAndNegativeNumbers) {
  const Pod pod = DecodeBothForms<Pod>("pod_usual");
  EXPECT_EQ(pod.priority(), -10);
  EXPECT_EQ(pod.spec.tolerations[0].toleration_seconds, -1);
  EXPECT_TRUE(pod.spec.init_containers[0].restartable());
  ASSERT_TRUE(pod.spec.affinity->node_affinity);
  const auto& terms =
      pod.spec.affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution;
  EXPECT_EQ(terms[0].label_selector, LabelSelector());
  EXPECT_EQ(terms[1].label_selector, std::nullopt);
  EXPECT_EQ(pod.spec.containers[0].image, "registry/größe:1");
  EXPECT_EQ(pod.spec.containers[0].resources.requests,
            (ResourceList{{"cpu", Quantity::FromMilli(250)},
                          {"memory", Quantity::FromUnits(1610612736)}}));
  EXPECT_EQ(pod.spec.volumes[0].name, "tmp");
  EXPECT_FALSE(pod.spec.volumes[0].persistent_volume_claim);
  EXPECT_EQ(pod.spec.volumes[1].persistent_volume_claim->claim_name, "data-web-0");
  EXPECT_EQ(pod.metadata.deletion_timestamp, std::nullopt);
}

TEST(GoldenTest, ReadIdentityFindsWhatIdentifiesTheObject) {
  const PartialIdentity want = {.namespace_ = "metadata.namespace",
                                .name = "metadata.name",
                                .uid = "metadata.uid",
                                .resource_version = "metadata.resourceVersion",
                                .node_name = "spec.nodeName",
                                .scheduler_name = "spec.schedulerName"};
  EXPECT_EQ(ReadIdentity(Encoding::kProtobuf, TestData("pod_full.pb")), want);
  EXPECT_EQ(ReadIdentity(Encoding::kJson, TestData("pod_full.json")), want);
  EXPECT_EQ(want.Key(), "metadata.namespace/metadata.name");
}

TEST(GoldenTest, ReadTypeMetaFindsTheKind) {
  const TypeMeta want = {"policy/v1", "PodDisruptionBudget"};
  EXPECT_EQ(ReadTypeMeta(Encoding::kProtobuf, TestData("pod_disruption_budget_full.pb")), want);
  EXPECT_EQ(ReadTypeMeta(Encoding::kJson, TestData("pod_disruption_budget_full.json")), want);
}

// Feeds `body` in parts of `part` bytes; the names of the pods in the list.
std::vector<std::string> ReadList(Encoding encoding, const std::string& body, size_t part,
                                  ListMeta& meta) {
  std::vector<std::string> names;
  ListReader reader(encoding, [&](std::string_view item) {
    const auto pod = Decode<Pod>(encoding, item);
    ASSERT_TRUE(pod) << pod.error().message;
    EXPECT_EQ(pod->spec.containers.size(), 1u);
    names.push_back(pod->metadata.name);
  });
  for (size_t at = 0; at < body.size(); at += part) {
    const auto pushed = reader.Push(std::string_view(body).substr(at, part));
    EXPECT_TRUE(pushed) << pushed.error().message;
  }
  const auto finished = reader.Finish();
  EXPECT_TRUE(finished) << finished.error().message;
  if (finished) meta = *finished;
  return names;
}

TEST(GoldenTest, ListsAreReadWhateverPartsTheyArriveIn) {
  for (const size_t part : std::initializer_list<size_t>{1, 2, 3, 7, 64, 1000, 1'000'000}) {
    SCOPED_TRACE(part);
    const std::vector<std::string> want = {"web-0", "web-1", "web-2", "web-3", "web-4"};
    ListMeta meta;
    EXPECT_EQ(ReadList(Encoding::kProtobuf, TestData("pod_list.pb"), part, meta), want);
    EXPECT_EQ(meta, (ListMeta{"1000", "more"}));
    meta = {};
    EXPECT_EQ(ReadList(Encoding::kJson, TestData("pod_list.json"), part, meta), want);
    EXPECT_EQ(meta, (ListMeta{"1000", "more"}));
    EXPECT_TRUE(ReadList(Encoding::kProtobuf, TestData("pod_list_empty.pb"), part, meta).empty());
    EXPECT_EQ(meta, (ListMeta{"7", ""}));
    EXPECT_TRUE(ReadList(Encoding::kJson, TestData("pod_list_empty.json"), part, meta).empty());
    EXPECT_EQ(meta, (ListMeta{"7", ""}));
  }
}

void ExpectTheWatch(Encoding encoding, const std::string& body, size_t part) {
  std::vector<WatchEventType> types;
  WatchFrames frames(encoding);
  for (size_t at = 0; at < body.size(); at += part) {
    frames.Push(std::string_view(body).substr(at, part));
    for (;;) {
      const auto frame = frames.Next();
      ASSERT_TRUE(frame) << frame.error().message;
      if (!*frame) break;
      const auto event = DecodeWatchEvent(encoding, **frame);
      ASSERT_TRUE(event) << event.error().message;
      types.push_back(event->type);
      if (event->type == WatchEventType::kBookmark) {
        EXPECT_EQ(DecodeBookmark(encoding, event->object), (Bookmark{"1234", true}));
      } else if (event->type == WatchEventType::kError) {
        const auto status = Decode<ApiStatus>(encoding, event->object);
        ASSERT_TRUE(status) << status.error().message;
        EXPECT_EQ(status->code, 410);
        EXPECT_EQ(status->reason, "Expired");
      } else {
        const auto pod = Decode<Pod>(encoding, event->object);
        ASSERT_TRUE(pod) << pod.error().message;
        EXPECT_EQ(pod->metadata.name, "web-0");
      }
    }
  }
  EXPECT_FALSE(frames.pending());
  EXPECT_EQ(types, (std::vector{WatchEventType::kAdded, WatchEventType::kModified,
                                WatchEventType::kDeleted, WatchEventType::kBookmark,
                                WatchEventType::kError}));
}

TEST(GoldenTest, WatchesAreReadWhateverPartsTheyArriveIn) {
  for (const size_t part : std::initializer_list<size_t>{1, 2, 3, 7, 64, 1000, 1'000'000}) {
    SCOPED_TRACE(part);
    ExpectTheWatch(Encoding::kProtobuf, TestData("pod_watch.pb"), part);
    ExpectTheWatch(Encoding::kJson, TestData("pod_watch.json"), part);
  }
}

}  // namespace
}  // namespace berth::api
