// SPDX-License-Identifier: Apache-2.0
#include "src/api/stored_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <protozero/pbf_writer.hpp>
#include <string>

#include "src/api/claim_bodies.h"
#include "src/api/wire_types.h"

namespace berth::api {
namespace {

using testing::HasSubstr;
using testing::Not;

// Parameters as no encoder writes them.
constexpr std::string_view kOdd = R"({ "b":1.0, "a":"\u0041<", "a":[1 ,2] })";

// Fields that no table has: of the claim, its metadata, its spec, its status, an allocation, a
// consumer and a device.
constexpr uint32_t kUnknown = 1000;

void AddUnknown(protozero::pbf_writer& out, std::string_view text) {
  out.add_string(kUnknown, text.data(), text.size());
}

// A claim as a server of a later version may send it.
std::string OddClaim(bool managed = true) {
  std::string bytes;
  protozero::pbf_writer claim(bytes);
  {
    protozero::pbf_writer metadata(claim, 1);
    metadata.add_string(1, "c");
    metadata.add_string(6, "7");
    metadata.add_string(14, "example.com/mine");
    if (managed) protozero::pbf_writer(metadata, 17).add_string(1, "manager");
    AddUnknown(metadata, "of metadata");
  }
  {
    protozero::pbf_writer spec(claim, 2);
    protozero::pbf_writer devices(spec, 1);
    protozero::pbf_writer config(devices, 3);
    protozero::pbf_writer opaque(config, 1);
    protozero::pbf_writer(opaque, 2).add_string(1, kOdd.data(), kOdd.size());
    AddUnknown(opaque, "of the parameters");
  }
  {
    protozero::pbf_writer status(claim, 3);
    {
      protozero::pbf_writer allocation(status, 1);
      {
        protozero::pbf_writer devices(allocation, 1);
        protozero::pbf_writer result(devices, 1);
        result.add_string(4, "gpu-0");
      }
      AddUnknown(allocation, "of the allocation");
    }
    {
      protozero::pbf_writer consumer(status, 2);
      consumer.add_string(5, "p-uid");
      AddUnknown(consumer, "of the consumer");
    }
    {
      protozero::pbf_writer device(status, 4);
      device.add_string(3, "gpu-0");
      protozero::pbf_writer(device, 5).add_string(1, kOdd.data(), kOdd.size());
      AddUnknown(device, "of the device");
    }
    status.add_int32(kUnknown + 1, -1);
    AddUnknown(status, "of the status");
  }
  claim.add_fixed64(kUnknown + 2, 3);
  AddUnknown(claim, "of the claim");
  return bytes;
}

StoredForm Odd() { return StoredFormOf(Encoding::kProtobuf, OddClaim()); }
ResourceClaim Read(const StoredForm& form) {
  return *Decode<ResourceClaim>(form.json ? Encoding::kJson : Encoding::kProtobuf, *form.bytes);
}

constexpr std::string_view kJsonClaim =
    R"({"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1", "metadata":{"name":"c",)"
    R"("managedFields":[{"manager":"m","fieldsV1":{"f:a":{"]":"}"}}}],"finalizers":["example.com/mine"]},)"
    R"("spec":{"devices":{"config":[{"opaque":{"driver":"d","parameters":{ "b":1.0, "a":"\u0041<" }}}]}},)"
    R"("status":{"allocation":{"devices":{"results":[{"device":"gpu-0"}]},"more":1e3},)"
    R"("reservedFor":[{"uid":"p-uid", "more" : [ ] }],"devices":[{"device":"gpu-0","data":{ "x":1.0 }}],"more":{"a" : {}}}})";

StoredForm OddJson() { return StoredFormOf(Encoding::kJson, kJsonClaim); }

