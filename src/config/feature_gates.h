// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"

namespace berth::config {

enum class FeatureStage : uint8_t { kAlpha, kBeta, kGA, kDeprecated };

// A feature gate as kube-scheduler 1.37 has it.
struct FeatureGate {
  std::string_view name;
  FeatureStage stage = FeatureStage::kAlpha;
  bool enabled_by_default = false;
  // May not be set to anything but its default.
  bool locked = false;
  // Gates that must be on where this one is, separated by spaces.
  std::string_view depends_on = "";
};

// Sorted by name. Most of them concern other components; all are known, so that one set of flags
// serves a whole control plane.
std::span<const FeatureGate> KnownFeatureGates();

// Which gates are on. Immutable; any thread.
class FeatureGates {
 public:
  // All at their defaults.
  FeatureGates();

  // `values` are those of --feature-gates, each "[kube:]Name=bool,...", and
  // `min_compatibility_minor` is that of --min-compatibility-version. Later entries win over
  // earlier ones; AllAlpha and AllBeta set what is not set by name. Errors, in kube-scheduler's
  // words: an unknown gate or component, no bool, a locked gate changed, a gate on whose
  // dependencies are off.
  static Result<FeatureGates> Parse(std::span<const std::string> values,
                                    int min_compatibility_minor = kDefaultMinCompatibilityMinor);
  static constexpr int kDefaultMinCompatibilityMinor = 36;

  // `name` must be known.
  bool Enabled(std::string_view name) const;
  // What plugins are told.
  Features Resolve() const;
  // What the args of plugins depend on.
  ArgsFeatures ResolveForArgs() const;
  // What an operator should know about the gates that were set: those that go away, and those that
  // kube-scheduler acts upon and Berth does not.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::vector<bool> enabled_;  // by position in KnownFeatureGates()
  std::vector<std::string> warnings_;
};

}  // namespace berth::config
