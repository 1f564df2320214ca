// SPDX-License-Identifier: Apache-2.0
#include "src/api/protobuf_writer.h"

#include <gtest/gtest.h>

#include <string>

#include "src/api/decode.h"

// golden_test.cc writes every field of every table.
namespace berth::api {
namespace {

TEST(ProtobufWriterTest, EmptyMembersThatAreThereStayThere) {
  Pod pod;
  pod.metadata.name = "a";
  pod.spec.affinity.emplace();
  pod.spec.priority = 0;
  pod.spec.containers.resize(2);
  pod.metadata.annotations = {{"", ""}, {"k", ""}};
  std::string written;
  EncodeProtobuf(pod, nullptr, written);
  const auto again = DecodeProtobuf<Pod>(written);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(*again == pod);
}

class Stars final : public TextFilter {
 public:
  std::string Annotation(std::string_view key, std::string_view value) override {
    return std::string(key == "read" ? value : "*");
  }
  std::string Raw(std::string_view) override { return "\"*\""; }
};

TEST(ProtobufWriterTest, AFilterWritesInTheirPlace) {
  ResourceClaim claim;
  claim.metadata.name = "a";
  claim.metadata.annotations = {{"other", "secret"}, {"read", "plain"}};
  claim.spec.devices.config.emplace_back().opaque = {.driver = "d", .parameters = {"{\"k\":1}"}};
  Stars stars;
  std::string written;
  EncodeProtobuf(claim, &stars, written);
  EXPECT_EQ(written.find("secret"), std::string::npos);
  const auto again = DecodeProtobuf<ResourceClaim>(written);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->metadata.annotations, (StringMap{{"other", "*"}, {"read", "plain"}}));
  EXPECT_EQ(again->spec.devices.config.at(0).opaque->parameters.text, "\"*\"");
}

}  // namespace
}  // namespace berth::api
