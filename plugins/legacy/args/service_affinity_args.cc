// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/args/service_affinity_args.h"

#include "plugins/shared/args_reader.h"

namespace berth::plugins {
namespace {

Result<ServiceAffinityArgs> Read(const ConfigValue& value, const std::string& path) {
  ServiceAffinityArgs args;
  FieldReader fields(value, path);
  ReadTypeMeta(fields, "ServiceAffinity");
  fields.Read("affinityLabels", args.affinity_labels);
  fields.Read("antiAffinityLabelsPreference", args.anti_affinity_labels_preference);
  if (auto error = fields.Finish()) return Fail(std::move(*error));
  return args;
}

}  // namespace

Result<ServiceAffinityArgs> ParseServiceAffinityArgs(const ConfigValue& value) {
  return Read(value, "");
}

std::vector<std::string> ServiceAffinityArgsProblems(const ConfigValue& args,
                                                     const std::string& path, const ArgsFeatures&) {
  const auto read = Read(args, path);
  return read ? std::vector<std::string>{} : std::vector<std::string>{read.error().message};
}

}  // namespace berth::plugins
