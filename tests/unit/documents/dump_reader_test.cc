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

#include "berth/plugin_kinds.h"
#include "src/api/decode.h"
#include "tests/unit/api/testdata.h"

namespace berth::documents {
namespace {

using api::DecodeJson;
using api::ObjectPtr;
using api::Pod;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

struct Read {
  std::vector<std::string> objects;  // "place: kind key", then "! damage" where there is some
  DumpStats stats;
  std::string error;
};

template <typename T>
std::string KindNameOf(const T&) {
  return std::string(api::KindOf<T>::kKind);
}
std::string KindNameOf(const api::PluginObject& object) { return PluginKinds()[object.kind].kind; }

template <typename T>
std::string Describe(const T& object) {
  std::string text = KindNameOf(object) + " " + object.metadata.Key();
  if (object.metadata.damage) text += " ! " + object.metadata.damage->front().ToString();
  return text;
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
      {"flow style",
       "{apiVersion: v1, kind: Node, metadata: {name: a}}\n---\napiVersion: v1\nkind: Node\n"
       "metadata:\n  name: b\n",
       {"f:1: document 1: Node a", "f:3: document 2: Node b"}},
      {"flow style that looks like JSON",
       "{\"apiVersion\": v1, \"kind\": \"Node\", \"metadata\": {\"name\": \"a\",},}\n",
       {"f:1: document 1: Node a"}},
      {"flow style with a quote",
       "{apiVersion: v1, kind: Node, metadata: {name: a, labels: {x: 'say \"'}}}\n",
       {"f:1: document 1: Node a"}},
      {"JSON, then YAML",
       "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}\n---\n"
       "kind: Node\napiVersion: v1\nmetadata: {name: b}\n---\n"
       "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"c\"}}\n",
       {"f:1: document 1: Node a", "f:3: document 2: Node b", "f:7: document 3: Node c"}},
      {"JSON, then flow style",
       "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}\n---\n"
       "{kind: Node, apiVersion: v1, metadata: {name: b}}\n",
       {"f:1: document 1: Node a", "f:3: document 2: Node b"}},
      {"comments about JSON",
       "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}} # one\n"
       "--- # two\n"
       "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"b\"}}\n# end\n",
       {"f:1: document 1: Node a", "f:3: document 2: Node b"}},
      {"a leading separator with a comment",
       "--- # Source: chart/templates/node.yaml\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n",
       {"f:2: document 1: Node a"}},
      {"a merge that is overridden",
       "apiVersion: v1\nkind: NodeList\nx: &x {name: x, namespace: ns}\n"
       "items:\n- metadata:\n    <<: *x\n    name: a\n",
       {"f:5: document 1, items[0]: Node ns/a"}},
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
      {"a kind that is no string", R"({"apiVersion":"v1","kind":7})",
       "f:1: document 1: kind: expected a string, got a number"},
      {"a kind that is no string, in a list", R"({"apiVersion":"v1","kind":["List"],"items":[]})",
       "f:1: document 1: kind: expected a string, got a list"},
      {"a kind that is no string, in YAML", "apiVersion: v1\nkind: yes\n",
       "f:1: document 1: kind: expected a string, got a boolean"},
      {"a list of objects without a list", R"([{"apiVersion":"v1","kind":"Node"}])",
       "f:1: document 1: expected an object, got a list"},
      {"a string in YAML", "no object\n", "f:1: document 1: expected an object, got a string"},
      {"a number after an object", "{\"apiVersion\":\"v1\",\"kind\":\"Node\"}\n17",
       "f:2: document 2: expected an object, got a number"},
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
      {"no colon", R"({"apiVersion" "v1"})", "f:1: document 1: expected a colon"},
      {"bad syntax in an item",
       "{\"apiVersion\":\"v1\",\"kind\":\"NodeList\",\"items\":[{},\n {\"metadata\":\n  wrong}]}",
       "f:2: document 1, items[1]: line 3, column 3: syntax error"},
      {"bad syntax in an item's first line",
       "{\"apiVersion\":\"v1\",\"kind\":\"NodeList\",\"items\":[{},\n {\"metadata\":wrong}]}",
       "f:2: document 1, items[1]: line 2, column 14: syntax error"},
      {"neither JSON nor YAML", "{\"apiVersion\":\"v1\",\n\"kind\":[\"Secret\"}}",
       "f:1: document 1: line 2, column 17: syntax error"},
      {"flow style that is cut off", "{apiVersion: v1, kind: [",
       "f:1: document 1: expected the name"},
      {"bad syntax behind flow style", "{apiVersion: v1, kind: Node}\n---\nkind: [Pod\n",
       "f:4: yaml: "},
      {"bad syntax in YAML", "apiVersion: v1\nkind: [Pod\n", "f:3: yaml: "},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(ReadAll(c.text, "f").error, testing::StartsWith(c.want));
  }
}

// A dump holds what API servers have stored.
TEST(DumpReaderTest, WhatIsOddCostsThatObjectAlone) {
  const Read read = ReadAll(
      "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n"
      "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"containers\":[{\"resources\":{"
      "\"requests\":{\"cpu\":\"much\"}}}]},\"metadata\":{\"name\":\"p\"}},\n"
      "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\",\"x\":"
      "123456789012345678901}},\n"
      "{\"apiVersion\":\"apps/v1beta2\",\"kind\":\"StatefulSet\"}]}\n"
      "{\"apiVersion\":\"v1\",\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"q\"},"
      "\"y\":\"\\udead\",\"spec\":{\"priority\":\"high\"}}]}",
      "f");
  EXPECT_EQ(read.error, "");
  EXPECT_THAT(
      read.objects,
      ElementsAre(
          "f:2: document 1, items[0]: Pod p ! "
          "spec.containers[0].resources.requests[\"cpu\"]: \"much\": quantities must match the "
          "regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
          "f:3: document 1, items[1]: Node n",
          "f:5: document 2, items[0]: Pod q ! spec.priority: expected an integer, got a string"));
  EXPECT_THAT(read.stats.warnings, ElementsAre("f:4: document 1, items[2]: apiVersion: StatefulSet "
                                               "is read in version apps/v1, not apps/v1beta2"));
  const Read yaml = ReadAll(
      "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: p}\n"
      "- metadata: {name: q}\n  spec: {priority: high}\n",
      "f");
  EXPECT_EQ(yaml.error, "");
  EXPECT_THAT(yaml.objects, ElementsAre("f:4: document 1, items[0]: Pod p",
                                        "f:5: document 1, items[1]: Pod q ! spec.priority: "
                                        "expected an integer, got a string"));
}

TEST(DumpReaderTest, WhatIsNoObjectIsLeftOutOfItsListWithAWarning) {
  const Read read = ReadAll(
      "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[null,\n{\"metadata\":{}},{\"kind\":7},\n"
      "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}]}\n{\"kind\":"
      "\"Pod\"}\n"
      "---\nkind: List\napiVersion: v1\nitems:\n- 5\n- {apiVersion: v1, kind: Node, metadata: "
      "{name: b}}\n---\nreplicas: 3\n",
      "f");
  EXPECT_EQ(read.error, "");
  EXPECT_THAT(read.objects, ElementsAre("f:3: document 1, items[3]: Node a",
                                        "f:10: document 3, items[1]: Node b"));
  EXPECT_THAT(
      read.stats.warnings,
      ElementsAre(
          "f:1: document 1, items[0]: expected an object, got null; it is left out",
          "f:2: document 1, items[1]: kind: must be stated; the object is left out",
          "f:2: document 1, items[2]: kind: expected a string, got a number; it is left out",
          "f:4: document 2: apiVersion: must be stated; the object is left out",
          "f:9: document 3, items[0]: expected an object, got a number; it is left out",
          "f:12: document 4: kind: must be stated; the object is left out"));
}

TEST(DumpReaderTest, OfAKeyThatStandsTwiceTheLastOneCountsWithARemark) {
  for (const auto& [text, remark] : {
           std::pair("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n"
                     "  nodeSelector: {disk: ssd}\n  nodeSelector: {}\n",
                     "f:6: key \"nodeSelector\" already set in map; the last one counts"),
           std::pair(
               R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{
                         "nodeSelector":{"disk":"ssd"},"nodeSelector":{}}})",
               "f:1: document 1: key \"nodeSelector\" already set in map; the last one counts"),
       }) {
    SCOPED_TRACE(text);
    ObjectPtr kept;
    const auto read = ReadDump(text, "f", [&](ObjectPtr&& object, const DumpPlace&) {
      kept = std::move(object);
      return Result<void>();
    });
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_THAT(read->remarks, ElementsAre(remark));
    EXPECT_THAT(read->warnings, IsEmpty());
    ASSERT_NE(api::As<Pod>(kept), nullptr);
    EXPECT_THAT(api::As<Pod>(kept)->spec.node_selector, IsEmpty());
  }
}

