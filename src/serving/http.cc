// SPDX-License-Identifier: Apache-2.0
#include "src/serving/http.h"

#include <string>
#include <utility>

#include "berth/config_value.h"

namespace berth::serving {
namespace {

const std::string* Find(const Fields& fields, std::string_view name) {
  for (const auto& [key, value] : fields) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace

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

const std::string* Request::FindHeader(std::string_view name) const { return Find(headers, name); }

const std::string* Request::FindQuery(std::string_view name) const { return Find(query, name); }

std::string_view StatusText(int code) {
  switch (code) {
    case 200:
      return "OK";
    case 302:
      return "Found";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "";
  }
}

Response ErrorText(int code, std::string_view line) {
  Response response;
  response.code = code;
  response.body = std::string(line) + "\n";
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return response;
}

}  // namespace berth::serving
