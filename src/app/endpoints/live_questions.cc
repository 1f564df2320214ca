// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/live_questions.h"

#include <algorithm>
#include <set>
#include <utility>

#include "src/config/extension_points.h"

namespace berth::app {
namespace {

// Pods of one question are few; the scheduler's own classes need the memory.
constexpr size_t kKeptBytes = size_t{16} << 20;

}  // namespace

std::vector<std::string> LeaveLibrariesOut(const std::vector<PluginRegistration>& registry,
                                           config::SchedulerConfiguration& configuration) {
  std::set<std::string> left_out;
  const auto is_loaded = [&registry](const auto& plugin) {
    const auto found = std::ranges::find(registry, plugin.name, &PluginRegistration::name);
    return found != registry.end() && !found->library.empty();
  };
  for (config::Profile& profile : configuration.profiles) {
    for (const config::ExtensionPoint& point : config::kExtensionPoints) {
      auto& enabled = (profile.plugins.*point.set).enabled;
      for (const config::PluginRef& plugin : enabled) {
        if (is_loaded(plugin)) left_out.insert(plugin.name);
      }
      std::erase_if(enabled, is_loaded);
    }
    std::erase_if(profile.plugin_config, is_loaded);
  }
  return {left_out.begin(), left_out.end()};
}

LiveQuestions::LiveQuestions(Daemon& daemon, config::SchedulerConfiguration configuration,
                             const Features& features, std::vector<PluginRegistration> registry)
    : daemon_(daemon),
      features_(features),
      registry_(std::move(registry)),
      kinds_(informers::WatchedKinds(features)),
      desk_(*this, daemon.clock()) {
  Set(std::move(configuration));
}

void LiveQuestions::Set(config::SchedulerConfiguration configuration) {
  std::vector<std::string> not_asked = LeaveLibrariesOut(registry_, configuration);
  base::MutexLock lock(mutex_);
  configuration_ = std::move(configuration);
  not_asked_ = std::move(not_asked);
}

void LiveQuestions::Renew(config::SchedulerConfiguration next) {
  Set(std::move(next));
  desk_.Renew();
}

std::vector<std::string> LiveQuestions::plugins_not_asked() const {
  base::MutexLock lock(mutex_);
  return not_asked_;
}

Result<std::unique_ptr<simulator::Simulation>> LiveQuestions::MakeSimulation() {
  simulator::SimulationOptions options;
  {
    base::MutexLock lock(mutex_);
    options.scheduler.configuration = configuration_;
  }
  options.scheduler.features = features_;
  options.scheduler.seed = 1;
  options.scheduler.max_kept_bytes = kKeptBytes;
  options.scheduler.hostname = "what-if";
  options.start = daemon_.clock().Now();
  options.keep_events = false;
  auto made = simulator::Simulation::Make(options, registry_);
  if (!made) return Fail(made.error().Within("initializing profiles"));
  return made;
}

// The informers' first lists come after the decisions of which they may know the pods.
void LiveQuestions::Follow(questions::ChangeSink sink) {
  daemon_.scheduler().Post(
      scheduler::Query{[&daemon = daemon_, kinds = kinds_, sink = std::move(sink)] {
        daemon.scheduler().WatchAssignments(sink);
        daemon.informers().Follow(kinds, sink);
      }});
}

void LiveQuestions::Unfollow() {
  daemon_.scheduler().Post(scheduler::Query{[&daemon = daemon_] {
    daemon.scheduler().WatchAssignments(nullptr);
    daemon.informers().Unfollow();
  }});
}

}  // namespace berth::app
