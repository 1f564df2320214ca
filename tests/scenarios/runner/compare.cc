// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/runner/compare.h"

#include <algorithm>
#include <utility>

#include "berth/field_errors.h"
#include "src/documents/parse.h"
#include "src/explain/verdict_json.h"
#include "src/queue/scheduling_queue.h"
#include "tests/scenarios/runner/objects.h"

namespace berth::scenarios {
namespace {

using informers::Kind;

// A node's name, or that there is none.
std::string NodeText(const std::string& name) { return name.empty() ? "no node" : Quoted(name); }

std::string NodesText(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : " or ") + NodeText(name);
  return out;
}

std::string MessageOf(const api::Pod& pod) {
  for (const api::PodCondition& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled") return condition.message;
  }
  return "";
}

void CompareInto(const ConfigValue& expected, const ConfigValue* found, const std::string& path,
                 std::vector<Mismatch>& out) {
  const auto add = [&](std::string expected_text) {
    const std::string found_text = found == nullptr ? "nothing" : found->ToJson();
    out.push_back({expected.line(), path, std::move(expected_text), found_text});
  };
  if (expected.is_null()) {
    if (found != nullptr) add("nothing");
  } else if (found == nullptr || found->map() == nullptr || expected.map() == nullptr ||
             expected.map()->empty()) {
    if (found == nullptr || expected.ToJson() != found->ToJson()) add(expected.ToJson());
  } else {
    for (const auto& [key, value] : *expected.map()) {
      CompareInto(value, found->Find(key), path + "." + key, out);
    }
  }
}

}  // namespace

std::vector<Mismatch> CompareTrees(const ConfigValue& expected, const ConfigValue& found,
                                   const std::string& path) {
  std::vector<Mismatch> mismatches;
  CompareInto(expected, &found, path, mismatches);
  return mismatches;
}

std::vector<Mismatch> Comparison::Check(const Expect& expect, int line) {
  mismatches_.clear();
  for (const CountExpectation& count : expect.counts) CheckCount(count, line);
  for (const PodExpectation& pod : expect.pods) CheckPod(pod);
  for (const VerdictExpectation& verdict : expect.verdicts) CheckVerdict(verdict);
  for (const ObjectExpectation& object : expect.objects) CheckObject(object);
  for (const EventExpectation& event : expect.events) CheckEvent(event);
  if (expect.evicted && *expect.evicted != simulation_.api().evicted()) {
    Add(line, "evicted", QuotedList(*expect.evicted), QuotedList(simulation_.api().evicted()));
  }
  return std::move(mismatches_);
}

void Comparison::Add(int line, std::string what, std::string expected, std::string found) {
  mismatches_.push_back({line, std::move(what), std::move(expected), std::move(found)});
}

void Comparison::CheckCount(const CountExpectation& expected, int line) {
  const queue::QueueCounts counts = simulation_.scheduler().queue().counts();
  size_t found = 0;
  if (expected.what == "bound") {
    simulation_.api().ForEach(Kind::kPod, [&found](const api::ObjectPtr& object) {
      if (!api::As<api::Pod>(object)->spec.node_name.empty()) ++found;
    });
  } else if (expected.what == "unschedulable") {
    found = counts.unschedulable;
  } else if (expected.what == "gated") {
    found = counts.gated;
  } else if (expected.what == "backoff") {
    found = counts.backoff;
  } else {
    found = counts.active;
  }
  if (static_cast<int64_t>(found) == expected.count) return;
  Add(line, expected.what, std::to_string(expected.count), std::to_string(found));
}

std::string Comparison::PlaceOf(std::string_view key) const {
  const auto pod = simulation_.FindPod(key);
  if (pod == nullptr) return "gone";
  const queue::SchedulingQueue& queue = simulation_.scheduler().queue();
  switch (queue.WhereIs(key)) {
    case queue::Place::kActive:
      return "active";
    case queue::Place::kBackoff:
      return "backoff";
    case queue::Place::kUnschedulable:
      return queue.Find(key)->gated() ? "gated" : "unschedulable";
    case queue::Place::kNowhere:
      break;
  }
  return pod->spec.node_name.empty() ? "unqueued" : "bound";
}

std::vector<std::string> Comparison::RejectorsOf(std::string_view key) const {
  const queue::QueuedPod* queued = simulation_.scheduler().queue().Find(key);
  if (queued == nullptr) return {};
  std::vector<std::string> plugins = queued->unschedulable_plugins;
  plugins.insert(plugins.end(), queued->pending_plugins.begin(), queued->pending_plugins.end());
  std::sort(plugins.begin(), plugins.end());
  plugins.erase(std::unique(plugins.begin(), plugins.end()), plugins.end());
  return plugins;
}

