// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "src/framework/profile.h"
#include "src/framework/runtime.h"

namespace berth::framework {

// Measures one extension point, from construction to Finish. Reads no clock without an observer.
class PointTimer {
 public:
  PointTimer(const Profile& profile, RuntimeObserver* observer, ExtensionPoint point)
      : profile_(profile), observer_(observer), point_(point) {
    if (observer_ != nullptr) start_ = observer_->Now();
  }
  void Finish(Code code) {
    if (observer_ == nullptr) return;
    observer_->ObserveExtensionPoint(profile_, point_, code, observer_->Now() - start_);
  }

 private:
  const Profile& profile_;
  RuntimeObserver* observer_;
  ExtensionPoint point_;
  Time start_;
};

// Measures one plugin's call, in the cycles that are sampled for it, and tells in all cycles that
// the plugin is busy. `plugin` must be the profile's own, not a copy.
class PluginTimer {
 public:
  PluginTimer(const Cycle& cycle, const std::string_view& plugin, ExtensionPoint point)
      : PluginTimer(cycle.observer, cycle.observe_plugins, plugin, point) {}
  // The same outside of a cycle; `sampled`: it is measured.
  PluginTimer(RuntimeObserver* observer, bool sampled, const std::string_view& plugin,
              ExtensionPoint point)
      : busy_(observer), observer_(sampled ? observer : nullptr), plugin_(plugin), point_(point) {
    if (busy_ != nullptr) before_ = busy_->SetBusy({&plugin, point});
    if (observer_ != nullptr) start_ = observer_->Now();
  }
  ~PluginTimer() {
    if (busy_ != nullptr) busy_->SetBusy(before_);
  }
  PluginTimer(const PluginTimer&) = delete;
  PluginTimer& operator=(const PluginTimer&) = delete;
  void Finish(Code code) {
    if (observer_ != nullptr) {
      observer_->ObservePlugin(plugin_, point_, code, observer_->Now() - start_);
    }
  }

 private:
  RuntimeObserver* busy_;
  BusyPlugin before_;  // a dry run calls plugins inside another's PostFilter
  RuntimeObserver* observer_;
  std::string_view plugin_;
  ExtensionPoint point_;
  Time start_;
};

inline void CountEvaluations(const Profile& profile, RuntimeObserver* observer,
                             std::string_view plugin, ExtensionPoint point, uint64_t count) {
  if (observer != nullptr) observer->CountEvaluations(profile, plugin, point, count);
}

}  // namespace berth::framework
