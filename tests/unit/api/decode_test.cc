// SPDX-License-Identifier: Apache-2.0
#include "src/api/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

namespace berth::api {
namespace {

using protozero::pbf_writer;
using testing::HasSubstr;

// A protobuf message, written field by field.
class Message {
 public:
  Message& Text(uint32_t number, const std::string& value) {
    pbf_writer(bytes_).add_bytes(number, value);
    return *this;
  }
  Message& Number(uint32_t number, int64_t value) {
    pbf_writer(bytes_).add_int64(number, value);
    return *this;
  }
  Message& Fixed(uint32_t number) {
    pbf_writer(bytes_).add_fixed64(number, 1);
    pbf_writer(bytes_).add_fixed32(number, 1);
    return *this;
  }
  operator const std::string&() const { return bytes_; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

std::string Entry(const std::string& key, const std::string& value) {
  return Message().Text(1, key).Text(2, value);
}

std::string Enveloped(const std::string& api_version, const std::string& kind,
                      const std::string& raw) {
  const std::string type = Message().Text(1, api_version).Text(2, kind);
  const std::string unknown = Message().Text(1, type).Text(2, raw).Text(3, "").Text(4, "");
  return std::string("k8s\0", 4) + unknown;
}

std::string PodWithSpec(const std::string& spec) { return Message().Text(2, spec); }

TEST(DecodeTest, ProtobufFieldsAreReadByNumber) {
  const std::string metadata = Message()
                                   .Text(1, "web")
                                   .Text(3, "shop")
                                   .Number(7, 3)
                                   .Text(8, Message().Number(1, 1700000000).Number(2, 5))
                                   .Text(9, "")
                                   .Text(11, Entry("b", "2"))
                                   .Text(11, Entry("a", "1"))
                                   .Text(11, Entry("b", "3"));
  const std::string container =
      Message().Text(1, "main").Text(8, Message().Text(2, Entry("cpu", Message().Text(1, "250m"))));
  const std::string spec = Message()
                               .Text(2, container)
                               .Number(11, 1)
                               .Number(25, -7)
                               .Text(1, Message().Text(1, "data").Text(
                                            2, Message().Text(10, Message().Text(1, "claim"))));
  const auto pod = DecodeProtobuf<Pod>(Message().Text(1, metadata).Text(2, spec).bytes());
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->metadata.Key(), "shop/web");
  EXPECT_EQ(pod->metadata.generation, 3);
  EXPECT_EQ(pod->metadata.creation_timestamp, Time(std::chrono::seconds(1700000000)));
  EXPECT_EQ(pod->metadata.deletion_timestamp, std::nullopt);
  EXPECT_EQ(pod->metadata.labels, (StringMap{{"a", "1"}, {"b", "3"}}));
  EXPECT_EQ(pod->spec.containers.at(0).resources.requests,
            (ResourceList{{"cpu", Quantity::FromMilli(250)}}));
  EXPECT_TRUE(pod->spec.host_network);
  EXPECT_EQ(pod->spec.priority, -7);
  EXPECT_EQ(pod->spec.volumes.at(0).persistent_volume_claim->claim_name, "claim");
}

TEST(DecodeTest, UnknownProtobufFieldsOfEveryWireTypeAreSkipped) {
  const std::string metadata =
      Message().Text(900, "x").Fixed(901).Number(902, 5).Text(1, "web").Fixed(18);
  const auto pod = DecodeProtobuf<Pod>(Message().Fixed(77).Text(1, metadata).Number(99, 1).bytes());
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->metadata.name, "web");
}

TEST(DecodeTest, TheEnvelopeMustHoldTheWantedKind) {
  const std::string raw = Message().Text(1, Message().Text(1, "n1"));
  EXPECT_EQ(DecodeProtobuf<Node>(Enveloped("v1", "Node", raw))->metadata.name, "n1");
  EXPECT_EQ(DecodeProtobuf<Node>(Enveloped("", "", raw))->metadata.name, "n1");
  EXPECT_EQ(DecodeProtobuf<Node>(raw)->metadata.name, "n1");
  const auto wrong = DecodeProtobuf<Pod>(Enveloped("v1", "Node", raw));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "expected v1 Pod, got v1 Node");
  const auto json = DecodeJson<Pod>(R"({"apiVersion":"v1","kind":"Node"})");
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().message, "expected v1 Pod, got v1 Node");
}

