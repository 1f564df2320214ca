// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <type_traits>

#include "src/api/decode.h"
#include "src/api/tables.h"
#include "src/documents/parse.h"
#include "tests/unit/api/testdata.h"

namespace berth::documents {
namespace {

using namespace api;  // kinds, field tables and their concepts

// Fills structs at random, by their field tables.
class Filler {
 public:
  explicit Filler(uint64_t seed) : random_(seed) {}

  template <Struct T>
  void Fill(T& out) {
    FillFields(out, kFieldsOf<T>);
  }

 private:
  uint64_t Pick(uint64_t count) { return random_() % count; }

  void Fill(bool& out) { out = Pick(2) == 0; }
  void Fill(int32_t& out) { out = static_cast<int32_t>(random_() >> Pick(64)); }
  void Fill(int64_t& out) { out = static_cast<int64_t>(random_() >> Pick(64)); }
  void Fill(std::string& out) {
    static constexpr const char* kParts[] = {"a",  "b",    "yes",  "0",  "1e3", " ", "\"",
                                             "\\", "\n",   "\x01", "é",  "木",  ":", "#",
                                             "- ", "null", "~",    "{}", "'",   "/", "."};
    out.clear();
    for (uint64_t i = Pick(4); i > 0; --i) out += kParts[Pick(std::size(kParts))];
  }
  void Fill(Quantity& out) {
    out = Quantity::FromNanos(static_cast<Quantity::Nanos>(random_() >> (1 + Pick(63))));
  }
  void Fill(RawJson& out) {
    static constexpr const char* kTexts[] = {
        "{}", "[]", "-1", "2.5", "true", "\"x\"", R"({"a":[1,{"b":null}],"c":"\n"})"};
    out.text = kTexts[Pick(std::size(kTexts))];
  }
  void Fill(std::vector<bool>& out) {
    for (uint64_t i = Pick(3); i > 0; --i) out.push_back(Pick(2) == 0);
  }
  void Fill(Time& out) {
    out = Time(std::chrono::seconds(static_cast<int64_t>(random_() % 9'000'000'000)));
  }
  void Fill(MicroTime& out) {
    out.time = Time(std::chrono::microseconds(static_cast<int64_t>(random_() % (1ull << 53))));
  }
  void Fill(IntOrString& out) {
    if (Pick(2) == 0) {
      Fill(out.emplace<int32_t>());
    } else {
      Fill(out.emplace<std::string>());
    }
  }
  template <Optional T>
  void Fill(T& out) {
    if (Pick(2) == 0) Fill(out.emplace());
  }
  template <typename T>
  void Fill(std::vector<T>& out) {
    for (uint64_t i = Pick(3); i > 0; --i) {
      if constexpr (kIsMap<std::vector<T>>) {
        auto& entry = out.emplace_back();
        Fill(entry.first);
        Fill(entry.second);
      } else {
        Fill(out.emplace_back());
      }
    }
    if constexpr (kIsMap<std::vector<T>>) SortMap(out);
  }
  template <typename T, typename... Fields>
  void FillFields(T& out, const FieldList<Fields...>& fields) {
    const auto fill = [&](const auto& field) {
      using FieldOrNested = std::remove_cvref_t<decltype(field)>;
      if constexpr (kIsNested<FieldOrNested>) {
        FillFields(out, field.fields);
      } else if (Pick(3) != 0) {
        Fill(out.*FieldOrNested::kMember);
      }
    };
    fields.Apply([&](const auto&... field) { (fill(field), ...); });
  }

  std::mt19937_64 random_;
};

template <typename T>
class RoundTripTest : public testing::Test {};

using Kinds =
    testing::Types<Pod, Node, Namespace, Service, ReplicationController, ReplicaSet, StatefulSet,
                   PodDisruptionBudget, PersistentVolume, PersistentVolumeClaim, StorageClass,
                   CSINode, CSIDriver, CSIStorageCapacity, VolumeAttachment, VolumeAttributesClass,
                   ResourceClaim, ResourceClaimTemplate, DeviceClass, ResourceSlice,
                   DeviceTaintRule, PodGroup, CompositePodGroup, Workload, CoschedulingPodGroup,
                   NodeResourceTopology, ElasticQuota, Lease, ApiStatus>;
TYPED_TEST_SUITE(RoundTripTest, Kinds);

TYPED_TEST(RoundTripTest, WhatIsEncodedAsJsonReadsBackEqualAsJsonAndAsYaml) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    TypeParam object;
    Filler(seed).Fill(object);
    const std::string json = EncodeJson(object);
    const auto from_json = DecodeJson<TypeParam>(json);
    ASSERT_TRUE(from_json) << from_json.error().message << "\n" << json;
    ASSERT_EQ(*from_json, object) << json << "\n" << EncodeJson(*from_json);

    const auto value = ParseJson(json, "");
    ASSERT_TRUE(value) << value.error().message << "\n" << json;
    const auto from_value = DecodeValue<TypeParam>(*value, "", UnknownFields::kFail);
    ASSERT_TRUE(from_value) << from_value.error().message << "\n" << json;
    ASSERT_EQ(*from_value, object) << json;

    const auto documents = ParseYaml(json, "");
    ASSERT_TRUE(documents) << documents.error().message << "\n" << json;
    ASSERT_EQ(documents->size(), 1u);
    const auto from_yaml = DecodeValue<TypeParam>(documents->front(), "", UnknownFields::kFail);
    ASSERT_TRUE(from_yaml) << from_yaml.error().message << "\n" << json;
    ASSERT_EQ(*from_yaml, object) << json;
  }
}

// The golden files are written by the API server's own types.
template <typename T>
void ExpectYamlReadsAsJson(const std::string& name) {
  SCOPED_TRACE(name);
  const std::string json = api::TestData(name + ".json");
  const auto from_json = DecodeJson<T>(json);
  ASSERT_TRUE(from_json) << from_json.error().message;
  const auto documents = ParseYaml(json, name);
  ASSERT_TRUE(documents) << documents.error().message;
  const auto from_value = DecodeValue<T>(documents->front(), "");
  ASSERT_TRUE(from_value) << from_value.error().message;
  EXPECT_EQ(*from_value, *from_json);
}

TEST(GoldenTest, ADocumentReadsAsTheJsonOfTheWire) {
  ExpectYamlReadsAsJson<Pod>("pod_full");
  ExpectYamlReadsAsJson<Pod>("pod_empty");
  ExpectYamlReadsAsJson<Node>("node_full");
  ExpectYamlReadsAsJson<Node>("node_empty");
  ExpectYamlReadsAsJson<Namespace>("namespace_full");
  ExpectYamlReadsAsJson<Service>("service_full");
  ExpectYamlReadsAsJson<ReplicationController>("replication_controller_full");
  ExpectYamlReadsAsJson<ReplicaSet>("replica_set_full");
  ExpectYamlReadsAsJson<StatefulSet>("stateful_set_full");
  ExpectYamlReadsAsJson<PodDisruptionBudget>("pod_disruption_budget_full");
  ExpectYamlReadsAsJson<PersistentVolume>("persistent_volume_full");
  ExpectYamlReadsAsJson<PersistentVolumeClaim>("persistent_volume_claim_full");
  ExpectYamlReadsAsJson<StorageClass>("storage_class_full");
  ExpectYamlReadsAsJson<CSINode>("csi_node_full");
  ExpectYamlReadsAsJson<CSIDriver>("csi_driver_full");
  ExpectYamlReadsAsJson<CSIStorageCapacity>("csi_storage_capacity_full");
  ExpectYamlReadsAsJson<VolumeAttachment>("volume_attachment_full");
  ExpectYamlReadsAsJson<VolumeAttributesClass>("volume_attributes_class_full");
  ExpectYamlReadsAsJson<Lease>("lease_full");
  ExpectYamlReadsAsJson<ApiStatus>("status_full");
}

}  // namespace
}  // namespace berth::documents
