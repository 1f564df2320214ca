// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/args.h"

#include <string>
#include <utility>

#include "plugins/shared/args_reader.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kHardWeight = "hardPodAffinityWeight";
constexpr int32_t kMaxHardWeight = 100;

}  // namespace

Result<InterPodAffinityArgs> ParseInterPodAffinityArgs(const ConfigValue& value) {
  InterPodAffinityArgs args;
  FieldReader fields(value, "");
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

}  // namespace berth::plugins
