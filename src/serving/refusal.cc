// SPDX-License-Identifier: Apache-2.0
#include "src/serving/refusal.h"

#include <string>
#include <utility>

#include "berth/config_value.h"

namespace berth::serving {

Response Refusal(int code, std::string_view reason, std::string_view message, Details details) {
  const auto text = [](std::string_view value) { return ConfigValue(std::string(value)); };
  ConfigValue::Map status;
  status.emplace_back("kind", text("Status"));
  status.emplace_back("apiVersion", text("v1"));
  status.emplace_back("metadata", ConfigValue::Map());
  status.emplace_back("status", text("Failure"));
  status.emplace_back("message", text(message));
  status.emplace_back("reason", text(reason));
  if (details == Details::kEmpty) status.emplace_back("details", ConfigValue::Map());
  status.emplace_back("code", int64_t{code});
  Response response;
  response.code = code;
  response.content_type = kJson;
  response.body = ConfigValue(std::move(status)).ToJson() + "\n";
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return response;
}

}  // namespace berth::serving
