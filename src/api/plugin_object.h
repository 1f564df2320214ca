// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "berth/api/plugin_object.h"
#include "berth/result.h"

namespace berth::api {

// As much as the text of one object may take. An API server stores less of one.
inline constexpr size_t kMostPluginObjectBytes = size_t{2} << 20;

// Reads an object of one of berth::PluginKinds() from its JSON. Errors: it is no JSON object, one
// of another kind or too large, or its metadata cannot be read.
//
// Thread safety: any thread.
Result<PluginObject> ReadPluginObject(PluginKindId kind, std::string_view json);

}  // namespace berth::api
