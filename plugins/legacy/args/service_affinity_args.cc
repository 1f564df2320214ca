// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/args/service_affinity_args.h"

namespace berth::plugins {
namespace {

ServiceAffinityArgs ReadServiceAffinityArgs(FieldReader& fields) {
  ServiceAffinityArgs args;
  fields.Read("affinityLabels", args.affinity_labels);
  fields.Read("antiAffinityLabelsPreference", args.anti_affinity_labels_preference);
  return args;
}

}  // namespace

constexpr ArgsKind<ServiceAffinityArgs> kServiceAffinityArgs =
    MakeArgsKind<"ServiceAffinity", ReadServiceAffinityArgs>();

}  // namespace berth::plugins
