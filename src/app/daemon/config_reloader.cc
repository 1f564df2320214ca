// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/config_reloader.h"

#include <sys/stat.h>

#include <utility>

#include "src/app/daemon/settings.h"
#include "src/base/logging.h"

namespace berth::app {
namespace {

using metrics::Metric;

int64_t Nanos(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

void Report(const std::string& file, metrics::Registry& registry, const Result<void>& result) {
  registry.Add(registry.Intern(Metric::kConfigReloads, {result ? "success" : "failure"}));
  registry.Set(registry.Intern(Metric::kConfigLastReloadSuccessful), result ? 1 : 0);
  if (result) {
    base::LogInfo("Reloaded configuration", {{"file", file}});
  } else {
    base::LogError("Configuration is not reloaded, the old one stays",
                   {{"file", file}, {"err", result.error().message}});
  }
}

}  // namespace

ConfigReloader::ConfigReloader(RunFlags flags, const InTreePlugins& plugins,
                               metrics::Registry& metrics, Apply apply)
    : flags_(std::move(flags)),
      plugins_(plugins),
      metrics_(metrics),
      apply_(std::move(apply)),
      seen_(Look(flags_.config)),
      loaded_(seen_) {
  metrics_.Intern(Metric::kConfigReloads, {"success"});
  metrics_.Intern(Metric::kConfigReloads, {"failure"});
}

ConfigReloader::Identity ConfigReloader::Look(const std::string& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return std::nullopt;
  return std::tuple(uint64_t{found.st_dev}, uint64_t{found.st_ino}, int64_t{found.st_size},
                    Nanos(found.st_mtim), Nanos(found.st_ctim));
}

void ConfigReloader::Poll() {
  const Identity before = std::exchange(seen_, Look(flags_.config));
  if (seen_ == loaded_ || seen_ != before) return;
  loaded_ = seen_;
  auto settings = ResolveSettings(flags_, plugins_, Words::kUpstreams);
  if (!settings) {
    Report(flags_.config, metrics_, Fail(settings.error()));
    return;
  }
  for (const std::string& warning : settings->plugin_warnings) base::LogWarning(warning);
  apply_(std::move(settings->configuration),
         [file = flags_.config, &registry = metrics_](const Result<void>& result) {
           Report(file, registry, result);
         });
}

}  // namespace berth::app
