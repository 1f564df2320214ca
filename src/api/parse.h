// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "berth/config_value.h"
#include "berth/result.h"

// Files into document trees.
//
// Thread safety: any thread.
namespace berth::api {

// Every document of a YAML stream, empty ones left out. Plain scalars, keys, anchors and merges
// mean what they mean to sigs.k8s.io/yaml: `yes` is true, 010 is 8, a number with no fraction is an
// integer however it was written. Errors: bad syntax, a key that stands twice in a map, a value
// that JSON does not have; with the file and the line. `file_name` may be "".
Result<std::vector<ConfigValue>> ParseYaml(std::string_view text, std::string_view file_name);

// One JSON value; its parts have no line. Errors: bad syntax, with file and line; a member that
// stands twice in an object.
Result<ConfigValue> ParseJson(std::string_view text, std::string_view file_name);

}  // namespace berth::api