TEST(DecodeTest, ACompressedEnvelopeIsRefused) {
  const std::string unknown = Message().Text(2, "").Text(3, "gzip");
  const auto pod = DecodeProtobuf<Pod>(std::string("k8s\0", 4) + unknown);
  ASSERT_FALSE(pod);
  EXPECT_EQ(pod.error().message, "contentEncoding: \"gzip\" is not supported");
}

TEST(DecodeTest, ProtobufErrorsNameTheField) {
  const auto container = [](const std::string& requests) {
    return Message().Text(2, "").Text(2, Message().Text(8, Message().Text(2, requests))).bytes();
  };
  const struct {
    const char* name;
    std::string bytes;
    const char* error;
  } cases[] = {
      {"bad quantity", PodWithSpec(container(Entry("cpu", Message().Text(1, "lots")))),
       "spec.containers[1].resources.requests[\"cpu\"]: \"lots\": quantities must match"},
      {"overflow", PodWithSpec(Message().Number(25, 5'000'000'000)),
       "spec.priority: 5000000000 is out of range"},
      {"string where a number is due", PodWithSpec(Message().Text(25, "x")),
       "spec.priority: malformed protobuf: wrong wire type"},
      {"number where a string is due", PodWithSpec(Message().Number(10, 1)),
       "spec.nodeName: malformed protobuf: wrong wire type"},
      {"number where a message is due", Message().Number(2, 1),
       "spec: malformed protobuf: wrong wire type"},
      {"cut short", PodWithSpec(std::string("\x52\x7f", 2)), "spec: malformed protobuf: "},
      {"group", PodWithSpec(std::string("\x53", 1)), "spec: malformed protobuf: "},
      {"endless varint", std::string(20, '\xff'), "malformed protobuf: "},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto pod = DecodeProtobuf<Pod>(c.bytes);
    ASSERT_FALSE(pod);
    EXPECT_THAT(pod.error().message, testing::StartsWith(c.error));
  }
}

TEST(DecodeTest, JsonErrorsNameTheField) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {R"({"spec":{"containers":[{},{},{"resources":{"requests":{"cpu":"1x"}}}]}})",
       "spec.containers[2].resources.requests[\"cpu\"]: \"1x\": quantities must match"},
      {R"({"spec":{"overhead":{"cpu":true}}})",
       "spec.overhead[\"cpu\"]: expected a quantity, got a boolean"},
      {R"({"spec":{"nodeName":5}})", "spec.nodeName: expected a string, got a number"},
      {R"({"spec":{"priority":"5"}})", "spec.priority: expected an integer, got a string"},
      {R"({"spec":{"priority":1.5}})", "spec.priority: expected an integer, got 1.5"},
      {R"({"spec":{"priority":3000000000}})", "spec.priority: 3000000000 is out of range"},
      {R"({"spec":{"tolerations":[{"tolerationSeconds":18446744073709551615}]}})",
       "spec.tolerations[0].tolerationSeconds: expected an integer, got 18446744073709551615"},
      {R"({"spec":{"hostNetwork":"yes"}})",
       "spec.hostNetwork: expected true or false, got a string"},
      {R"({"spec":{"containers":{}}})", "spec.containers: expected a list, got an object"},
      {R"({"spec":[]})", "spec: expected an object, got a list"},
      {R"({"metadata":{"labels":{"a":1}}})",
       "metadata.labels[\"a\"]: expected a string, got a number"},
      {R"({"metadata":{"labels":[]}})", "metadata.labels: expected an object, got a list"},
      {R"({"metadata":{"creationTimestamp":"today"}})",
       "metadata.creationTimestamp: \"today\" is no RFC 3339 time"},
      {R"([])", "expected an object, got a list"},
      {"{\"metadata\":\n{,}}", "line 2, column 2: "},
      {"", "line 1, column 1: "},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const auto pod = DecodeJson<Pod>(c.text);
    ASSERT_FALSE(pod);
    EXPECT_THAT(pod.error().message, testing::StartsWith(c.error));
  }
}

