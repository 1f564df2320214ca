// SPDX-License-Identifier: Apache-2.0
#include "plugins/gang_scheduling/args.h"

#include <string>
#include <utility>

#include "berth/field_errors.h"
#include "plugins/shared/args_reader.h"

namespace berth::plugins {

Result<GangSchedulingArgs> ParseGangSchedulingArgs(const ConfigValue& value) {
  constexpr std::string_view kSearchSteps = "searchSteps";
  GangSchedulingArgs args;
  FieldReader fields(value, "");
  ReadTypeMeta(fields, "GangScheduling");
  fields.Read(kSearchSteps, args.search_steps);
  if (auto error = fields.Finish()) return Fail(std::move(*error));
  if (args.search_steps < 0) {
    return Fail(InvalidField(kSearchSteps, std::to_string(args.search_steps),
                             "not in valid range [0, inf)"));
  }
  return args;
}

}  // namespace berth::plugins