TEST(DumpReaderTest, FieldsThatTheApiDoesNotHaveAreARemarkWhereNoApiServerStoredTheObject) {
  constexpr const char* kRemark =
      "f:1: document 1, items[0]: unknown field \"spec.nodeSelectors\"; did you mean "
      "\"nodeSelector\"?";
  for (const std::string yaml : {"", "--- "}) {
    const Read read = ReadAll(
        yaml +
            R"({"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"p"},"spec":{"nodeSelectors":{}}},
            {"metadata":{"name":"q","uid":"u"},"spec":{"futureField":{}}}]})",
        "f");
    EXPECT_THAT(read.objects, testing::SizeIs(2));
    EXPECT_THAT(read.stats.remarks, ElementsAre(kRemark));
    EXPECT_THAT(read.stats.warnings, IsEmpty());
  }
}

// One that reads a long text from its begin for each of them takes time with their square.
TEST(DumpReaderTest, LinesAreCountedOnceForAllThatIsOdd) {
  const std::string text = "a\nb\n\nc\n";
  LineCounter lines(text);
  EXPECT_EQ(lines.LineAt(0), 1);
  EXPECT_EQ(lines.LineAt(2), 2);
  EXPECT_EQ(lines.LineAt(2), 2);
  EXPECT_EQ(lines.LineAt(5), 4);
  EXPECT_EQ(lines.LineAt(1), 1);
  EXPECT_EQ(lines.LineAt(text.size()), 5);
  EXPECT_EQ(LineCounter(text).LineAt(5), 4);
}