TEST(StoredFormTest, IsTheObjectItselfWithoutManagedFields) {
  const StoredForm bare = Odd();
  EXPECT_EQ(*bare.bytes, OddClaim(/*managed=*/false));
  EXPECT_EQ(ContentTypeOf(bare), "application/vnd.kubernetes.protobuf");
  const std::string body = BodyOf(bare, "resource.k8s.io/v1", "ResourceClaim");
  const auto envelope = OpenEnvelope(body);
  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->type_meta, (TypeMeta{"resource.k8s.io/v1", "ResourceClaim"}));
  EXPECT_EQ(envelope->raw, *bare.bytes);
  EXPECT_EQ(*StoredFormOf(Encoding::kProtobuf, body).bytes, *bare.bytes);

  const StoredForm json = OddJson();
  EXPECT_THAT(*json.bytes, Not(HasSubstr("managedFields")));
  EXPECT_EQ(BodyOf(json, "", ""), *json.bytes);
  EXPECT_EQ(ContentTypeOf(json), "application/json");
}

TEST(StoredFormTest, AFinalizerComesAndGoesAndAllElseKeepsItsBytes) {
  for (const StoredForm& before : {Odd(), OddJson()}) {
    EXPECT_EQ(WithoutFinalizer(before), std::nullopt);
    const auto with = WithFinalizer(before);
    ASSERT_TRUE(with);
    EXPECT_EQ(with->json, before.json);
    EXPECT_LT(with->bytes->find("example.com/mine"), with->bytes->find(kClaimFinalizer));
    EXPECT_EQ(WithFinalizer(*with), std::nullopt);
    const auto without = WithoutFinalizer(*with);
    ASSERT_TRUE(without);
    if (before.json) {
      EXPECT_EQ(Read(*without), Read(before));
    } else {
      EXPECT_EQ(*without->bytes, *before.bytes);
    }
  }
}

TEST(StoredFormTest, AConsumerIsAddedToAStatusThatKeepsItsBytes) {
  ResourceClaimStatus status = Read(Odd()).status;
  status.reserved_for.push_back({"", "pods", "q", "q-uid"});
  const auto written = WithStatus(Odd(), status);
  ASSERT_TRUE(written);
  EXPECT_EQ(Read(*written).status, status);
  for (const char* unknown : {"of the claim", "of metadata", "of the parameters", "of the status",
                              "of the allocation", "of the consumer", "of the device"}) {
    EXPECT_THAT(*written->bytes, HasSubstr(unknown));
  }
  // What was added taken out again, it is what it was.
  const auto again = WithStatus(*written, Read(Odd()).status);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again->bytes, *Odd().bytes);

  status = Read(OddJson()).status;
  status.reserved_for.push_back({"", "pods", "q", "q-uid"});
  const auto json = WithStatus(OddJson(), status);
  ASSERT_TRUE(json);
  for (const char* kept :
       {R"("parameters":{ "b":1.0, "a":"\u0041<" })", R"("more":1e3)",
        R"({"uid":"p-uid", "more" : [ ] })", R"({"device":"gpu-0","data":{ "x":1.0 }})",
        R"("more":{"a" : {}})", R"("uid":"q-uid")"}) {
    EXPECT_THAT(*json->bytes, HasSubstr(kept));
  }
  EXPECT_EQ(Read(*json).status, status);
}

TEST(StoredFormTest, AnAllocationComesGetsItsTimeAndGoes) {
  for (const StoredForm& before : {Odd(), OddJson()}) {
    const ResourceClaimStatus old = Read(before).status;
    const auto none = WithStatus(before, {});
    ASSERT_TRUE(none);
    EXPECT_EQ(Read(*none).status, ResourceClaimStatus());
    EXPECT_THAT(*none->bytes, HasSubstr(before.json ? R"("more":{"a" : {}})" : "of the status"));

    ResourceClaimStatus wanted = old;
    wanted.devices.clear();
    OpaqueDeviceConfiguration opaque{.driver = "d", .parameters = {std::string(kOdd)}};
    wanted.allocation->devices.config.push_back(
        {.source = "FromClaim", .requests = {}, .opaque = opaque});
    const auto other = WithStatus(*none, wanted);
    ASSERT_TRUE(other);
    EXPECT_EQ(Read(*other).status.allocation->devices.results, wanted.allocation->devices.results);
    EXPECT_THAT(*other->bytes, HasSubstr(kOdd));
    // It cannot become another one, however it was read; what drivers say is theirs.
    wanted.devices = old.devices;
    wanted.devices[0].data->text = "{}";
    const auto same = WithStatus(before, wanted);
    ASSERT_TRUE(same);
    EXPECT_EQ(Read(*same).status, old);

    ResourceClaimStatus timed = old;
    timed.allocation->allocation_timestamp = Time(std::chrono::seconds(60));
    const auto with_time = WithStatus(before, timed);
    ASSERT_TRUE(with_time);
    EXPECT_EQ(Read(*with_time).status, timed);
    EXPECT_THAT(*with_time->bytes, HasSubstr(before.json ? R"("more":1e3)" : "of the allocation"));
  }
}

