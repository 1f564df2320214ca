// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <tuple>

#include "berth/result.h"
#include "src/app/daemon/in_tree_plugins.h"
#include "src/app/flags/flags.h"
#include "src/config/types.h"
#include "src/metrics/registry.h"

namespace berth::app {

// What --reload-config does: looks at the configuration file again and again, and hands each new
// version that is valid to `apply`. The result is logged and counted
// (berth_config_reloads_total, berth_config_last_reload_successful).
//
// Looks by stat(), through symbolic links, so that a ConfigMap's volume, whose links are swapped,
// is seen like a file that is written in place. A file that was just changed is read once it has
// stayed the same from one look to the next, since it may be half written.
//
// Thread safety: one owner.
class ConfigReloader {
 public:
  static constexpr Duration kPeriod = std::chrono::seconds(1);

  // Applies a configuration and says how that went, on any thread.
  using Apply =
      std::function<void(config::SchedulerConfiguration, std::function<void(Result<void>)> done)>;

  // The file as it is now is the one that runs. `flags.config` names it. `plugins` must outlive
  // this, `metrics` every done function that `apply` gets.
  ConfigReloader(RunFlags flags, const InTreePlugins& plugins, metrics::Registry& metrics,
                 Apply apply);

  // Looks at the file. Call it each kPeriod.
  void Poll();

 private:
  // Device, inode, size, times; nullopt: there is no such file.
  using Identity = std::optional<std::tuple<uint64_t, uint64_t, int64_t, int64_t, int64_t>>;
  static Identity Look(const std::string& path);

  const RunFlags flags_;
  const InTreePlugins& plugins_;
  metrics::Registry& metrics_;
  const Apply apply_;
  Identity seen_;    // at the last look
  Identity loaded_;  // when it was read last
};

}  // namespace berth::app