TEST(DumpReaderTest, WithoutAFileNameTheLineStandsAlone) {
  EXPECT_EQ(ReadAll("{\"apiVersion\":\"v1\",\"kind\":7}", "").error,
            "line 1: document 1: kind: expected a string, got a number");
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

TEST(DumpReaderTest, KindsThatPluginsAskForAreReadOnceTheyAre) {
  const std::string yaml = R"(
apiVersion: dumps.example.com/v1
kind: Window
metadata: {name: a, uid: "1", managedFields: [{manager: m}]}
spec: {nodes: [n1, 7, 2.5, null, true]}
---
apiVersion: dumps.example.com/v1beta1
kind: Window
metadata: {name: other-version}
)";
  const std::string json =
      R"({"apiVersion": "dumps.example.com/v1", "kind": "WindowList", "items": [
  {"metadata": {"name": "b"}, "spec": {"big": 18446744073709551615}},
  {"metadata": {"name": "c", "labels": 7}}]})";
  for (const std::string& text : {yaml, json}) {
    EXPECT_THAT(ReadAll(text, "").stats.skipped, ElementsAre(Pair("Window.dumps.example.com", 2)));
  }
  ASSERT_TRUE(PluginKinds().Add({"dumps.example.com", "v1", "windows", "Window", false}));
  std::vector<std::string> texts;
  std::vector<std::string> warnings;
  for (const std::string& text : {yaml, json}) {
    const auto stats = ReadDump(
        text, "c.yaml", [&texts](api::ObjectPtr&& object, const DumpPlace&) -> Result<void> {
          texts.push_back(*api::As<api::PluginObject>(object)->json);
          return {};
        });
    ASSERT_TRUE(stats) << stats.error().message;
    warnings.insert(warnings.end(), stats->warnings.begin(), stats->warnings.end());
  }
  EXPECT_THAT(texts,
              ElementsAre(R"({"apiVersion":"dumps.example.com/v1","kind":"Window","metadata":)"
                          R"({"name":"a","uid":"1"},"spec":{"nodes":["n1",7,2.5,null,true]}})",
                          R"({"metadata":{"name":"b"},"spec":{"big":18446744073709551615}})"));
  EXPECT_THAT(warnings,
              ElementsAre(HasSubstr("Window is read in version dumps.example.com/v1, not"),
                          AllOf(HasSubstr("items[1]: metadata.labels"),
                                HasSubstr("; the object is left out"))));
  EXPECT_TRUE(IsRead({"dumps.example.com/v1", "Window"}));
}

}  // namespace
}  // namespace berth::documents
