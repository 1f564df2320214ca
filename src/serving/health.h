// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/serving/router.h"

namespace berth::serving {

// One thing that must hold for the daemon to count as healthy.
struct HealthCheck {
  std::string name;  // "sched-handler-sync"
  // Why it does not hold; nullopt: it does. Called on the server's thread; must not wait.
  std::function<std::optional<std::string>()> failure;
};

// Called with how each check of "readyz" or the like went, for metrics.
using OnHealthCheck =
    std::function<void(const std::string& check, const std::string& type, bool healthy)>;

// Answers `path` ("/readyz") from all checks, in order, and `path`/<name> from each. No checks at
// all stand for one that always holds, "ping". Answers are kube-scheduler's, byte for byte: "ok"; a
// line a check with ?verbose or when one fails (500), without the reason, which only the check's
// own path tells; ?exclude=<name> leaves a check out.
void InstallHealth(Router& router, const std::string& path, std::vector<HealthCheck> checks,
                   OnHealthCheck observe = nullptr);

}  // namespace berth::serving
