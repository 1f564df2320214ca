// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <utility>

#include "berth/field_errors.h"
#include "src/base/file.h"
#include "src/documents/parse.h"
#include "tests/bench/engine/workload.h"
#include "tests/scenarios/runner/objects.h"
#include "tests/scenarios/runner/parse.h"

namespace berth::bench {
namespace {

// Errors of this file begin with the line; the file's name comes before it at the end.
tl::unexpected<Error> FailAt(const ConfigValue& value, const std::string& what) {
  return Fail(std::to_string(value.line()) + ": " + what);
}

// A map without its member `key`.
ConfigValue Without(const ConfigValue& written, std::string_view key) {
  ConfigValue::Map rest = *written.map();
  std::erase_if(rest, [&](const auto& member) { return member.first == key; });
  return ConfigValue(std::move(rest), written.line());
}

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

size_t NumberOf(std::string_view text) {
  size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Result<ObjectTemplate> ReadTemplate(const std::string& list, informers::Kind kind,
                                    const ConfigValue& written) {
  if (written.map() == nullptr) return FailAt(written, list + ": expected a map");
  auto object = ObjectTemplate::Make(kind, written);
  if (!object) return FailAt(written, list + ": " + object.error().message);
  return object;
}

class Reader {
 public:
  explicit Reader(Workload& workload) : workload_(workload) {}

  Result<void> ReadSizes(const ConfigValue* written) {
    if (written == nullptr || written->map() == nullptr || written->map()->empty()) {
      return Fail("1: sizes: expected a map of at least one size");
    }
    for (const auto& [name, value] : *written->map()) {
      Size& size = workload_.sizes.emplace_back();
      size.name = name;
      if (value.map() == nullptr) return FailAt(value, "sizes." + name + ": expected a map");
      for (const auto& [what, number] : *value.map()) {
        if (number.integer() == nullptr || *number.integer() < 0) {
          return FailAt(number, "sizes." + name + "." + what + ": expected a number");
        }
        const auto count = static_cast<size_t>(*number.integer());
        if (what == "threshold") {
          size.threshold = count;
        } else {
          size.numbers[what] = count;
        }
      }
    }
    return {};
  }

  Result<WorkloadStep> ReadStep(const ConfigValue& written) {
    if (written.map() == nullptr) return FailAt(written, "steps: expected a map");
    WorkloadStep step;
    for (const auto& [key, value] : *written.map()) {
      Result<void> read;
      if (const auto kind = scenarios::KindOfList(key)) {
        read = ReadCrowds(key, *kind, value, step.create);
      } else if (key == "nodeMetrics") {
        read = ReadNodeMetrics(value, step.node_metrics);
      } else if (key == "measure") {
        auto measured = ReadMeasure(value);
        if (!measured) return measured;
        step = *std::move(measured);
      } else {
        return FailAt(value, "unknown field " + Quoted("steps." + key));
      }
      if (!read) return Fail(read.error());
    }
    return step;
  }

 private:
  Result<WorkloadStep> ReadMeasure(const ConfigValue& written) {
    WorkloadStep step;
    step.measured = true;
    const ConfigValue* pods = written.Find("pods");
    if (pods == nullptr) return FailAt(written, "measure: expected pods");
    if (auto read = ReadCrowds("measure.pods", informers::Kind::kPod, *pods, step.create); !read) {
      return Fail(read.error());
    }
    if (const ConfigValue* before = written.Find("before")) {
      if (auto read = ReadTemplates(*before, step.before); !read) return Fail(read.error());
    }
    if (const ConfigValue* meanwhile = written.Find("meanwhile")) {
      if (meanwhile->list() == nullptr) return FailAt(*meanwhile, "meanwhile: expected a list");
      for (const ConfigValue& one : *meanwhile->list()) {
        auto read = ReadMeanwhile(one);
        if (!read) return Fail(read.error());
        step.meanwhile.push_back(*std::move(read));
      }
    }
    return step;
  }

  Result<void> ReadCrowds(const std::string& list, informers::Kind kind, const ConfigValue& value,
                          std::vector<Crowd>& crowds) {
    if (value.list() == nullptr) return FailAt(value, list + ": expected a list");
    for (const ConfigValue& written : *value.list()) {
      Crowd crowd;
      crowd.count = "1";
      if (const ConfigValue* repeat = written.Find("repeat")) {
        if (auto read = ReadCount(*repeat, crowd.count); !read) return read;
      }
      if (written.map() == nullptr) return FailAt(written, list + ": expected a map");
      auto object = ReadTemplate(list, kind, Without(written, "repeat"));
      if (!object) return Fail(object.error());
      crowd.object = *std::move(object);
      crowds.push_back(std::move(crowd));
    }
    return {};
  }

  Result<void> ReadNodeMetrics(const ConfigValue& value, std::vector<MeasuredCrowd>& crowds) {
    if (value.list() == nullptr) return FailAt(value, "nodeMetrics: expected a list");
    for (const ConfigValue& written : *value.list()) {
      if (written.map() == nullptr) return FailAt(written, "nodeMetrics: expected a map");
      MeasuredCrowd crowd;
      crowd.count = "1";
      if (const ConfigValue* repeat = written.Find("repeat")) {
        if (auto read = ReadCount(*repeat, crowd.count); !read) return read;
      }
      const ConfigValue measured = Without(written, "repeat");
      FieldReader fields(measured, "nodeMetrics");
      crowd.pattern = scenarios::ReadNodeMetrics(fields);
      if (auto problem = fields.Finish()) return FailAt(written, problem->message);
      crowds.push_back(std::move(crowd));
    }
    return {};
  }

  Result<void> ReadCount(const ConfigValue& repeat, std::string& count) {
    if (repeat.integer() != nullptr && *repeat.integer() >= 0) {
      count = std::to_string(*repeat.integer());
      return {};
    }
    if (repeat.string() == nullptr) return FailAt(repeat, "repeat: expected a number or its name");
    count = *repeat.string();
    for (const Size& size : workload_.sizes) {
      if (!size.numbers.contains(count)) {
        return FailAt(repeat, "repeat: size " + size.name + " has no " + Quoted(count));
      }
    }
    return {};
  }

  Result<Meanwhile> ReadMeanwhile(const ConfigValue& written) {
    if (written.map() == nullptr) return FailAt(written, "meanwhile: expected a map");
    Meanwhile meanwhile;
    for (const auto& [key, value] : *written.map()) {
      if (key == "every") {
        if (value.integer() == nullptr || *value.integer() <= 0) {
          return FailAt(value, "every: expected a positive number");
        }
        meanwhile.every = static_cast<size_t>(*value.integer());
      } else if (key == "advance") {
        const auto by = ParseGoDuration(value.string() == nullptr ? "" : *value.string());
        if (!by) return FailAt(value, "advance: expected a duration");
        meanwhile.advance = *by;
      } else if (key == "deletePod") {
        if (value.string() == nullptr) return FailAt(value, "deletePod: expected a name");
        meanwhile.delete_pod = scenarios::KeyOf(informers::Kind::kPod, *value.string());
      } else if (key == "nodeMetrics") {
        if (auto read = ReadNodeMetrics(value, meanwhile.node_metrics); !read)
          return Fail(read.error());
      } else if (key == "create" || key == "recreate") {
        auto& templates = key == "create" ? meanwhile.create : meanwhile.recreate;
        if (auto read = ReadTemplates(value, templates); !read) return Fail(read.error());
      } else {
        return FailAt(value, "unknown field " + Quoted("meanwhile." + key));
      }
    }
    return meanwhile;
  }

  static Result<void> ReadTemplates(const ConfigValue& written,
                                    std::vector<ObjectTemplate>& templates) {
    if (written.map() == nullptr) return FailAt(written, "expected a map of lists");
    for (const auto& [list, objects] : *written.map()) {
      const auto kind = scenarios::KindOfList(list);
      if (!kind || objects.list() == nullptr) {
        return FailAt(objects, Quoted(list) + " is no list of objects");
      }
      for (const ConfigValue& one : *objects.list()) {
        auto object = ReadTemplate(list, *kind, one);
        if (!object) return Fail(object.error());
        templates.push_back(*std::move(object));
      }
    }
    return {};
  }

  Workload& workload_;
};

Result<std::optional<Peer>> ReadPeer(const ConfigValue* written) {
  if (written == nullptr) return std::nullopt;
  if (written->map() == nullptr) return FailAt(*written, "peer: expected a map");
  Peer peer;
  FieldReader fields(*written, "peer");
  fields.Read("workload", peer.workload);
  if (!fields.Read("costsAtMost", peer.costs_at_most) || peer.costs_at_most <= 0) {
    fields.Invalid("costsAtMost", "", "expected a positive number");
  }
  if (auto problem = fields.Finish()) return FailAt(*written, problem->message);
  return peer;
}

Result<Workload> ReadDocument(const ConfigValue& document) {
  Workload workload;
  FieldReader fields(document, "");
  fields.Read("name", workload.name);
  fields.Read("about", workload.about);
  const ConfigValue* configuration = fields.Get("config");
  const ConfigValue* written_peer = fields.Get("peer");
  const ConfigValue* written_gates = fields.Get("featureGates");
  const ConfigValue* sizes = fields.Get("sizes");
  const ConfigValue::List& steps = fields.GetList("steps");
  if (auto problem = fields.Finish()) return FailAt(document, problem->message);
  auto gates = scenarios::ParseFeatureGates(written_gates);
  if (!gates) return Fail(gates.error());
  workload.feature_gates = *std::move(gates);
  auto loaded = scenarios::ParseConfiguration(configuration, workload.feature_gates);
  if (!loaded) return Fail(loaded.error());
  workload.configuration = *std::move(loaded);
  auto peer = ReadPeer(written_peer);
  if (!peer) return Fail(peer.error());
  workload.peer = *std::move(peer);
  Reader reader(workload);
  if (auto read = reader.ReadSizes(sizes); !read) return Fail(read.error());
  for (const ConfigValue& written : steps) {
    auto step = reader.ReadStep(written);
    if (!step) return Fail(step.error());
    workload.steps.push_back(*std::move(step));
  }
  return workload;
}

// The name of a number that a crowd of `workload` has and `size` lacks; nullptr: there is none.
const std::string* LackOf(const Size& size, const Workload& workload) {
  const auto lacks = [&size](const std::string& count) {
    return !IsNumber(count) && !size.numbers.contains(count);
  };
  for (const WorkloadStep& step : workload.steps) {
    for (const Crowd& crowd : step.create) {
      if (lacks(crowd.count)) return &crowd.count;
    }
    for (const MeasuredCrowd& crowd : step.node_metrics) {
      if (lacks(crowd.count)) return &crowd.count;
    }
  }
  return nullptr;
}

}  // namespace

Result<std::optional<Workload>> PeerOf(const Workload& workload,
                                       const std::vector<Workload>& workloads) {
  if (!workload.peer) return std::nullopt;
  if (workload.peer->workload.empty()) {
    Workload peer = workload;
    auto plain = scenarios::ParseConfiguration(nullptr, workload.feature_gates);
    if (!plain) return Fail(plain.error());
    peer.configuration = *std::move(plain);
    return peer;
  }
  const auto peer = std::ranges::find(workloads, workload.peer->workload, &Workload::name);
  if (peer == workloads.end()) {
    return Fail(workload.name + ": there is no workload " + Quoted(workload.peer->workload));
  }
  for (const Size& size : workload.sizes) {
    if (const std::string* lack = LackOf(size, *peer)) {
      return Fail(workload.name + ": size " + size.name + " has no " + Quoted(*lack) + " for " +
                  peer->name);
    }
  }
  return *peer;
}

const Size* Workload::FindSize(std::string_view size) const {
  const auto it =
      std::find_if(sizes.begin(), sizes.end(), [&](const Size& one) { return one.name == size; });
  return it == sizes.end() ? nullptr : &*it;
}

size_t CountOf(const std::string& count, const Size& size) {
  if (IsNumber(count)) return NumberOf(count);
  return size.numbers.find(count)->second;
}

Result<Workload> ReadWorkload(const std::string& file_name) {
  const auto text = base::ReadFile(file_name);
  if (!text) return Fail(text.error());
  const auto documents = documents::ParseYaml(*text, file_name);
  if (!documents) return Fail(documents.error());
  if (documents->size() != 1) return Fail(file_name + ": a file holds one workload");
  auto workload = ReadDocument(documents->front());
  if (!workload) return Fail(file_name + ":" + workload.error().message);
  return workload;
}

}  // namespace berth::bench
