// SPDX-License-Identifier: Apache-2.0
#include "src/documents/dump_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "src/api/decode.h"
#include "tests/unit/api/testdata.h"

namespace berth::documents {
namespace {

using api::DecodeJson;
using api::ObjectPtr;
using api::Pod;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

struct Read {
  std::vector<std::string> objects;  // "place: kind key"
  DumpStats stats;
  std::string error;
};

template <typename T>
std::string Describe(const T& object) {
  return std::string(api::KindOf<T>::kKind) + " " + object.metadata.Key();
}

Read ReadAll(std::string_view text, std::string_view file_name) {
  Read read;
  auto stats = ReadDump(text, file_name, [&](ObjectPtr&& object, const DumpPlace& place) {
    std::visit(
        [&]<typename Pointer>(const Pointer& held) {
          if constexpr (!std::is_same_v<Pointer, std::monostate>)
            read.objects.push_back(place.ToString() + ": " + Describe(*held));
        },
        object);
    return Result<void>();
  });
  if (stats) {
    read.stats = *std::move(stats);
  } else {
    read.error = stats.error().message;
  }
  return read;
}

TEST(DumpReaderTest, ObjectsAndListsOfAllKindsComeOutInFileOrder) {
  const Read read = ReadAll(R"({
  "apiVersion": "v1",
  "items": [
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop"}},
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "web"}},
    {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}},
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}},
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
    {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}},
    {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "rc"}},
    {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "rs"}},
    {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "sts"}},
    {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "pdb"}},
    {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "db"}}
  ],
  "kind": "List",
  "metadata": {"resourceVersion": ""}
})",
                            "c.json");
  EXPECT_EQ(read.error, "");
  EXPECT_THAT(read.objects,
              ElementsAre("c.json:4: document 1, items[0]: Pod shop/web",
                          "c.json:7: document 1, items[3]: Node n1",
                          "c.json:8: document 1, items[4]: Namespace shop",
                          "c.json:9: document 1, items[5]: Service s",
                          "c.json:10: document 1, items[6]: ReplicationController rc",
                          "c.json:11: document 1, items[7]: ReplicaSet rs",
                          "c.json:12: document 1, items[8]: StatefulSet sts",
                          "c.json:13: document 1, items[9]: PodDisruptionBudget pdb"));
  EXPECT_EQ(read.stats.documents, 1u);
  EXPECT_EQ(read.stats.objects, 8u);
  EXPECT_THAT(read.stats.skipped, ElementsAre(Pair("Deployment.apps", 2), Pair("Secret", 1)));
}

