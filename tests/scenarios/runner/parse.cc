// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/runner/parse.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "berth/field_errors.h"
#include "src/app/daemon/in_tree_plugins.h"
#include "src/base/file.h"
#include "src/config/load.h"
#include "src/documents/parse.h"
#include "tests/scenarios/runner/objects.h"
#include "tests/scenarios/runner/parse_expect.h"

namespace berth::scenarios {
namespace {

constexpr std::string_view kPluginOfTheLoop = "scheduler";
constexpr int64_t kMaxRepeat = 1'000'000;

// Errors of this file begin with the line; the file's name comes before it at the end.

void ReadMeasured(FieldReader& fields, std::string_view average, std::string_view deviation,
                  MeasuredResource& resource) {
  resource.known = fields.Read(average, resource.average);
  if (resource.known) resource.last = resource.average;
  if (fields.Read(deviation, resource.deviation)) resource.known = true;
}

// Reads the steps one after the other.
//
// Thread safety: one owner.
class StepReader {
 public:
  Result<Step> Read(const ConfigValue& written) {
    if (written.map() == nullptr) return FailAt(written, "steps: expected a map");
    Step step;
    step.line = written.line();
    bool has_action = false;
    for (const auto& [key, value] : *written.map()) {
      if (key == "note") {
        if (value.string() == nullptr) return FailAt(value, "note: expected a string");
        step.note = *value.string();
        continue;
      }
      const bool creates = KindOfList(key).has_value();
      const bool joins = creates && has_action && std::holds_alternative<Create>(step.action);
      if (has_action && !joins) return FailAt(value, key + ": a step does one thing");
      if (auto read = ReadAction(key, value, step); !read) return Fail(read.error());
      has_action = true;
    }
    if (!has_action) return FailAt(written, "a step that does nothing");
    return step;
  }

 private:
  Result<void> ReadAction(const std::string& key, const ConfigValue& value, Step& step) {
    if (const auto kind = KindOfList(key)) {
      return ReadObjects(key, *kind, value, std::get<Create>(step.action));
    }
    if (key == "update") return ReadUpdate(value, step.action.emplace<Update>());
    if (key == "delete") return ReadDelete(value, step.action.emplace<Delete>());
    if (key == "advance") {
      const auto by = ParseGoDuration(value.string() == nullptr ? "" : *value.string());
      if (!by || *by < Duration::zero()) {
        return FailAt(value, "advance: expected a duration such as 1m30s");
      }
      step.action = Advance{*by};
      return {};
    }
    if (key == "measure") return ReadMeasure(value, step.action.emplace<Measure>());
    if (key != "expect") return FailAt(value, "unknown field " + Quoted(key));
    auto expect = ParseExpect(value);
    if (!expect) return Fail(expect.error());
    step.action = *std::move(expect);
    return {};
  }

  Result<void> ReadObjects(const std::string& list, informers::Kind kind, const ConfigValue& value,
                           Create& create) {
    if (value.list() == nullptr) return FailAt(value, list + ": expected a list");
    for (const ConfigValue& written : *value.list()) {
      const auto copies = CopiesOf(written);
      if (!copies) return FailAt(written, list + ": " + copies.error().message);
      for (const ConfigValue& copy : *copies) {
        const auto expanded = ExpandShortCuts(kind, copy);
        if (!expanded) return FailAt(written, list + ": " + expanded.error().message);
        auto object = MakeObject(kind, *expanded, "uid-" + std::to_string(++last_uid_));
        if (!object) {
          const std::string name = KeyOfExpanded(kind, *expanded);
          return FailAt(written, list + ": " + name + ": " + object.error().message);
        }
        create.objects.push_back(*std::move(object));
      }
    }
    return {};
  }

