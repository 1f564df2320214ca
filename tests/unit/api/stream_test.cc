// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/api/json_scan.h"
#include "src/api/list_reader.h"
#include "src/api/watch.h"
#include "tests/unit/api/testdata.h"

namespace berth::api {
namespace {

using testing::HasSubstr;

Result<ListMeta> ReadWhole(Encoding encoding, std::string_view body, int& items) {
  ListReader reader(encoding, [&](std::string_view) { ++items; });
  if (auto pushed = reader.Push(body); !pushed) return Fail(pushed.error());
  return reader.Finish();
}

TEST(ListReaderTest, ABodyCutShortAnywhereIsAnError) {
  for (const bool protobuf : {true, false}) {
    const Encoding encoding = protobuf ? Encoding::kProtobuf : Encoding::kJson;
    const std::string body = TestData(protobuf ? "pod_list.pb" : "pod_list.json");
    // The envelope's last two fields are empty: four bytes that are not missed.
    const size_t last = body.size() - (protobuf ? 4 : 2);
    for (size_t length = 0; length < last; length += 13) {
      SCOPED_TRACE(length);
      int items = 0;
      EXPECT_FALSE(ReadWhole(encoding, std::string_view(body).substr(0, length), items));
    }
  }
}

TEST(ListReaderTest, ABodyThatIsNoListIsAnError) {
  const struct {
    const char* name;
    Encoding encoding;
    std::string body;
    const char* error;
  } cases[] = {
      {"another kind", Encoding::kProtobuf, TestData("pod_usual.pb"),
       "expected a list, got v1 Pod"},
      {"another kind", Encoding::kJson, TestData("pod_usual.json"), "expected a list, got v1 Pod"},
      {"no envelope", Encoding::kProtobuf, "{\"kind\":\"PodList\"}", "no envelope"},
      {"no JSON", Encoding::kJson, "no", "line 1"},
      {"items of a wrong type", Encoding::kJson, "{\"items\":5}", "list: "},
      {"metadata of a wrong type", Encoding::kJson, "{\"metadata\":{\"continue\":5}}",
       "list: metadata: continue: expected a string"},
      {"compressed", Encoding::kProtobuf, std::string("k8s\0\x1a\x04gzip", 10),
       "contentEncoding \"gzip\" is not supported"},
      {"a group", Encoding::kProtobuf, std::string("k8s\0\x0b", 5), "unknown wire type"},
      {"an item beyond the list's end", Encoding::kProtobuf,
       std::string("k8s\0\x12\x04\x12\x09xx", 10), "end of buffer"},
      {"an item too large", Encoding::kProtobuf,
       std::string("k8s\0\x12\xff\xff\xff\xff\x0f\x12\xff\xff\xff\x7f", 15), "larger than"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    int items = 0;
    const auto list = ReadWhole(c.encoding, c.body, items);
    ASSERT_FALSE(list);
    EXPECT_THAT(list.error().message, HasSubstr(c.error));
    EXPECT_EQ(items, 0);
  }
}

TEST(ListReaderTest, AJsonBodyAboveTheBoundIsAnError) {
  const std::string body = TestData("pod_list.json");
  for (const bool fits : {true, false}) {
    ListReader reader(Encoding::kJson, [](std::string_view) {}, body.size() - (fits ? 0 : 1));
    EXPECT_TRUE(reader.Push(std::string_view(body).substr(0, 100)));
    EXPECT_EQ(reader.Push(std::string_view(body).substr(100)).has_value(), fits);
  }
}

TEST(ListReaderTest, NullItemsAreAnEmptyList) {
  int items = 0;
  EXPECT_TRUE(ReadWhole(Encoding::kJson, R"({"kind":"PodList","items":null})", items));
  EXPECT_EQ(items, 0);
}

TEST(WatchFramesTest, AFrameAboveTheBoundIsAnError) {
  WatchFrames protobuf(Encoding::kProtobuf, 10);
  protobuf.Push(std::string("\0\0\0\x0bxxx", 7));
  EXPECT_FALSE(protobuf.Next());

  WatchFrames json(Encoding::kJson, 10);
  json.Push("0123456789\n0123456");
  EXPECT_EQ(json.Next().value(), "0123456789");
  EXPECT_EQ(json.Next().value(), std::nullopt);
  json.Push("7890");
  EXPECT_FALSE(json.Next());
}

TEST(WatchFramesTest, FramesComeOutInOrderAndBlankLinesDoNot) {
  WatchFrames frames(Encoding::kJson);
  frames.Push("\n\r\n{\"a\":1}\n{\"b\"");
  EXPECT_EQ(frames.Next().value(), "{\"a\":1}");
  EXPECT_EQ(frames.Next().value(), std::nullopt);
  EXPECT_TRUE(frames.pending());
  frames.Push(":2}\n");
  EXPECT_EQ(frames.Next().value(), "{\"b\":2}");
  EXPECT_EQ(frames.Next().value(), std::nullopt);
  EXPECT_FALSE(frames.pending());
}

TEST(WatchFramesTest, AnEmptyProtobufFrameIsAFrame) {
  WatchFrames frames(Encoding::kProtobuf);
  frames.Push(std::string("\0\0\0\0\0", 5));
  EXPECT_EQ(frames.Next().value(), "");
  EXPECT_EQ(frames.Next().value(), std::nullopt);
  EXPECT_TRUE(frames.pending());
}

TEST(DecodeWatchEventTest, DamagedEventsAreErrors) {
  const struct {
    Encoding encoding;
    std::string frame;
    const char* error;
  } cases[] = {
      {Encoding::kJson, R"({"type":"SHOUTED","object":{}})", "unknown type \"SHOUTED\""},
      {Encoding::kJson, R"({"object":{}})", "unknown type \"\""},
      {Encoding::kJson, R"({"type":5})", "watch event: "},
      {Encoding::kJson, R"({"type":"ADDED","object":{)", "watch event: line 1"},
      {Encoding::kJson, R"({"type":"ADDED"} x)", "watch event: line 1"},
      {Encoding::kProtobuf, "", "unknown type \"\""},
      {Encoding::kProtobuf, "\x0a\x7f", "malformed protobuf"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.frame);
    const auto event = DecodeWatchEvent(c.encoding, c.frame);
    ASSERT_FALSE(event);
    EXPECT_THAT(event.error().message, HasSubstr(c.error));
  }
}

TEST(DecodeWatchEventTest, TheObjectIsTheTextThatWasSent) {
  const std::string frame = R"( {"object": {"a":[1,"}"]} ,"type":"MODIFIED"} )";
  const auto event = DecodeWatchEvent(Encoding::kJson, frame);
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->type, WatchEventType::kModified);
  EXPECT_THAT(std::string(event->object), testing::StartsWith(R"({"a":[1,"}"]})"));
  EXPECT_GE(event->object.data(), frame.data());
  EXPECT_LT(event->object.data(), frame.data() + frame.size());
}

