// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "src/cel/value.h"

// Values as JSON: an object whose only member is named for the kind. Numbers are texts; lists are
// of values, maps of pairs of values; "none" is optional.none(); a duration is in nanoseconds.
//
// Thread safety: any thread.
namespace berth::cel_answers {

std::string ToHex(std::string_view bytes);
std::string FromHex(const nlohmann::json& hex);

nlohmann::json ToJson(const cel::Value& value);
// Aborts on what is no value.
cel::Value FromJson(const nlohmann::json& json);

}  // namespace berth::cel_answers
