// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/answers.h"

#include <utility>

namespace berth::simulator {

tl::unexpected<client::ApiError> Refuse(int code, std::string reason, std::string message) {
  client::ApiError error;
  error.code = code;
  error.reason = std::move(reason);
  error.message = std::move(message);
  return tl::unexpected(std::move(error));
}

tl::unexpected<client::ApiError> ModifiedMeanwhile(const std::string& name) {
  return Conflict("Operation cannot be fulfilled on " + name +
                  ": the object has been modified; please apply your changes to the latest "
                  "version and try again");
}

client::Response Ok(int code, std::string body) {
  return {code, body.empty() ? "" : "application/json", std::move(body)};
}

const ConfigValue* FindAt(const ConfigValue& object, std::initializer_list<std::string_view> path) {
  const ConfigValue* value = &object;
  for (std::string_view name : path) {
    value = value->Find(name);
    if (value == nullptr) return nullptr;
  }
  return value;
}

std::string StringAt(const ConfigValue& object, std::initializer_list<std::string_view> path) {
  const ConfigValue* value = FindAt(object, path);
  return value == nullptr || value->string() == nullptr ? "" : *value->string();
}

}  // namespace berth::simulator