// What an object holds that no parser takes costs neither the list nor the watch.
TEST(DecodeWatchEventTest, AnObjectMayHoldAnything) {
  const std::string deep = std::string(20000, '[') + std::string(20000, ']');
  for (const std::string& text : {deep, std::string("123456789012345678901234567890"),
                                  std::string(R"("\ud800")"), std::string("\"\xff\xc0\"")}) {
    SCOPED_TRACE(text.substr(0, 40));
    const std::string object = R"({"metadata":{"name":"n"},"x":)" + text + "}";
    const std::string frame = R"({"type":"ADDED","object":)" + object + "}";
    const auto event = DecodeWatchEvent(Encoding::kJson, frame);
    ASSERT_TRUE(event) << event.error().message;
    EXPECT_EQ(event->object, object);
    std::vector<std::string> items;
    ListReader reader(Encoding::kJson, [&](std::string_view item) { items.emplace_back(item); });
    ASSERT_TRUE(reader.Push(R"({"kind":"PodList","items":[)" + object + "," + object + "]}"));
    ASSERT_TRUE(reader.Finish());
    EXPECT_EQ(items, std::vector<std::string>({object, object}));
    EXPECT_EQ(WithoutManagedFields(object), object);
  }
}

TEST(DecodeBookmarkTest, OnlyTheAnnotationEndsTheInitialEvents) {
  EXPECT_EQ(DecodeBookmark(Encoding::kJson, R"({"metadata":{"resourceVersion":"9"}})"),
            (Bookmark{"9", false}));
  EXPECT_EQ(DecodeBookmark(Encoding::kJson, R"({"metadata":{"resourceVersion":"9",
                "annotations":{"k8s.io/initial-events-end":"true"}}})"),
            (Bookmark{"9", true}));
  EXPECT_FALSE(DecodeBookmark(Encoding::kJson, "5"));
}

TEST(WithoutManagedFieldsTest, CutsThatMemberOfTheMetadataAndNothingElse) {
  const struct {
    std::string_view text;
    std::string_view want;
  } cases[] = {
      {R"({"metadata":{"managedFields":[{"a":{"b":1}}],"name":"n"},"spec":{}})",
       R"({"metadata":{"name":"n"},"spec":{}})"},
      {R"({"metadata":{"name":"n","managedFields":[{"a":"]}"}]},"spec":{}})",
       R"({"metadata":{"name":"n"},"spec":{}})"},
      {R"({"metadata":{"a":1 , "managedFields" : null , "b":2}})",
       R"({"metadata":{"a":1 ,  "b":2}})"},
      {R"({"metadata":{"managedFields":[]}})", R"({"metadata":{}})"},
      {R"({"managedFields":1,"metadata":{"labels":{"managedFields":"x"}}})",
       R"({"managedFields":1,"metadata":{"labels":{"managedFields":"x"}}})"},
      {R"({"metadata":)", R"({"metadata":)"},
      {"[]", "[]"},
      {"", ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(WithoutManagedFields(c.text), c.want);
  }
}

}  // namespace
}  // namespace berth::api
