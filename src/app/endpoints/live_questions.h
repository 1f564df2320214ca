// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/plugin.h"
#include "src/app/daemon/daemon.h"
#include "src/base/mutex.h"
#include "src/config/types.h"
#include "src/questions/desk.h"

namespace berth::app {

// Takes the plugins of libraries out of all profiles, and returns their names, sorted. `registry`
// lists all plugins.
std::vector<std::string> LeaveLibrariesOut(const std::vector<PluginRegistration>& registry,
                                           config::SchedulerConfiguration& configuration);

// The running daemon as questions see it: what they are answered from follows its informers, and
// has its profiles. Plugins of libraries are left out of these: their code is only ever run by the
// scheduling thread, and for pods that there are.
//
// Thread safety: as questions::LiveCluster and questions::Desk; Renew() from any thread.
class LiveQuestions final : public questions::LiveCluster {
 public:
  // `daemon` must outlive this. `registry` lists the plugins, those of libraries among them.
  LiveQuestions(Daemon& daemon, config::SchedulerConfiguration configuration,
                const Features& features, std::vector<PluginRegistration> registry);

  // The daemon's profiles are those of `next` from now on.
  void Renew(config::SchedulerConfiguration next);
  questions::Desk& desk() { return desk_; }
  // The plugins of libraries that the profiles name.
  std::vector<std::string> plugins_not_asked() const;

  Result<std::unique_ptr<simulator::Simulation>> MakeSimulation() override;
  size_t num_kinds() const override { return kinds_.size(); }
  void Follow(questions::ChangeSink sink) override;
  void Unfollow() override;

 private:
  void Set(config::SchedulerConfiguration configuration);

  Daemon& daemon_;
  const Features features_;
  const std::vector<PluginRegistration> registry_;
  const std::vector<informers::Kind> kinds_;
  mutable base::Mutex mutex_;
  config::SchedulerConfiguration configuration_ BERTH_GUARDED_BY(mutex_);
  std::vector<std::string> not_asked_ BERTH_GUARDED_BY(mutex_);
  questions::Desk desk_;
};

}  // namespace berth::app
