// SPDX-License-Identifier: Apache-2.0
#include "berth/plugin_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/informers/kinds.h"
#include "src/informers/object_store.h"
#include "tests/support/plugin_kinds.h"

namespace berth::informers {
namespace {

using testing::HasSubstr;

TEST(PluginKindTest, HasAPathAndIsWatchedWhereAProfileAsksForIt) {
  const Kind kind = KindOf(test::WindowKind());
  const KindInfo& info = InfoOf(kind);
  EXPECT_EQ(info.resource, "windows.tests.example.com");
  EXPECT_EQ(info.path, "/apis/tests.example.com/v1/windows");
  EXPECT_EQ(info.group(), "tests.example.com");
  EXPECT_TRUE(info.optional && info.custom);
  const auto has = [kind](const std::vector<Kind>& kinds) {
    return std::ranges::find(kinds, kind) != kinds.end();
  };
  EXPECT_TRUE(has(AllKinds()));
  Features features;
  EXPECT_FALSE(has(WatchedKinds(features)));
  features.plugin_kinds = uint64_t{1} << test::WindowKind();
  EXPECT_TRUE(has(WatchedKinds(features)));
  EXPECT_FALSE(std::ranges::any_of(WatchedKinds(features),
                                   [](Kind other) { return other == KindOf(test::ShopKind()); }));
}

TEST(PluginKindTest, KeepsTheTextOfAnObject) {
  const auto object = InfoOf(KindOf(test::ShopKind()))
                          .decode(api::Encoding::kJson, R"({
    "apiVersion": "tests.example.com/v1", "kind": "Shop",
    "metadata": {"name": "x", "namespace": "y", "uid": "7", "resourceVersion": "12",
      "managedFields": [{"manager": "m"}], "labels": {"a": "b"},
      "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{\"a\": 1}", "c": "d e"}},
    "spec": {"number": 18446744073709551615, "text": "two  words"}})",
                                  {});
  ASSERT_TRUE(object) << object.error().message;
  const auto* shop = api::As<api::PluginObject>(*object);
  ASSERT_NE(shop, nullptr);
  EXPECT_EQ(*shop->json,
            R"({"apiVersion":"tests.example.com/v1","kind":"Shop","metadata":{"name":"x",)"
            R"("namespace":"y","uid":"7","resourceVersion":"12","labels":{"a":"b"},)"
            R"("annotations":{"c":"d e"}},"spec":{"number":18446744073709551615,)"
            R"("text":"two  words"}})");
  EXPECT_EQ(shop->metadata.Key(), "y/x");
  EXPECT_EQ(shop->metadata.annotations, (api::StringMap{{"c", "d e"}}));
  EXPECT_EQ(shop->kind, test::ShopKind());
}

TEST(PluginKindTest, WhatIsNoSuchObjectIsRefused) {
  const auto error = [](api::Encoding encoding, const std::string& text) {
    const auto object = InfoOf(KindOf(test::ShopKind())).decode(encoding, text, {});
    return object ? "" : object.error().message;
  };
  const auto json = [&](const std::string& text) { return error(api::Encoding::kJson, text); };
  EXPECT_EQ(json(R"({"metadata":{"name":"x"}})"), "") << "an item of a list";
  EXPECT_THAT(json(R"({"kind":"Other","metadata":{"name":"x"}})"),
              HasSubstr("expected tests.example.com/v1 Shop, got  Other"));
  EXPECT_THAT(json(R"({"metadata":{"labels":7}})"), HasSubstr("metadata.labels"));
  EXPECT_NE(json("{"), "");
  EXPECT_NE(json("[]"), "");
  const std::string head = R"({"metadata":{"name":"x"},"spec":")";
  const size_t room = api::kMostPluginObjectBytes - head.size() - 2;
  EXPECT_EQ(json(head + std::string(room, 'x') + "\"}"), "");
  EXPECT_THAT(json(head + std::string(room + 1, 'x') + "\"}"),
              HasSubstr("the object has 2097153 bytes; at most 2097152 are kept"));
  EXPECT_NE(error(api::Encoding::kProtobuf, "k8s"), "");
}

TEST(PluginKindTest, WhatCannotBeReadIsToldOfAndTheVersionBeforeStays) {
  std::vector<InformerEvent> events;
  ObjectStore store(InfoOf(KindOf(test::WindowKind())),
                    [&events](InformerEvent event) { events.push_back(std::move(event)); });
  store.Put(api::Encoding::kJson, R"({"metadata":{"name":"x","resourceVersion":"1"},"spec":1})");
  store.Put(api::Encoding::kJson, R"({"metadata":{"name":"x","resourceVersion":"2"},"spec":2})");
  store.Put(api::Encoding::kJson,
            R"({"metadata":{"name":"x","resourceVersion":"3","labels":7},"spec":3})");
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1].type, EventType::kUpdated);
  EXPECT_THAT(*api::As<api::PluginObject>(events[1].old_object)->json, HasSubstr("\"spec\":1"));
  EXPECT_THAT(*api::As<api::PluginObject>(events[1].new_object)->json, HasSubstr("\"spec\":2"));
  EXPECT_EQ(events[2].type, EventType::kUndecodable);
  EXPECT_EQ(store.Objects().size(), 1u);
}

// As plugin_kinds.cc lists them.
TEST(PluginKindTest, WhatBerthReadsItselfCannotBeAskedFor) {
  size_t refused = 0;
  for (const Kind kind : AllKinds()) {
    const KindInfo& info = InfoOf(kind);
    if (PluginKindOf(kind) || info.group().empty()) continue;
    const std::string_view resource = info.path.substr(info.path.rfind('/') + 1);
    PluginKindTable table;
    const auto added = table.Add(
        {std::string(info.group()), std::string(info.version()), std::string(resource), "X", true});
    EXPECT_FALSE(added) << info.path;
    ++refused;
  }
  EXPECT_EQ(refused, 20u);
}

}  // namespace
}  // namespace berth::informers
