// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/runner/parse_expect.h"

#include <algorithm>
#include <array>
#include <utility>

#include "berth/field_errors.h"
#include "tests/scenarios/runner/objects.h"

namespace berth::scenarios {
namespace {

constexpr std::array<std::string_view, 5> kCounts = {"bound", "unschedulable", "gated", "backoff",
                                                     "active"};
constexpr std::array<std::string_view, 7> kPlaces = {"active", "backoff",  "unschedulable", "gated",
                                                     "bound",  "unqueued", "gone"};

std::string PodKey(std::string_view name) { return KeyOf(informers::Kind::kPod, name); }

// Whether the member is there, be it null.
bool Has(const ConfigValue& map, std::string_view key) {
  return std::any_of(map.map()->begin(), map.map()->end(),
                     [&](const auto& member) { return member.first == key; });
}

Result<PodExpectation> ParsePod(const std::string& name, const ConfigValue& written) {
  if (written.map() == nullptr) return FailAt(written, "expect.pods." + name + ": expected a map");
  PodExpectation pod;
  pod.key = PodKey(name);
  pod.line = written.line();
  FieldReader fields(written, "expect.pods." + name);
  std::string text;
  std::vector<std::string> texts;
  if (fields.Read("node", text)) {
    pod.nodes = {text};
  } else if (Has(written, "node")) {
    pod.nodes = {""};
  }
  if (fields.Read("nodeIn", texts)) {
    if (pod.nodes) fields.Invalid("nodeIn", QuotedList(texts), "there is a node, too");
    pod.nodes = texts;
  }
  if (fields.Read("place", text)) {
    pod.place = text;
    if (std::find(kPlaces.begin(), kPlaces.end(), text) == kPlaces.end()) {
      fields.Problem(UnsupportedField(fields.PathOf("place"), Quoted(text), kPlaces));
    }
  }
  if (fields.Read("message", text)) pod.message = text;
  if (fields.Read("nominatedNode", text)) {
    pod.nominated_node = text;
  } else if (Has(written, "nominatedNode")) {
    pod.nominated_node = "";
  }
  int64_t attempts = 0;
  if (fields.Read("attempts", attempts)) pod.attempts = attempts;
  if (fields.Read("plugins", texts)) pod.plugins = texts;
  if (auto problem = fields.Finish()) return FailAt(written, problem->message);
  return pod;
}

Result<EventExpectation> ParseEvent(const ConfigValue& written) {
  if (written.map() == nullptr) return FailAt(written, "expect.events: expected a map");
  EventExpectation event;
  event.line = written.line();
  FieldReader fields(written, "expect.events");
  fields.Read("reason", event.reason);
  if (fields.Read("pod", event.pod)) event.pod = PodKey(event.pod);
  fields.Read("message", event.message);
  if (auto problem = fields.Finish()) return FailAt(written, problem->message);
  return event;
}

}  // namespace

tl::unexpected<Error> FailAt(const ConfigValue& value, const std::string& what) {
  return Fail(std::to_string(value.line()) + ": " + what);
}

Result<Expect> ParseExpect(const ConfigValue& written) {
  if (written.map() == nullptr) return FailAt(written, "expect: expected a map");
  Expect expect;
  FieldReader fields(written, "expect");
  for (std::string_view what : kCounts) {
    int64_t count = 0;
    if (fields.Read(what, count)) expect.counts.push_back({std::string(what), count});
  }
  const auto members = [&](std::string_view field) {
    const ConfigValue* value = fields.Get(field);
    if (value == nullptr) return ConfigValue::Map();
    if (value->map() == nullptr) fields.Invalid(field, value->ToJson(), "must be a map");
    return value->map() == nullptr ? ConfigValue::Map() : *value->map();
  };
  for (const auto& [name, value] : members("pods")) {
    auto pod = ParsePod(name, value);
    if (!pod) return Fail(pod.error());
    expect.pods.push_back(*std::move(pod));
  }
  for (const auto& [name, value] : members("explain")) {
    if (value.map() == nullptr) return FailAt(value, "expect.explain." + name + ": expected a map");
    expect.verdicts.push_back({PodKey(name), value});
  }
  for (const auto& [list, kind] : Lists()) {
    if (kind == informers::Kind::kPod) continue;
    for (const auto& [name, value] : members(list)) {
      expect.objects.push_back({kind, KeyOf(kind, name), std::string(list) + "." + name, value});
    }
  }
  for (const ConfigValue& value : fields.GetList("events")) {
    auto event = ParseEvent(value);
    if (!event) return Fail(event.error());
    expect.events.push_back(*std::move(event));
  }
  std::vector<std::string> evicted;
  if (fields.Read("evicted", evicted)) {
    for (std::string& name : evicted) name = PodKey(name);
    expect.evicted = std::move(evicted);
  }
  if (auto problem = fields.Finish()) return FailAt(written, problem->message);
  return expect;
}

}  // namespace berth::scenarios
