// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/args.h"

#include <string>
#include <utility>

#include "plugins/shared/args_reader.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kHardWeight = "hardPodAffinityWeight";
constexpr int32_t kMaxHardWeight = 100;

Result<InterPodAffinityArgs> Read(const ConfigValue& value, const std::string& path) {
  InterPodAffinityArgs args;
  FieldReader fields(value, path);
  ReadTypeMeta(fields, "InterPodAffinity");
  fields.Read(kHardWeight, args.hard_pod_affinity_weight);
  fields.Read("ignorePreferredTermsOfExistingPods", args.ignore_preferred_terms_of_existing_pods);
  const int32_t weight = args.hard_pod_affinity_weight;
  if (weight < 0 || weight > kMaxHardWeight) {
    fields.Invalid(kHardWeight, std::to_string(weight), "not in valid range [0, 100]");
  }
  if (auto error = fields.Finish()) return Fail(std::move(*error));
  return args;
}

}  // namespace

Result<InterPodAffinityArgs> ParseInterPodAffinityArgs(const ConfigValue& value) {
  return Read(value, "");
}

ConfigValue InterPodAffinityArgsWithDefaults(const ConfigValue& args, const ArgsFeatures&) {
  return WithDefault(args, kHardWeight,
                     ConfigValue(int64_t{InterPodAffinityArgs{}.hard_pod_affinity_weight}));
}

std::vector<std::string> InterPodAffinityArgsProblems(const ConfigValue& args,
                                                      const std::string& path,
                                                      const ArgsFeatures&) {
  const auto read = Read(args, path);
  return read ? std::vector<std::string>{} : std::vector<std::string>{read.error().message};
}

}  // namespace berth::plugins
