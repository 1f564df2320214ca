// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/args.h"

#include <utility>

namespace berth::plugins {
namespace {

constexpr std::string_view kHardWeight = "hardPodAffinityWeight";
constexpr int32_t kMaxHardWeight = 100;

InterPodAffinityArgs ReadAffinityArgs(FieldReader& fields) {
  InterPodAffinityArgs args;
  fields.Read(kHardWeight, args.hard_pod_affinity_weight);
  fields.Read("ignorePreferredTermsOfExistingPods", args.ignore_preferred_terms_of_existing_pods);
  const int32_t weight = args.hard_pod_affinity_weight;
  if (weight < 0 || weight > kMaxHardWeight) {
    fields.Invalid(kHardWeight, std::to_string(weight), "not in valid range [0, 100]");
  }
  return args;
}

ConfigValue WithAffinityDefaults(const ConfigValue& args, const ArgsFeatures&) {
  return WithDefault(args, kHardWeight,
                     ConfigValue(int64_t{InterPodAffinityArgs{}.hard_pod_affinity_weight}));
}

}  // namespace

constexpr ArgsKind<InterPodAffinityArgs> kInterPodAffinityArgs =
    MakeArgsKind<"InterPodAffinity", ReadAffinityArgs>(WithAffinityDefaults);

}  // namespace berth::plugins
