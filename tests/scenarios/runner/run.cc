// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/runner/run.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "berth/api/pod.h"
#include "src/api/decode.h"
#include "src/app/daemon/in_tree_plugins.h"
#include "src/client/api_client.h"
#include "src/informers/kinds.h"
#include "tests/scenarios/runner/compare.h"
#include "tests/scenarios/runner/objects.h"

namespace berth::scenarios {
namespace {

// Carries the steps of one scenario out.
//
// Thread safety: one owner.
class Runner {
 public:
  Runner(const Scenario& scenario, const std::vector<PluginRegistration>& registry)
      : scenario_(scenario), registry_(registry) {}

  Outcome Run() {
    Outcome outcome;
    if (auto made = Make(); !made) {
      outcome.error = made.error().message;
      return outcome;
    }
    for (const Step& step : scenario_.steps) {
      outcome.step = static_cast<size_t>(&step - scenario_.steps.data());
      Begin(step);
      if (auto done = Carry(step, outcome.mismatches); !done) outcome.error = done.error().message;
      simulation_->RunDue();
      if (!outcome.ok()) break;
    }
    for (const auto& [pod, attempts] : attempts_) outcome.cycles += static_cast<uint64_t>(attempts);
    return outcome;
  }

 private:
  Result<void> Make() {
    simulator::SimulationOptions options;
    options.scheduler.configuration = scenario_.configuration;
    options.scheduler.features = scenario_.features;
    options.scheduler.seed = scenario_.seed;
    options.scheduler.hostname = "scenario";
    options.scheduler.on_cycle = [this](const scheduler::CycleOutcome& cycle) {
      ++attempts_[cycle.pod.metadata.Key()];
    };
    auto made = simulator::Simulation::Make(std::move(options), registry_);
    if (!made) return Fail(made.error().Within("config"));
    simulation_ = *std::move(made);
    if (scenario_.controllers) simulation_->StartControllers();
    if (!scenario_.evictions.empty()) {
      simulation_->api().set_fault(
          [this](const client::Request& request) { return AnswerEviction(request); });
    }
    return {};
  }

  // In the API server's place, for evictions that do not end at once.
  std::optional<client::ResponseResult> AnswerEviction(const client::Request& request) {
    if (request.verb != client::Verb::kDelete) return std::nullopt;
    for (const auto& [key, eviction] : scenario_.evictions) {
      const auto pod = simulation_->FindPod(key);
      if (pod == nullptr || request.path != "/api/v1/namespaces/" + pod->metadata.namespace_ +
                                                "/pods/" + pod->metadata.name) {
        continue;
      }
      if (eviction == Eviction::kRefused) {
        if (!refused_.insert(key).second) return std::nullopt;
        return tl::unexpected(client::ApiError{403, "Forbidden", "not this pod"});
      }
      auto ending = std::make_shared<api::Pod>(*pod);
      ending->metadata.deletion_timestamp = Time();
      simulation_->api().Apply(std::move(ending));
      return client::Response{200, "application/json", api::EncodeJson(*pod)};
    }
    return std::nullopt;
  }

  // Lets the scheduler decide from the first step on that needs its decisions. Before that objects
  // gather, and pods can be judged that will have a node right after.
  void Begin(const Step& step) {
    if (std::holds_alternative<Create>(step.action)) return;
    if (std::holds_alternative<Measure>(step.action)) return;
    const auto* expect = std::get_if<Expect>(&step.action);
    if (expect != nullptr && expect->only_explains()) return;
    simulation_->Start();
    simulation_->RunDue();
  }

  Result<void> Carry(const Step& step, std::vector<Mismatch>& mismatches) {
    if (const auto* create = std::get_if<Create>(&step.action)) return CarryOut(*create);
    if (const auto* update = std::get_if<Update>(&step.action)) return CarryOut(*update);
    if (const auto* remove = std::get_if<Delete>(&step.action)) return CarryOut(*remove);
    if (const auto* advance = std::get_if<Advance>(&step.action)) {
      simulation_->Advance(advance->by);
    } else if (const auto* measure = std::get_if<Measure>(&step.action)) {
      NodesMeasured measured = measure->measured;
      measured.window_end =
          std::chrono::floor<std::chrono::seconds>(simulation_->now() - measure->age)
              .time_since_epoch()
              .count();
      simulation_->scheduler().Post(std::move(measured));
    } else {
      Comparison comparison(*simulation_, attempts_);
      mismatches = comparison.Check(std::get<Expect>(step.action), step.line);
    }
    return {};
  }

  Result<void> CarryOut(const Create& create) {
    for (const api::ObjectPtr& object : create.objects) {
      const std::string key = api::MetaOf(object)->Key();
      if (simulation_->api().Find(simulator::KindOf(object), key).index() != 0) {
        return Fail(key + " is there already");
      }
      simulation_->Apply(object);
    }
    return {};
  }

  Result<void> CarryOut(const Update& update) {
    for (const ObjectPatch& patch : update.patches) {
      const api::ObjectPtr object = simulation_->api().Find(patch.kind, patch.key);
      if (object.index() == 0) return Fail(patch.key + " is not there");
      auto patched = PatchObject(object, patch.patch);
      if (!patched) return Fail(patched.error().Within(patch.key));
      const auto* pod = api::As<api::Pod>(*patched);
      // Informers do not show pods that have finished.
      if (pod != nullptr && (pod->status.phase == "Succeeded" || pod->status.phase == "Failed")) {
        simulation_->Delete(patch.kind, patch.key);
      } else {
        simulation_->Apply(*std::move(patched));
      }
    }
    return {};
  }

  Result<void> CarryOut(const Delete& remove) {
    for (const ObjectRef& object : remove.objects) {
      if (!simulation_->Delete(object.kind, object.key)) return Fail(object.key + " is not there");
    }
    return {};
  }

  const Scenario& scenario_;
  const std::vector<PluginRegistration>& registry_;
  std::set<std::string> refused_;  // pods whose eviction was
  std::map<std::string, int64_t, std::less<>> attempts_;
  std::unique_ptr<simulator::Simulation> simulation_;
};

}  // namespace

Outcome RunScenario(const Scenario& scenario) {
  return RunScenario(scenario, app::FindInTreePlugins().registry);
}

Outcome RunScenario(const Scenario& scenario, const std::vector<PluginRegistration>& registry) {
  return Runner(scenario, registry).Run();
}

}  // namespace berth::scenarios