TEST(DecodeTest, JsonNullAndUnknownMembersAreSkipped) {
  const auto pod = DecodeJson<Pod>(R"({"x":[{}],"metadata":{"name":"web","labels":null,
      "creationTimestamp":null,"y":{"z":1}},"spec":{"priority":null,"containers":[null]}})");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->metadata.name, "web");
  EXPECT_EQ(pod->spec.priority, std::nullopt);
  EXPECT_EQ(pod->spec.containers.size(), 1u);
}

TEST(DecodeTest, JsonQuantitiesMayBeNumbers) {
  const auto pod = DecodeJson<Pod>(
      R"({"spec":{"overhead":{"d":" 1 ","a":2,"b":0.5,"c":1e21,"e":18446744073709551615}}})");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->spec.overhead, (ResourceList{{"a", Quantity::FromUnits(2)},
                                              {"b", Quantity::FromMilli(500)},
                                              {"c", *Quantity::Parse("1e21")},
                                              {"d", Quantity::FromUnits(1)},
                                              {"e", *Quantity::Parse("18446744073709551615")}}));
}

// The API server looks at the sign of some amounts only: not at the limits of a claim template's
// volume, nor at the capacity that a device request wants.
TEST(DecodeTest, AmountsMayBeNegative) {
  const std::string limits = Entry("storage", Message().Text(1, "-1Gi"));
  const std::string claim = Message().Text(2, Message().Text(2, Message().Text(1, limits)));
  const std::string volume =
      Message().Text(1, "v").Text(2, Message().Text(29, Message().Text(1, claim)));
  const std::string message = PodWithSpec(Message().Text(1, volume).Text(10, "n1"));
  const auto pod = DecodeProtobuf<Pod>(message);
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->spec.node_name, "n1");
  EXPECT_TRUE(pod->spec.volumes.at(0).ephemeral);

  const auto json = DecodeJson<ResourceClaim>(
      R"({"spec":{"devices":{"requests":[{"exactly":{"capacity":{"requests":{"m":"-1"}}}}]}}})");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->spec.devices.requests.at(0).exactly->capacity->requests,
            (ResourceList{{"m", Quantity::FromUnits(-1)}}));
}

TEST(DecodeTest, WhatCannotBeReadCostsItsFieldAlone) {
  const std::string metadata = Message().Text(1, "web").Text(3, "shop").Number(5, 1);
  const auto container = [](const std::string& cpu) {
    return Message().Text(1, "c").Text(8, Message().Text(2, Entry("cpu", Message().Text(1, cpu))));
  };
  const std::string spec = Message()
                               .Text(2, container("1"))
                               .Text(2, container("lots"))
                               .Text(25, "x")
                               .Text(22, std::string("\x52\x7f", 2))
                               .Text(10, "n1");
  Pod pod;
  ASSERT_TRUE(ReadProtobuf(Message().Text(1, metadata).Text(2, spec).bytes(), pod));
  ASSERT_TRUE(pod.metadata.damage);
  std::vector<std::string> paths;
  for (const FieldDamage& damage : *pod.metadata.damage) paths.push_back(damage.path);
  EXPECT_THAT(paths,
              testing::ElementsAre("metadata.uid", "spec.containers[1].resources.requests[\"cpu\"]",
                                   "spec.priority", "spec.tolerations[0]"));
  EXPECT_EQ(pod.metadata.Key(), "shop/web");
  EXPECT_EQ(pod.spec.node_name, "n1");
  EXPECT_EQ(pod.spec.containers.at(0).resources.requests.at(0).second, Quantity::FromUnits(1));

  Pod json;
  ASSERT_TRUE(ReadJsonObject(R"({"metadata":{"name":"web","labels":{"a":1,"b":"2"}},
      "spec":{"nodeName":"n1","priority":"5","tolerations":[{"key":7},{"key":"k"}]}})",
                             json));
  ASSERT_TRUE(json.metadata.damage);
  paths.clear();
  for (const FieldDamage& damage : *json.metadata.damage) paths.push_back(damage.ToString());
  EXPECT_THAT(paths,
              testing::ElementsAre("metadata.labels[\"a\"]: expected a string, got a number",
                                   "spec.priority: expected an integer, got a string",
                                   "spec.tolerations[0].key: expected a string, got a number"));
  EXPECT_EQ(json.spec.node_name, "n1");
  EXPECT_EQ(*Find(json.metadata.labels, "b"), "2");
  EXPECT_EQ(json.spec.tolerations.at(1).key, "k");

  Pod whole;
  ASSERT_TRUE(ReadJsonObject(R"({"metadata":{"name":"web"}})", whole));
  EXPECT_FALSE(whole.metadata.damage);
}