TEST(DumpReaderTest, EveryFormOfADumpIsRead) {
  const struct {
    const char* name;
    const char* text;
    std::vector<std::string> want;
  } cases[] = {
      {"nothing", "", {}},
      {"white space", " \n\t", {}},
      {"comments and empty documents", "# none\n---\n---\n# none\n", {}},
      {"one object as JSON",
       R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}})",
       {"f:1: document 1: Node a"}},
      {"a byte order mark",
       "\xEF\xBB\xBF{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}",
       {"f:1: document 1: Node a"}},
      {"JSON values in a row",
       "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}"
       "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"b\"}}\n\n"
       "{\"kind\":\"Node\",\"metadata\":{\"name\":\"c\"},\"apiVersion\":\"v1\"}\n",
       {"f:1: document 1: Node a", "f:1: document 2: Node b", "f:3: document 3: Node c"}},
      {"JSON documents parted as in YAML",
       "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}\n---\n"
       "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"b\"}}\n---\n",
       {"f:1: document 1: Node a", "f:3: document 2: Node b"}},
      {"a typed list whose items state no type",
       R"({"kind":"PodList","items":[{"metadata":{"name":"a"}},{"kind":"Pod","metadata":{
           "name":"b"}}],"apiVersion":"v1"})",
       {"f:1: document 1, items[0]: Pod a", "f:1: document 1, items[1]: Pod b"}},
      {"a list of lists",
       R"({"apiVersion":"v1","kind":"List","items":[
           {"apiVersion":"v1","kind":"NodeList","items":[{"metadata":{"name":"a"}}]},
           {"apiVersion":"v1","kind":"List","items":[
             {"apiVersion":"v1","kind":"Node","metadata":{"name":"b"}},
             {"apiVersion":"v1","kind":"Node","metadata":{"name":"c"}}]}]})",
       {"f:2: document 1, items[0].items[0]: Node a", "f:4: document 1, items[1].items[0]: Node b",
        "f:5: document 1, items[1].items[1]: Node c"}},
      {"empty lists",
       R"({"apiVersion":"v1","kind":"List","items":[]} {"apiVersion":"v1","kind":"PodList",
           "items":null} {"apiVersion":"v1","kind":"List"})",
       {}},
      {"brackets and quotes inside strings",
       R"({"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{
           "name":"a","labels":{"x":"]}\\\"{[","y":"\\"}}}]})",
       {"f:1: document 1, items[0]: Node a"}},
      {"YAML documents",
       "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: a\n---\n---\nkind: Pod\n"
       "apiVersion: v1\nmetadata: {name: b, namespace: ns}\n",
       {"f:2: document 1: Node a", "f:8: document 3: Pod ns/b"}},
      {"lists as YAML",
       "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n"
       "    name: a\n- apiVersion: v1\n  kind: PodList\n  items:\n  - metadata: {name: b}\n"
       "- {apiVersion: v1, kind: Secret}\n- {apiVersion: v1, kind: List}\n",
       {"f:4: document 1, items[0]: Node a", "f:11: document 1, items[1].items[0]: Pod b"}},
      {"other kinds by names that berth knows",
       R"({"apiVersion":"serving.knative.dev/v1","kind":"Service","spec":{"selector":3}}
          {"apiVersion":"x.dev/v1","kind":"AllowList","spec":{}}
          {"apiVersion":"x.dev/v1","kind":"Menu","items":[{"no":"object of the API"}]})",
       {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Read read = ReadAll(c.text, "f");
    EXPECT_EQ(read.error, "");
    EXPECT_EQ(read.objects, c.want);
  }
}

TEST(DumpReaderTest, SkippedKindsAreCountedWithTheirGroup) {
  const Read read = ReadAll(
      R"({"apiVersion":"v1","kind":"SecretList","items":[{"metadata":{}},{}]}
         {"apiVersion":"serving.knative.dev/v1","kind":"Service"}
         {"apiVersion":"x.dev/v1","kind":"AllowList"}
         {"apiVersion":"events.k8s.io/v1","kind":"Event"} {"apiVersion":"v1","kind":"Event"})",
      "f");
  EXPECT_EQ(read.error, "");
  EXPECT_THAT(read.objects, IsEmpty());
  EXPECT_THAT(read.stats.skipped, ElementsAre(Pair("AllowList.x.dev", 1), Pair("Event", 1),
                                              Pair("Event.events.k8s.io", 1), Pair("Secret", 2),
                                              Pair("Service.serving.knative.dev", 1)));
  EXPECT_EQ(read.stats.documents, 5u);
}

