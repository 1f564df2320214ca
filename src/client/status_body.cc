// SPDX-License-Identifier: Apache-2.0
#include "src/client/status_body.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "src/client/text.h"

namespace berth::client {
namespace {

struct StatusText {
  std::string reason;
  std::string message;
  int64_t retry_after_seconds = 0;
};

// Walks the fields of one protobuf message. Only what a Status needs: the protobuf reader of
// src/api is driven by tables of objects, and a Status is no object of the API.
class WireReader {
 public:
  explicit WireReader(std::string_view data) : data_(data) {}

  // The next field, or false at the end or when the data is malformed.
  bool Next() {
    uint64_t key = 0;
    if (data_.empty() || !Varint(key)) return false;
    field_ = key >> 3;
    value_ = 0;
    bytes_ = {};
    switch (key & 7) {
      case 0:
        return Varint(value_);
      case 1:
        return Skip(8);
      case 2: {
        uint64_t size = 0;
        if (!Varint(size) || size > data_.size()) return false;
        bytes_ = data_.substr(0, size);
        data_.remove_prefix(size);
        return true;
      }
      case 5:
        return Skip(4);
      default:
        return false;
    }
  }
  uint64_t field() const { return field_; }
  uint64_t value() const { return value_; }
  std::string_view bytes() const { return bytes_; }

 private:
  bool Varint(uint64_t& out) {
    out = 0;
    for (unsigned shift = 0; shift < 64 && !data_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(data_.front());
      data_.remove_prefix(1);
      out |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool Skip(size_t count) {
    if (data_.size() < count) return false;
    data_.remove_prefix(count);
    return true;
  }

  std::string_view data_;
  uint64_t field_ = 0;
  uint64_t value_ = 0;
  std::string_view bytes_;
};

std::optional<StatusText> StatusFromProtobuf(std::string_view body) {
  constexpr std::string_view kMagic("k8s\0", 4);
  if (!body.starts_with(kMagic)) return std::nullopt;
  std::string_view kind;
  std::string_view raw;
  for (WireReader unknown(body.substr(kMagic.size())); unknown.Next();) {
    if (unknown.field() == 2) raw = unknown.bytes();
    if (unknown.field() != 1) continue;
    for (WireReader type(unknown.bytes()); type.Next();) {
      if (type.field() == 2) kind = type.bytes();
    }
  }
  if (kind != "Status") return std::nullopt;
  StatusText text;
  for (WireReader status(raw); status.Next();) {
    if (status.field() == 3) text.message = status.bytes();
    if (status.field() == 4) text.reason = status.bytes();
    if (status.field() != 5) continue;
    for (WireReader details(status.bytes()); details.Next();) {
      if (details.field() == 5) text.retry_after_seconds = static_cast<int32_t>(details.value());
    }
  }
  return text;
}

std::string StringMember(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return {};
  return *found->get_ptr<const std::string*>();
}

std::optional<StatusText> StatusFromJson(std::string_view body) {
  const auto document = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() || StringMember(document, "kind") != "Status") return std::nullopt;
  StatusText text{StringMember(document, "reason"), StringMember(document, "message"), 0};
  const auto details = document.find("details");
  if (details != document.end() && details->is_object()) {
    const auto seconds = details->find("retryAfterSeconds");
    if (seconds != details->end()) {
      if (const auto* number = seconds->get_ptr<const nlohmann::json::number_integer_t*>()) {
        text.retry_after_seconds = *number;
      }
    }
  }
  return text;
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
  std::optional<StatusText> status = StatusFromProtobuf(body);
  if (!status && !content_type.starts_with("text/")) status = StatusFromJson(body);
  if (status) {
    error.reason = std::move(status->reason);
    error.message = std::move(status->message);
    if (!error.retry_after && status->retry_after_seconds > 0) {
      error.retry_after = std::chrono::seconds(status->retry_after_seconds);
    }
  }
  if (error.reason.empty()) error.reason = ReasonFromCode(code);
  if (error.message.empty()) {
    constexpr size_t kMost = 200;
    const std::string_view line = status ? "" : body.substr(0, body.find_first_of("\r\n"));
    const bool printable = line.find('\0') == std::string_view::npos;
    error.message = line.empty() || !printable ? Concat("the server answered ", code)
                                               : std::string(line.substr(0, kMost));
  }
  return error;
}

}  // namespace berth::client
