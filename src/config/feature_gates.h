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

// kPreAlpha: not there yet, in the version that is emulated.
enum class FeatureStage : uint8_t { kPreAlpha, kAlpha, kBeta, kGA, kDeprecated };

// What a gate is from a minor version on: 36 of 1.36.
struct GateState {
  FeatureStage stage = FeatureStage::kPreAlpha;
  bool enabled_by_default = false;
  // May not be set to anything but its default.
  bool locked = false;
  int since = 0;
};

// A feature gate as kube-scheduler 1.37 has it.
struct FeatureGate {
  // As it is when that minor version is emulated.
  const GateState& At(int minor) const;

  std::string_view name;
  GateState states[4];  // the oldest first; those of kPreAlpha at the end are none
  // Gates that must be on where this one is, separated by spaces.
  std::string_view depends_on = "";
};

// Sorted by name. Most of them concern other components; all are known, so that one set of flags
// serves a whole control plane.
std::span<const FeatureGate> KnownFeatureGates();

// The versions that gates hang on, by their minor.
struct GateVersions {
  static constexpr int kNewest = 37;
  static constexpr int kOldest = 34;

  int emulated = kNewest;  // --emulated-version
  // --min-compatibility-version: who must be able to read what is written.
  int min_compatibility = kNewest - 1;
};

// Which gates are on. Immutable; any thread.
class FeatureGates {
 public:
  // All at their defaults.
  FeatureGates() : FeatureGates(GateVersions()) {}
  explicit FeatureGates(GateVersions versions);

  // `values` are those of --feature-gates, each "[kube:]Name=bool,...". Later entries win over
  // earlier ones; AllAlpha and AllBeta set what is not set by name. Errors, in kube-scheduler's
  // words: an unknown gate or component, no bool, a locked gate changed, a gate that the emulated
  // version has not, a gate on whose dependencies are off.
  static Result<FeatureGates> Parse(std::span<const std::string> values,
                                    GateVersions versions = {});

  // `name` must be known.
  bool Enabled(std::string_view name) const;
  // The version that they are those of: 36 of 1.36.
  int emulated_minor() const { return versions_.emulated; }
  // What plugins see of them.
  Features Resolve() const;
  // What the args of plugins depend on.
  ArgsFeatures ResolveForArgs() const;
  // What an operator should know: gates that were set and go away, and gates that are not at their
  // default, which kube-scheduler acts upon and Berth does not.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  GateVersions versions_;
  std::vector<bool> enabled_;  // by position in KnownFeatureGates()
  std::vector<std::string> warnings_;
};

}  // namespace berth::config