TEST(DumpReaderTest, WhatIsWrongIsNamedWithItsPlaceAndField) {
  const struct {
    const char* name;
    const char* text;
    const char* want;
  } cases[] = {
      {"a bad field in a list",
       "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n"
       "{\"apiVersion\":\"v1\",\"kind\":\"Node\"},\n"
       "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"containers\":[{\"resources\":{"
       "\"requests\":{\"cpu\":\"much\"}}}]}}]}",
       "f:3: document 1, items[1]: spec.containers[0].resources.requests[\"cpu\"]: \"much\": "},
      {"a bad field in the second document",
       "{\"apiVersion\":\"v1\",\"kind\":\"Node\"}\n"
       "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"priority\":\"high\"}}",
       "f:2: document 2: spec.priority: expected an integer, got a string"},
      {"a bad field in YAML",
       "apiVersion: v1\nkind: PodList\nitems:\n- spec: {priority: 1}\n- spec: {priority: high}\n",
       "f:5: document 1, items[1]: spec.priority: expected an integer, got a string"},
      {"no kind", R"({"apiVersion":"v1","metadata":{}})", "f:1: document 1: kind: must be stated"},
      {"no apiVersion", "kind: Pod\n", "f:1: document 1: apiVersion: must be stated"},
      {"no kind in an untyped list",
       R"({"apiVersion":"v1","kind":"List","items":[{"metadata":{}}]})",
       "f:1: document 1, items[0]: kind: must be stated"},
      {"a kind that is no string", R"({"apiVersion":"v1","kind":7})",
       "f:1: document 1: kind: expected a string, got a number"},
      {"a kind that is no string, in a list", R"({"apiVersion":"v1","kind":["List"],"items":[]})",
       "f:1: document 1: kind: expected a string, got a list"},
      {"a kind that is no string, in YAML", "apiVersion: v1\nkind: yes\n",
       "f:1: document 1: kind: expected a string, got a boolean"},
      {"another version", R"({"apiVersion":"v1beta1","kind":"Pod"})",
       "f:1: document 1: apiVersion: Pod is read in version v1, not v1beta1"},
      {"another version in YAML", "apiVersion: apps/v1beta2\nkind: StatefulSet\n",
       "f:1: document 1: apiVersion: StatefulSet is read in version apps/v1, not apps/v1beta2"},
      {"a list of objects without a list", R"([{"apiVersion":"v1","kind":"Node"}])",
       "f:1: document 1: expected an object, got a list"},
      {"a string in YAML", "no object\n", "f:1: document 1: expected an object, got a string"},
      {"a number after an object", "{\"apiVersion\":\"v1\",\"kind\":\"Node\"}\n17",
       "f:2: document 2: expected an object, got a number"},
      {"null in a list", R"({"apiVersion":"v1","kind":"List","items":[null]})",
       "f:1: document 1, items[0]: expected an object, got null"},
      {"a number in a list in YAML", "apiVersion: v1\nkind: List\nitems:\n- 5\n",
       "f:4: document 1, items[0]: expected an object, got a number"},
      {"items that are no list", R"({"apiVersion":"v1","kind":"List","items":{"a":1}})",
       "f:1: document 1: items: expected a list"},
      {"items that are no list in YAML", "apiVersion: v1\nkind: PodList\nitems: 5\n",
       "f:1: document 1: items: expected a list"},
      {"cut off in an item", "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n{\"kind\":",
       "f:2: document 1: unexpected end of the text"},
      {"cut off in a string", R"({"apiVersion":"v1","kind":"Po)",
       "f:1: document 1: unexpected end of the text"},
      {"cut off after an item", R"({"apiVersion":"v1","kind":"List","items":[{},)",
       "f:1: document 1: unexpected end of the text"},
      {"cut off in the second document", "{\"apiVersion\":\"v1\",\"kind\":\"Node\"}\n{\n",
       "f:3: document 2: unexpected end of the text"},
      {"no comma between members", R"({"apiVersion":"v1" "kind":"Node"})",
       "f:1: document 1: expected a comma or the end of the object"},
      {"no comma between items", R"({"apiVersion":"v1","kind":"List","items":[{} {}]})",
       "f:1: document 1: expected a comma or the end of the list"},
      {"a comma too many", R"({"apiVersion":"v1","kind":"List","items":[{},]})",
       "f:1: document 1: expected a value"},
      {"no value", R"({"apiVersion":})", "f:1: document 1: expected a value"},
      {"no colon", R"({"apiVersion" "v1"})", "f:1: document 1: expected a colon"},
      {"no name", R"({apiVersion: v1})", "f:1: document 1: expected the name of a member"},
      {"no JSON in an item",
       "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{},\n {\"kind\":\n  wrong}]}",
       "f:1: document 1, items[0]: kind: must be stated"},
      {"bad syntax in an item",
       "{\"apiVersion\":\"v1\",\"kind\":\"NodeList\",\"items\":[{},\n {\"metadata\":\n  wrong}]}",
       "f:2: document 1, items[1]: line 3, column 3: syntax error"},
      {"bad syntax in an item's first line",
       "{\"apiVersion\":\"v1\",\"kind\":\"NodeList\",\"items\":[{},\n {\"metadata\":wrong}]}",
       "f:2: document 1, items[1]: line 2, column 14: syntax error"},
      {"bad syntax in what is skipped", R"({"apiVersion":"v1","kind":"Secret","data":wrong})",
       "f:1: document 1: line 1, column 43: syntax error"},
      {"bad syntax beside the items",
       "{\"apiVersion\":\"v1\",\"items\":[{}],\n\"metadata\":wrong,\"kind\":\"NodeList\"}",
       "f:1: document 1: line 2, column 12: syntax error"},
      {"bad syntax in YAML", "apiVersion: v1\nkind: [Pod\n", "f:3: yaml: "},
      {"a key twice in YAML", "apiVersion: v1\nkind: Pod\nkind: Pod\n",
       "f:3: yaml: unmarshal errors:\n  line 3: key \"kind\" already set in map"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(ReadAll(c.text, "f").error, testing::StartsWith(c.want));
  }
}

