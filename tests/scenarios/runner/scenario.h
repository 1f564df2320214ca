// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/handle.h"
#include "berth/time.h"
#include "src/config/types.h"
#include "src/informers/informer_event.h"

// A scenario as plain values; tests/scenarios/README.md has the format.
namespace berth::scenarios {

// Objects that come, in file order.
struct Create {
  std::vector<api::ObjectPtr> objects;
};

// A JSON merge patch of an object that is there.
struct ObjectPatch {
  informers::Kind kind = informers::Kind::kPod;
  std::string key;
  ConfigValue patch;
};
struct Update {
  std::vector<ObjectPatch> patches;
};

struct ObjectRef {
  informers::Kind kind = informers::Kind::kPod;
  std::string key;
};
struct Delete {
  std::vector<ObjectRef> objects;
};

struct Advance {
  Duration by{};
};

// What nodes use was measured; the window ended so long ago.
struct Measure {
  NodesMeasured measured;
  Duration age{};
};

// What is expected of one pod; members without a value are not looked at.
struct PodExpectation {
  std::string key;
  int line = 0;
  // It is on one of these; "" stands for no node.
  std::optional<std::vector<std::string>> nodes;
  std::optional<std::string> place;
  std::optional<std::string> message;
  std::optional<std::string> nominated_node;
  std::optional<int64_t> attempts;
  std::optional<std::vector<std::string>> plugins;
};

// Members of a pod's verdict document; null: the document does not have it.
struct VerdictExpectation {
  std::string key;
  ConfigValue verdict;
};

// Members of an object that is no pod; null: it is not there.
struct ObjectExpectation {
  informers::Kind kind = informers::Kind::kNode;
  std::string key;
  std::string path;
  ConfigValue object;
};

// An event that has been recorded; "" matches everything.
struct EventExpectation {
  int line = 0;
  std::string reason;
  std::string pod;
  std::string message;
};

struct CountExpectation {
  std::string what;  // bound, unschedulable, ...
  int64_t count = 0;
};

struct Expect {
  std::vector<CountExpectation> counts;
  std::vector<PodExpectation> pods;
  std::vector<VerdictExpectation> verdicts;
  std::vector<ObjectExpectation> objects;
  std::vector<EventExpectation> events;
  std::optional<std::vector<std::string>> evicted;

  // Whether pods are only judged, so that nothing needs to have been decided.
  bool only_explains() const {
    return counts.empty() && pods.empty() && objects.empty() && events.empty() && !evicted &&
           !verdicts.empty();
  }
};

struct Step {
  int line = 0;
  std::string note;
  std::variant<Create, Update, Delete, Advance, Measure, Expect> action;
};

// What becomes of a request to delete a pod to make room.
enum class Eviction : uint8_t {
  kLingers,  // the pod is being deleted from then on, until a step deletes it
  kRefused,  // the API server forbids it, the first time
};

struct Scenario {
  std::string file;
  std::string name;
  std::string plugin;
  uint64_t seed = 1;
  config::SchedulerConfiguration configuration;
  Features features;
  std::map<std::string, Eviction, std::less<>> evictions;  // by pod; others are gone at once
  // Claims are made and bound, and volumes made, as a cluster's controllers would.
  bool controllers = false;
  std::vector<Step> steps;
};

}  // namespace berth::scenarios