  // The object as often as its `repeat` says.
  static Result<std::vector<ConfigValue>> CopiesOf(const ConfigValue& written) {
    const ConfigValue* repeat = written.Find("repeat");
    if (repeat == nullptr) return std::vector<ConfigValue>{written};
    if (repeat->integer() == nullptr || *repeat->integer() < 0 || *repeat->integer() > kMaxRepeat) {
      return Fail("repeat: expected a number from 0 to " + std::to_string(kMaxRepeat));
    }
    ConfigValue::Map once = *written.map();
    std::erase_if(once, [](const auto& member) { return member.first == "repeat"; });
    const ConfigValue pattern(std::move(once), written.line());
    std::vector<ConfigValue> copies;
    const auto count = static_cast<size_t>(*repeat->integer());
    for (size_t i = 0; i < count; ++i) copies.push_back(WithIndex(pattern, i));
    return copies;
  }

  static Result<void> ReadUpdate(const ConfigValue& value, Update& update) {
    if (value.map() == nullptr) return FailAt(value, "update: expected a map");
    for (const auto& [list, objects] : *value.map()) {
      const auto kind = KindOfList(list);
      if (!kind) return FailAt(objects, "unknown field " + Quoted("update." + list));
      if (objects.list() == nullptr) return FailAt(objects, "update." + list + ": expected a list");
      for (const ConfigValue& written : *objects.list()) {
        const auto expanded = ExpandShortCuts(*kind, written);
        if (!expanded) return FailAt(written, "update." + list + ": " + expanded.error().message);
        std::string key = KeyOfExpanded(*kind, *expanded);
        if (key.empty()) return FailAt(written, "update." + list + ": name: is missing");
        update.patches.push_back({*kind, std::move(key), *expanded});
      }
    }
    return {};
  }

  static Result<void> ReadMeasure(const ConfigValue& value, Measure& measure) {
    if (value.map() == nullptr) return FailAt(value, "measure: expected a map");
    FieldReader fields(value, "measure");
    measure.measured.source = NodeMetricsSource().Name();
    fields.Read("source", measure.measured.source);
    fields.Read("age", measure.age);
    const ConfigValue::List& list = fields.GetList("nodes");
    for (size_t i = 0; i < list.size(); ++i) {
      FieldReader entry(list[i], IndexedPath("measure.nodes", i));
      measure.measured.nodes.push_back(ReadNodeMetrics(entry));
      fields.Merge(entry);
    }
    if (auto problem = fields.Finish()) return FailAt(value, problem->message);
    return {};
  }

  static Result<void> ReadDelete(const ConfigValue& value, Delete& remove) {
    if (value.map() == nullptr) return FailAt(value, "delete: expected a map");
    for (const auto& [list, names] : *value.map()) {
      const auto kind = KindOfList(list);
      if (!kind) return FailAt(names, "unknown field " + Quoted("delete." + list));
      if (names.list() == nullptr) return FailAt(names, "delete." + list + ": expected a list");
      for (const ConfigValue& name : *names.list()) {
        if (name.string() == nullptr) return FailAt(name, "delete." + list + ": expected a name");
        remove.objects.push_back({*kind, KeyOf(*kind, *name.string())});
      }
    }
    return {};
  }

