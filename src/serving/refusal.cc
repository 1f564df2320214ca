// SPDX-License-Identifier: Apache-2.0
#include "src/serving/refusal.h"

#include <algorithm>
#include <string>
#include <utility>

#include "berth/config_value.h"
#include "src/base/text.h"
#include "src/documents/write.h"
#include "src/serving/accept.h"

namespace berth::serving {
namespace {

enum class StatusForm { kJson, kIndentedJson, kYaml };

bool AsksForAKind(const MediaRange& range) {
  return std::ranges::any_of(range.parameters, [](const auto& parameter) {
    return parameter.first == "as" || parameter.first == "g" || parameter.first == "v" ||
           parameter.first == "sv";
  });
}

StatusForm StatusFormFor(const Request& request) {
  const StatusForm json = AsksForIndented(request) ? StatusForm::kIndentedJson : StatusForm::kJson;
  const std::string* accept = request.FindHeader("accept");
  if (accept == nullptr || accept->empty()) return json;
  for (const MediaRange& range : ParseAccept(*accept)) {
    if (AsksForAKind(range)) continue;
    if (range.Includes("application", "json")) {
      const auto pretty = range.parameters.find("pretty");
      const bool indented = pretty != range.parameters.end() && pretty->second == "1";
      return indented ? StatusForm::kIndentedJson : json;
    }
    if (range.Includes("application", "yaml")) return StatusForm::kYaml;
  }
  return StatusForm::kIndentedJson;
}

}  // namespace

Response Refusal(const Request& request, int code, std::string_view reason,
                 std::string_view message, Details details) {
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
  const ConfigValue document(std::move(status));
  Response response;
  response.code = code;
  response.content_type = kJson;
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  switch (StatusFormFor(request)) {
    case StatusForm::kJson:
      response.body = document.ToJson() + "\n";
      break;
    case StatusForm::kIndentedJson:
      response.body = documents::ToIndentedJson(document);
      break;
    case StatusForm::kYaml:
      response.content_type = "application/yaml";
      response.body = documents::ToYaml(document);
      break;
  }
  return response;
}

bool AsksForIndented(const Request& request) {
  const std::string* pretty = request.FindQuery("pretty");
  if (pretty != nullptr && !pretty->empty()) return base::ParseBool(*pretty).value_or(false);
  const std::string* client = request.FindHeader("user-agent");
  if (client == nullptr) return false;
  return client->starts_with("curl") || client->starts_with("Wget") ||
         client->starts_with("Mozilla/5.0");
}

}  // namespace berth::serving