TEST(DecodeTest, AnObjectOfDamageEndsAfterSomeReadings) {
  std::string spec;
  for (int i = 0; i < 5000; ++i) spec += Message().Text(25, "x").bytes();
  Pod pod;
  ASSERT_TRUE(ReadProtobuf(PodWithSpec(Message().Text(10, "n1").bytes() + spec), pod));
  EXPECT_EQ(pod.metadata.damage->size(), 17u);
  EXPECT_EQ(pod.metadata.damage->back().path, "");
  EXPECT_EQ(pod.spec.node_name, "n1");
}

std::string Nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

// What the API server passes on as it came: it checks no more than Go's decoder does.
std::vector<std::string> OpaqueTexts() {
  return {R"({"kind":"K","apiVersion":"x/v1"})",
          R"({ "b" : 1.0,  "a":1e3 })",
          R"({"a":123456789012345678901234567890,"b":-1E-5})",
          R"({"a":"\ud800","\udc00b":"\ud83d\ude00"})",
          "{\"a\":\"\xff\xc0\"}",
          R"({"a":1,"a":2})",
          R"("\u00000")",
          Nested(5000),
          "1",
          R"({"a":"]}\\\"{"})"};
}

TEST(DecodeTest, OpaqueJsonKeepsItsBytes) {
  for (const std::string& text : OpaqueTexts()) {
    SCOPED_TRACE(text.substr(0, 80));
    const std::string config = R"([{"opaque":{"driver":"d","parameters":)" + text + "}}]";
    const auto claim = DecodeJson<ResourceClaim>(
        R"({"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"c"},)"
        R"("spec":{"devices":{"config":)" +
        config + R"(}},"status":{"allocation":{"devices":{"config":)" + config +
        R"(,"results":[{"device":"dev"}]}},"devices":[{"data": )" + text + " }]}}");
    ASSERT_TRUE(claim) << claim.error().message;
    EXPECT_EQ(claim->spec.devices.config.at(0).opaque->parameters.text, text);
    EXPECT_EQ(claim->status.allocation->devices.config.at(0).opaque->parameters.text, text);
    EXPECT_EQ(claim->status.devices.at(0).data->text, text);
    EXPECT_EQ(claim->status.allocation->devices.results.at(0).device, "dev");
    const auto device_class = DecodeJson<DeviceClass>(R"({"spec":{"config":)" + config + "}}");
    ASSERT_TRUE(device_class) << device_class.error().message;
    EXPECT_EQ(device_class->spec.config.at(0).opaque->parameters.text, text);
  }
}

TEST(DecodeTest, FieldsThatAreNotReadMayHoldAnything) {
  for (const std::string& text : OpaqueTexts()) {
    SCOPED_TRACE(text.substr(0, 80));
    const std::string json = R"({"x":)" + text +
                             R"(,"metadata":{"name":"web","managedFields":[{"fieldsV1":)" + text +
                             R"(}]},"spec":{"y":)" + text + R"(,"nodeName":"n1"}})";
    const auto pod = DecodeJson<Pod>(json);
    ASSERT_TRUE(pod) << pod.error().message;
    EXPECT_EQ(pod->spec.node_name, "n1");
    EXPECT_EQ(ReadIdentity(Encoding::kJson, json).Key(), "web");
  }
}

