// SPDX-License-Identifier: Apache-2.0
#include "src/config/reload.h"

#include <algorithm>
#include <utility>

#include "src/base/logging.h"
#include "src/scheduler/scheduler.h"

namespace berth::scheduler {
namespace {

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

// What the profile says about the plugin, as JSON; "" for nothing.
std::string ArgsOf(const config::SchedulerConfiguration& configuration,
                   std::string_view scheduler_name, std::string_view plugin) {
  for (const config::Profile& profile : configuration.profiles) {
    if (profile.scheduler_name != scheduler_name) continue;
    for (const config::PluginConfig& config : profile.plugin_config) {
      if (config.name == plugin) return config.args.ToJson();
    }
  }
  return "";
}

// A pod whose victims are being evicted must not preempt others because the configuration changed.
void HandOverEvictions(const framework::Profile& from, const framework::Profile& to) {
  for (const auto& entry : to.plugins().post_filter) {
    auto* successor = PluginCast<PreemptionPlugin>(entry.plugin);
    for (const auto& old : from.plugins().post_filter) {
      auto* predecessor = PluginCast<PreemptionPlugin>(old.plugin);
      if (successor == nullptr || predecessor == nullptr) continue;
      if (successor->Name() == predecessor->Name()) successor->TakeOver(*predecessor);
    }
  }
}

}  // namespace

size_t Scheduler::CountPodsOf(std::string_view scheduler_name) const {
  const auto belongs = [scheduler_name](const queue::QueuedPod& pod) {
    return pod.pod().spec.scheduler_name == scheduler_name;
  };
  size_t count = 0;
  for (const auto& pending : queue_->PendingPods()) count += belongs(*pending.pod) ? 1 : 0;
  for (const auto& [uid, pod] : in_hand_) count += belongs(*pod.queued) ? 1 : 0;
  return count;
}

Result<void> Scheduler::Reload(config::SchedulerConfiguration next) {
  BERTH_ON_THREAD(owner_);
  const config::ReloadDifference difference =
      config::CompareForReload(options_.configuration, next);
  if (difference.none()) return {};
  if (!difference.fixed.empty()) {
    return Fail(Joined(difference.fixed) + ": cannot change without a restart");
  }
  for (const std::string& name : difference.removed_profiles) {
    if (const size_t pods = CountPodsOf(name); pods > 0) {
      return Fail("profiles: \"" + name + "\" cannot go while pods wait for it (" +
                  std::to_string(pods) + ")");
    }
  }
  auto made = MakeProfiles(next);
  if (!made) return Fail(made.error());
  // The order of the queue is made of comparisons by the old plugin.
  for (const auto& [name, profile] : made->profiles) {
    const std::string_view sort = profile->queue_sort().Name();
    if (sort != profiles_.at(name)->queue_sort().Name() ||
        ArgsOf(options_.configuration, name, sort) != ArgsOf(next, name, sort)) {
      return Fail("profiles: the queueSort plugin of \"" + name +
                  "\" cannot change without a restart");
    }
  }
  for (const auto& [name, profile] : made->profiles) {
    HandOverEvictions(*profiles_.at(name), *profile);
  }
  // Pods in binding cycles go on with the profile they have, and a plugin may have asked for
  // something, such as an eviction, whose answer comes back to it at any time. So what served once
  // is kept; it is small, and reloads are rare.
  retired_profiles_.push_back(std::exchange(profiles_, std::move(made->profiles)));
  std::move(made->handles.begin(), made->handles.end(), std::back_inserter(handles_));
  engine_.ForgetKept();
  cache_.SetSignatureParts(made->signature_parts);
  options_.configuration = std::move(next);
  queue_->ReplaceHints(Hints(), now_);
  return {};
}

}  // namespace berth::scheduler
