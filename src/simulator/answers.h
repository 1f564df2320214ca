// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "berth/config_value.h"
#include "src/client/api_client.h"

// What the API server in memory answers with, and how it reads what it is sent.
//
// Thread safety: any thread.
namespace berth::simulator {

tl::unexpected<client::ApiError> Refuse(int code, std::string reason, std::string message);
inline tl::unexpected<client::ApiError> Conflict(std::string message) {
  return Refuse(409, "Conflict", std::move(message));
}
// The object called `name` is not of the resourceVersion that the request names.
tl::unexpected<client::ApiError> ModifiedMeanwhile(const std::string& name);
// `body`: the object, as JSON; "" where it is not read.
client::Response Ok(int code, std::string body = {});

// The value at that path of members; nullptr where there is none.
const ConfigValue* FindAt(const ConfigValue& object, std::initializer_list<std::string_view> path);
// The text there; "" where there is none.
std::string StringAt(const ConfigValue& object, std::initializer_list<std::string_view> path);

}  // namespace berth::simulator