void Comparison::CheckPod(const PodExpectation& expected) {
  const std::string path = "pods." + expected.key;
  const auto add = [&](std::string_view member, std::string wanted, std::string found) {
    Add(expected.line, path + "." + std::string(member), std::move(wanted), std::move(found));
  };
  const std::string place = PlaceOf(expected.key);
  if (expected.place && *expected.place != place) add("place", *expected.place, place);
  const auto pod = simulation_.FindPod(expected.key);
  if (pod == nullptr) {
    if (!expected.place) add("place", "not gone", place);
    return;
  }
  if (expected.nodes && std::find(expected.nodes->begin(), expected.nodes->end(),
                                  pod->spec.node_name) == expected.nodes->end()) {
    const std::string why = pod->spec.node_name.empty() ? ": " + MessageOf(*pod) : "";
    add("node", NodesText(*expected.nodes), NodeText(pod->spec.node_name) + why);
  }
  if (expected.message && *expected.message != MessageOf(*pod)) {
    add("message", Quoted(*expected.message), Quoted(MessageOf(*pod)));
  }
  if (expected.nominated_node && *expected.nominated_node != pod->status.nominated_node_name) {
    add("nominatedNode", NodeText(*expected.nominated_node),
        NodeText(pod->status.nominated_node_name));
  }
  if (expected.attempts) {
    const auto it = attempts_.find(expected.key);
    const int64_t attempts = it == attempts_.end() ? 0 : it->second;
    if (attempts != *expected.attempts) {
      add("attempts", std::to_string(*expected.attempts), std::to_string(attempts));
    }
  }
  if (expected.plugins && *expected.plugins != RejectorsOf(expected.key)) {
    add("plugins", QuotedList(*expected.plugins), QuotedList(RejectorsOf(expected.key)));
  }
}

void Comparison::CheckVerdict(const VerdictExpectation& expected) {
  const int line = expected.verdict.line();
  const std::string path = "explain." + expected.key;
  // The scheduler may not have seen the last steps yet.
  simulation_.RunDue();
  const auto pod = simulation_.FindPod(expected.key);
  if (pod == nullptr) return Add(line, path, "a pod", "none of this name");
  if (!simulation_.IsWaiting(*pod)) {
    return Add(line, path, "a pod that waits",
               "one on node " + NodeText(pod->spec.node_name) +
                   "; explain it before the first step that lets the scheduler decide");
  }
  const auto judgement = simulation_.scheduler().Judge(pod);
  judgement->Explain();
  if (expected.verdict.Find("preemption") != nullptr) {
    judgement->PreviewPreemption();
  }
  judgement->PreviewClaims();
  std::string text;
  explain::VerdictWriter(judgement->snapshot()).Append(*judgement, text);
  const auto document = documents::ParseJson(text, "");
  if (!document) return Add(line, path, "a JSON document", document.error().message);
  for (Mismatch& mismatch : CompareTrees(expected.verdict, *document, path)) {
    mismatches_.push_back(std::move(mismatch));
  }
}

void Comparison::CheckObject(const ObjectExpectation& expected) {
  const api::ObjectPtr object = simulation_.api().Find(expected.kind, expected.key);
  std::optional<ConfigValue> tree;
  if (!std::holds_alternative<std::monostate>(object)) {
    auto made = TreeOf(object);
    if (!made) return Add(expected.object.line(), expected.path, "an object", made.error().message);
    tree = *std::move(made);
  }
  CompareInto(expected.object, tree ? &*tree : nullptr, expected.path, mismatches_);
}

void Comparison::CheckEvent(const EventExpectation& expected) {
  const auto fits = [](const std::string& wanted, const std::string& text) {
    return wanted.empty() || wanted == text;
  };
  std::string others;
  for (const simulator::WrittenEvent& event : simulation_.api().events()) {
    if (fits(expected.reason, event.reason) && fits(expected.pod, event.regarding) &&
        fits(expected.message, event.note)) {
      return;
    }
    others += "\n      " + event.reason + " " + event.regarding + " " + Quoted(event.note);
  }
  Add(expected.line, "events",
      expected.reason + " " + expected.pod + " " + Quoted(expected.message),
      others.empty() ? "no events" : others);
}

}  // namespace berth::scenarios