TEST(DumpReaderTest, WithoutAFileNameTheLineStandsAlone) {
  EXPECT_EQ(ReadAll("{\"apiVersion\":\"v1\"}", "").error,
            "line 1: document 1: kind: must be stated");
}

TEST(DumpReaderTest, ListsCannotBeNestedWithoutEnd) {
  const auto nested = [](int lists) {
    std::string text = R"({"apiVersion":"v1","kind":"Node"})";
    for (int i = 0; i < lists; ++i)
      text = R"({"apiVersion":"v1","kind":"List","items":[)" + text + "]}";
    return text;
  };
  EXPECT_EQ(ReadAll(nested(8), "f").stats.objects, 1u);
  EXPECT_THAT(ReadAll(nested(9), "f").error, testing::HasSubstr("lists are nested too deeply"));
  EXPECT_THAT(ReadAll("# YAML\n" + nested(9), "f").error,
              testing::HasSubstr("lists are nested too deeply"));
}

TEST(DumpReaderTest, TheVisitorCanRefuse) {
  for (const char* text :
       {"{\"apiVersion\":\"v1\",\"kind\":\"NodeList\",\"items\":[{},\n{}]}",
        "apiVersion: v1\nkind: NodeList\nitems: [{},\n{}]\n---\nkind: Node\napiVersion: v1\n"}) {
    SCOPED_TRACE(text);
    int visits = 0;
    const auto read = ReadDump(text, "f", [&](ObjectPtr&&, const DumpPlace& place) -> Result<void> {
      EXPECT_EQ(place.document(), 1u);
      if (++visits < 2) return {};
      EXPECT_THAT(place.items(), ElementsAre(1));
      return Fail("there already");
    });
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message,
                testing::MatchesRegex("f:.: document 1, items.1.: there already"));
    EXPECT_EQ(visits, 2);
  }
}

TEST(DumpReaderTest, ObjectsAreReadAsTheDecodersReadThem) {
  const std::string json = api::TestData("pod_full.json");
  const auto want = DecodeJson<Pod>(json);
  ASSERT_TRUE(want);
  for (const std::string& text : {json, "# YAML\n" + json}) {
    const Pod* pod = nullptr;
    ObjectPtr kept;
    const auto read = ReadDump(text, "f", [&](ObjectPtr&& object, const DumpPlace&) {
      kept = std::move(object);
      pod = As<Pod>(kept);
      return Result<void>();
    });
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_NE(pod, nullptr);
    EXPECT_EQ(*pod, *want);
  }
}

TEST(DumpReaderTest, ProgressGrowsToTheWholeText) {
  std::string items;
  for (int i = 0; i < 60; ++i) {
    if (i > 0) items += ",\n";
    items += "{\"metadata\": {\"name\": \"" + std::string(50'000, 'x') + "\"}}";
  }
  const std::string json =
      "{\"apiVersion\":\"v1\",\"kind\":\"NodeList\",\"items\":[" + items + "]}";
  for (const std::string& text : {json, "# YAML\n" + json}) {
    std::vector<size_t> told;
    const auto read = ReadDump(
        text, "f", [](ObjectPtr&&, const DumpPlace&) { return Result<void>(); },
        [&](size_t bytes) { told.push_back(bytes); });
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_GE(told.size(), 3u);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_EQ(told.back(), text.size());
  }
}

}  // namespace
}  // namespace berth::documents