  uint64_t last_uid_ = 0;
};

Result<void> CheckPlugin(const ConfigValue& document, const std::string& plugin) {
  if (plugin == kPluginOfTheLoop) return {};
  const auto registry = app::FindInTreePlugins().registry;
  if (std::any_of(registry.begin(), registry.end(),
                  [&](const PluginRegistration& known) { return known.name == plugin; })) {
    return {};
  }
  return FailAt(document, "plugin: " + Quoted(plugin) + " is neither a plugin nor \"scheduler\"");
}

Result<void> ParseEvictions(const ConfigValue* written, Scenario& scenario) {
  if (written == nullptr) return {};
  if (written->map() == nullptr) return FailAt(*written, "evictions: expected a map");
  for (const auto& [name, value] : *written->map()) {
    const std::string* text = value.string();
    if (text == nullptr || (*text != "lingers" && *text != "refused")) {
      return FailAt(value, "evictions." + name + ": expected lingers or refused");
    }
    scenario.evictions[KeyOf(informers::Kind::kPod, name)] =
        *text == "lingers" ? Eviction::kLingers : Eviction::kRefused;
  }
  return {};
}

Result<Scenario> ParseDocument(const ConfigValue& document) {
  if (document.map() == nullptr) return FailAt(document, "a scenario is a map");
  Scenario scenario;
  FieldReader fields(document, "");
  fields.Read("name", scenario.name);
  fields.Read("plugin", scenario.plugin);
  int64_t seed = 1;
  if (fields.Read("seed", seed) && seed < 0) {
    fields.Invalid("seed", std::to_string(seed), "must not be negative");
  }
  scenario.seed = static_cast<uint64_t>(seed);
  const ConfigValue* configuration = fields.Get("config");
  const ConfigValue* written_gates = fields.Get("featureGates");
  const ConfigValue* evictions = fields.Get("evictions");
  fields.Read("controllers", scenario.controllers);
  const ConfigValue::List& steps = fields.GetList("steps");
  for (std::string_view field : {"name", "plugin", "steps"}) {
    if (document.Find(field) == nullptr) fields.Problem(RequiredField(field, "a scenario has one"));
  }
  if (auto problem = fields.Finish()) return FailAt(document, problem->message);
  if (auto known = CheckPlugin(document, scenario.plugin); !known) return Fail(known.error());

  const auto gates = ParseFeatureGates(written_gates);
  if (!gates) return Fail(gates.error());
  scenario.features = gates->Resolve();
  auto loaded = ParseConfiguration(configuration, *gates);
  if (!loaded) return Fail(loaded.error());
  scenario.configuration = *std::move(loaded);
  if (auto read = ParseEvictions(evictions, scenario); !read) return Fail(read.error());
  StepReader reader;
  for (const ConfigValue& written : steps) {
    auto step = reader.Read(written);
    if (!step) return Fail(step.error());
    scenario.steps.push_back(*std::move(step));
  }
  return scenario;
}

}  // namespace

Result<config::SchedulerConfiguration> ParseConfiguration(const ConfigValue* written,
                                                          const config::FeatureGates& gates) {
  const config::KnownPlugins known = app::KnownTo(app::FindInTreePlugins(), gates);
  if (written == nullptr) return config::DefaultConfiguration(known);
  if (written->map() == nullptr) return FailAt(*written, "config: expected a map");
  ConfigValue::Map document = *written->map();
  document.emplace_back("apiVersion", ConfigValue(std::string(config::kApiVersion)));
  document.emplace_back("kind", ConfigValue(std::string(config::kKind)));
  auto loaded = config::Load(ConfigValue(std::move(document)).ToJson(), "config", known);
  if (!loaded) return FailAt(*written, loaded.error().message);
  return loaded;
}

NodeMetrics ReadNodeMetrics(FieldReader& fields) {
  NodeMetrics node;
  fields.Read("name", node.name);
  ReadMeasured(fields, "cpu", "cpuDeviation", node.cpu);
  ReadMeasured(fields, "memory", "memoryDeviation", node.memory);
  return node;
}

Result<config::FeatureGates> ParseFeatureGates(const ConfigValue* written) {
  if (written == nullptr) return config::FeatureGates();
  if (written->map() == nullptr) return FailAt(*written, "featureGates: expected a map");
  std::vector<std::string> values;
  for (const auto& [name, value] : *written->map()) {
    if (value.boolean() == nullptr) {
      return FailAt(value, "featureGates." + name + ": expected true or false");
    }
    values.push_back(name + (*value.boolean() ? "=true" : "=false"));
  }
  auto gates = config::FeatureGates::Parse(values);
  if (!gates) return FailAt(*written, "featureGates: " + gates.error().message);
  return gates;
}

Result<Scenario> ParseScenario(std::string_view text, std::string_view file_name) {
  const auto documents = documents::ParseYaml(text, file_name);
  if (!documents) return Fail(documents.error());
  if (documents->size() != 1) {
    return Fail(std::string(file_name) + ": a file holds one scenario, not " +
                std::to_string(documents->size()));
  }
  auto scenario = ParseDocument(documents->front());
  if (!scenario) return Fail(std::string(file_name) + ":" + scenario.error().message);
  scenario->file = file_name;
  return scenario;
}

Result<Scenario> ReadScenario(const std::string& file_name) {
  const auto text = base::ReadFile(file_name);
  if (!text) return Fail(text.error());
  return ParseScenario(*text, file_name);
}

}  // namespace berth::scenarios
