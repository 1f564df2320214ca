// SPDX-License-Identifier: Apache-2.0
#include "src/client/status_body.h"

#include <cstdint>
#include <string>
#include <utility>

#include "src/api/decode.h"
#include "src/base/text.h"

namespace berth::client {
namespace {

// It goes into logs and events.
constexpr size_t kMostMessage = 4096;

// Cuts UTF-8 between two characters.
void CutText(std::string& text, size_t most) {
  if (text.size() <= most) return;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  text.resize(most);
}

// A Status says so; whatever else stands where one is expected is not taken for one.
std::optional<api::ApiStatus> StatusOf(std::string_view content_type, std::string_view body) {
  if (content_type.starts_with("text/")) return std::nullopt;
  const api::Encoding encoding = api::EncodingOf(content_type);
  if (api::ReadTypeMeta(encoding, body).kind != api::KindOf<api::ApiStatus>::kKind) {
    return std::nullopt;
  }
  auto status = api::Decode<api::ApiStatus>(encoding, body);
  if (!status) return std::nullopt;
  return *std::move(status);
}

std::string ReasonFromCode(int code) {
  switch (code) {
    case 400:
      return "BadRequest";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 422:
      return "Invalid";
    case 429:
      return "TooManyRequests";
    case 500:
      return "InternalError";
    case 503:
      return "ServiceUnavailable";
    case 504:
      return "Timeout";
    default:
      return {};
  }
}

}  // namespace

ApiError ErrorFromResponse(int code, std::string_view content_type, std::string_view body,
                           std::optional<Duration> retry_after) {
  ApiError error;
  error.code = code;
  error.retry_after = retry_after;
  std::optional<api::ApiStatus> status = StatusOf(content_type, body);
  if (status) {
    error.reason = std::move(status->reason);
    error.message = std::move(status->message);
    const int32_t seconds = status->details ? status->details->retry_after_seconds : 0;
    if (!error.retry_after && seconds > 0) error.retry_after = std::chrono::seconds(seconds);
  }
  CutText(error.message, kMostMessage);
  if (error.reason.empty()) error.reason = ReasonFromCode(code);
  if (error.message.empty()) {
    constexpr size_t kMost = 200;
    const std::string_view line = status ? "" : body.substr(0, body.find_first_of("\r\n"));
    const bool printable = line.find('\0') == std::string_view::npos;
    error.message = line.empty() || !printable ? base::Concat("the server answered ", code)
                                               : std::string(line.substr(0, kMost));
  }
  return error;
}

}  // namespace berth::client
