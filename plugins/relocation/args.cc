// SPDX-License-Identifier: Apache-2.0
#include "plugins/relocation/args.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kMinPendingSeconds = "minPendingSeconds";
constexpr std::string_view kMaxMovesPerHour = "maxMovesPerHour";
constexpr std::string_view kMaxMovesPerPod = "maxMovesPerPod";

RelocationArgs ReadRelocationArgs(FieldReader& fields) {
  RelocationArgs args;
  fields.Read(kMinPendingSeconds, args.min_pending_seconds);
  fields.Read(kMaxMovesPerHour, args.max_moves_per_hour);
  fields.Read(kMaxMovesPerPod, args.max_moves_per_pod);
  return args;
}

std::vector<std::string> RelocationProblems(const RelocationArgs& args, const std::string& path) {
  std::vector<std::string> problems;
  CheckRange(args.min_pending_seconds, 0, 86'400, FieldPath(path, kMinPendingSeconds), problems);
  CheckRange(args.max_moves_per_hour, 1, 10'000, FieldPath(path, kMaxMovesPerHour), problems);
  CheckRange(args.max_moves_per_pod, 1, 100, FieldPath(path, kMaxMovesPerPod), problems);
  return problems;
}

ConfigValue WithRelocationDefaults(const ConfigValue& args, const ArgsFeatures&) {
  const RelocationArgs defaults;
  ConfigValue with =
      WithDefault(args, kMinPendingSeconds, ConfigValue(defaults.min_pending_seconds));
  with = WithDefault(with, kMaxMovesPerHour, ConfigValue(defaults.max_moves_per_hour));
  return WithDefault(with, kMaxMovesPerPod, ConfigValue(defaults.max_moves_per_pod));
}

}  // namespace

constexpr ArgsKind<RelocationArgs> kRelocationArgs =
    MakeArgsKind<"Relocation", ReadRelocationArgs, RelocationProblems>(WithRelocationDefaults);

}  // namespace berth::plugins
