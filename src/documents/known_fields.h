// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/config_value.h"

// Fields that the API does not have: mostly those that are misspelt. Berth's own tables have those
// alone that scheduling reads.
namespace berth::documents {

// The types of the API, as tests/oracle writes them: "=apiVersion kind Type" of each kind, then
// "Type field field:Type field:*Type" of each type, a field's Type being that of an object or a
// list of them, or of the values of a map. A line that begins with a space goes on with the last.
extern const std::string_view kKnownFields;

// What is said of each field of the object that its kind does not have, in kubectl's words, with
// the field that was perhaps meant: `unknown field "spec.nodeSelectors"; did you mean
// "nodeSelector"?`. At most a dozen; none for kinds that Berth does not read.
//
// Thread safety: any thread.
std::vector<std::string> FindUnknownFields(const ConfigValue& object, std::string_view api_version,
                                           std::string_view kind);

}  // namespace berth::documents
