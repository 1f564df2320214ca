// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "berth/config_value.h"

namespace berth::plugins {

// Reads JSON that an annotation holds. nullopt: it is none, or is nested more than 64 deep. Every
// number reads as 0. An object may have several members of one name.
//
// Thread safety: any thread.
std::optional<ConfigValue> ParseJson(std::string_view text);

// The last member of an object that is called `name`, upper and lower case apart, as Go decodes
// JSON; nullptr for none, for null, and where `value` is no object.
const ConfigValue* FindMember(const ConfigValue& value, std::string_view name);

}  // namespace berth::plugins