TEST(DecodeTest, OddTextInReadFieldsIsWhatGoReads) {
  const auto pod = DecodeJson<Pod>(
      "{\"metadata\":{\"name\":\"web\",\"annotations\":{"
      R"("a":"\ud800x\ud83d\ude00","b)"
      "\xff\":\"\xc0\"}},"
      R"("spec":{"overhead":{"cpu":123456789012345678901}}})");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->metadata.annotations,
            (StringMap{{"a", "\xEF\xBF\xBDx\xF0\x9F\x98\x80"}, {"b\xEF\xBF\xBD", "\xEF\xBF\xBD"}}));
  EXPECT_EQ(pod->spec.overhead.at(0).second, *Quantity::Parse("123456789012345678901"));
  // One value that is none of its type costs that field alone.
  Pod damaged;
  ASSERT_TRUE(ReadJsonObject(R"({"metadata":{"name":"web","generation":123456789012345678901,
      "labels":{"a":)" + Nested(3000) +
                                 R"(}},"spec":{"nodeName":"n1"}})",
                             damaged));
  EXPECT_EQ(damaged.metadata.damage->size(), 2u);
  EXPECT_EQ(damaged.spec.node_name, "n1");
}

TEST(DecodeTest, ReadIdentityReadsWhatCanBeRead) {
  const std::string metadata = Message().Text(1, "web").Text(3, "shop").Text(5, "u-1");
  const std::string spec = Message().Text(10, "n1").Text(32, "\xff");
  const std::string pod = Message().Text(1, metadata).Text(2, spec);
  ASSERT_FALSE(DecodeProtobuf<Pod>(pod));
  EXPECT_EQ(ReadIdentity(Encoding::kProtobuf, pod).Key(), "shop/web");
  EXPECT_EQ(ReadIdentity(Encoding::kProtobuf, pod).uid, "u-1");
  EXPECT_EQ(ReadIdentity(Encoding::kProtobuf, pod).node_name, "n1");
  EXPECT_EQ(ReadIdentity(Encoding::kProtobuf, Enveloped("v1", "Pod", pod)).node_name, "n1");
  EXPECT_EQ(ReadIdentity(Encoding::kProtobuf, pod.substr(0, pod.size() - 1)).Key(), "shop/web");
  EXPECT_EQ(ReadIdentity(Encoding::kProtobuf, std::string(9, '\xff')), PartialIdentity());

  const std::string json =
      R"({"metadata":{"name":"web","namespace":"shop"},"spec":{"priority":"x","nodeName":"n1"}})";
  ASSERT_FALSE(DecodeJson<Pod>(json));
  EXPECT_EQ(ReadIdentity(Encoding::kJson, json).Key(), "shop/web");
  EXPECT_EQ(ReadIdentity(Encoding::kJson, json).node_name, "n1");
  EXPECT_EQ(ReadIdentity(Encoding::kJson, "{"), PartialIdentity());
}

TEST(DecodeTest, ContentTypesNameTheirEncoding) {
  EXPECT_EQ(EncodingOf("application/vnd.kubernetes.protobuf"), Encoding::kProtobuf);
  EXPECT_EQ(EncodingOf("application/vnd.kubernetes.protobuf;stream=watch"), Encoding::kProtobuf);
  EXPECT_EQ(EncodingOf("application/json"), Encoding::kJson);
  EXPECT_EQ(EncodingOf(""), Encoding::kJson);
  EXPECT_EQ(WatchAcceptOf(Encoding::kProtobuf), "application/vnd.kubernetes.protobuf;stream=watch");
}

TEST(DecodeTest, EncodeJsonLeavesZeroValuesOut) {
  Pod pod;
  pod.metadata.name = "web";
  pod.spec.affinity.emplace().node_affinity.emplace();
  pod.spec.priority = 0;
  EXPECT_EQ(EncodeJson(pod), R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},)"
                             R"("spec":{"affinity":{"nodeAffinity":{}},"priority":0}})");
}

}  // namespace
}  // namespace berth::api