TEST(StoredFormTest, WhatIsEncodedAnewReadsAsItWasMeant) {
  ResourceClaimStatus status;
  AllocationResult& allocation = status.allocation.emplace();
  allocation.node_selector.emplace().node_selector_terms.emplace_back();
  DeviceRequestAllocationResult& result = allocation.devices.results.emplace_back();
  result.device = "gpu-0";
  result.admin_access = false;
  result.consumed_capacity = {{"memory", *Quantity::Parse("1500m")}};
  result.share_id = "";
  status.reserved_for = {{}, {"", "pods", "p", "p-uid"}};
  for (const StoredForm& odd : {Odd(), OddJson()}) {
    const StoredForm before = *WithStatus(odd, {});
    const auto written = WithStatus(before, status);
    ASSERT_TRUE(written);
    EXPECT_EQ(Read(*written).status.allocation, status.allocation);
    EXPECT_EQ(
        SplicerOf(before)
            .Get(SplicerOf(before).Inner(*written->bytes, {3, "status"}), {2, "reservedFor", true})
            .size(),
        2u);
    EXPECT_THAT(*written->bytes, HasSubstr("p-uid"));
  }
}

TEST(StoredFormTest, JsonIsTakenApartAtAnyDepthAndHoweverItIsSpaced) {
  std::string deep(5000, '[');
  deep += std::string(5000, ']');
  const std::string text =
      "\n{ \"metadata\" :\t{ \"name\":\"c\" , \"finalizers\" : [ ] } ,\"a\\\"}\" : \"]\\\\\" , "
      "\"deep\":" +
      deep + ", \"n\" : null , \"t\" : true,\"status\": null }\n";
  const auto with = WithFinalizer(StoredFormOf(Encoding::kJson, text));
  ASSERT_TRUE(with);
  EXPECT_EQ(*with->bytes,
            R"({"a\"}":"]\\","deep":)" + deep +
                R"(,"n":null,"t":true,"status":null,"metadata":{"name":"c","finalizers":[")" +
                std::string(kClaimFinalizer) + R"("]}})");
  ResourceClaimStatus status;
  status.reserved_for.push_back({"", "pods", "p", "p-uid"});
  const auto reserved = WithStatus(StoredFormOf(Encoding::kJson, R"({"status":null})"), status);
  ASSERT_TRUE(reserved);
  EXPECT_EQ(
      *reserved->bytes,
      R"({"metadata":{},"status":{"reservedFor":[{"resource":"pods","name":"p","uid":"p-uid"}]}})");
}

// Of a server or of nothing that is one: no byte beyond the text is read, and it ends.
TEST(StoredFormTest, DamageEndsWhatIsRead) {
  for (const std::string_view text :
       {"", "{", "{\"", "{\"metadata\"", "{\"metadata\":", "{\"metadata\":{\"finalizers\":[\"\\",
        "[", "]", "{]", "{\"metadata\":]}", "{\"a\":1,}", ",", "{,}"}) {
    for (const bool json : {false, true}) {
      const StoredForm form{std::make_shared<const std::string>(text), json};
      (void)WithFinalizer(form);
      (void)WithoutFinalizer(form);
      (void)WithStatus(form, {});
    }
  }
  for (size_t cut = 0; cut < OddClaim().size(); ++cut) {
    const StoredForm form{std::make_shared<const std::string>(OddClaim().substr(0, cut)), false};
    (void)WithFinalizer(form);
    (void)WithStatus(form, {});
  }
  EXPECT_FALSE(WithStatus({std::make_shared<const std::string>("\x0f"), false}, {}));
}

}  // namespace
}  // namespace berth::api
