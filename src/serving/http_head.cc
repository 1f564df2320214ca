// SPDX-License-Identifier: Apache-2.0
#include "src/serving/http_head.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "src/base/text.h"

namespace berth::serving {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
// An honest client needs a tenth. Each field costs more than its bytes: 8,000 of them are half
// a megabyte.
constexpr size_t kMaxTarget = 2048;
constexpr size_t kMaxFields = 100;

bool IsTokenChar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenChar);
}

// No control character, so that none reaches a log or a request of ours.
bool IsFieldValue(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

// Pairs that cannot be decoded are left out, as Go does. nullopt: there are too many.
std::optional<Fields> ParseQuery(std::string_view text) {
  Fields query;
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    if (query.size() == kMaxFields) return std::nullopt;
    const size_t equals = std::min(pair.find('='), pair.size());
    auto name = base::Unescape(pair.substr(0, equals), base::Plus::kBlank);
    auto value = base::Unescape(pair.substr(std::min(equals + 1, pair.size())), base::Plus::kBlank);
    if (name && value) query.emplace_back(std::move(*name), std::move(*value));
  }
  return query;
}

// 0, or the status to refuse with.
int ParseRequestLine(std::string_view line, RequestHead& head) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return 400;
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (target.size() > kMaxTarget) return 414;
  if (!IsToken(method) || !target.starts_with('/')) return 400;
  if (version == "HTTP/1.0") {
    head.keep_alive = false;
  } else if (version != "HTTP/1.1") {
    return version.starts_with("HTTP/") ? 505 : 400;
  }
  const auto is_visible = [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; };
  if (!std::all_of(target.begin(), target.end(), is_visible)) return 400;
  const size_t mark = std::min(target.find('?'), target.size());
  auto path = base::Unescape(target.substr(0, mark));
  if (!path) return 400;
  head.request.method = method;
  head.request.path = std::move(*path);
  auto query = ParseQuery(target.substr(std::min(mark + 1, target.size())));
  if (!query) return 414;
  head.request.query = std::move(*query);
  return 0;
}

int ParseContentLength(const std::string& value, std::optional<size_t>& length) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc::result_out_of_range) return 413;
  if (error != std::errc() || end != value.data() + value.size()) return 400;
  if (length && *length != number) return 400;
  length = number;
  return 0;
}

int ParseFieldLine(std::string_view line, RequestHead& head) {
  if (head.request.headers.size() == kMaxFields) return 431;
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) return 400;
  const std::string_view value = base::Trim(line.substr(colon + 1), " \t");
  if (!IsFieldValue(value)) return 400;
  head.request.headers.emplace_back(absl::AsciiStrToLower(std::string(line.substr(0, colon))),
                                    value);
  return 0;
}

// What the headers say about the connection and the body.
int ReadFraming(RequestHead& head, bool http11) {
  std::optional<size_t> length;
  int hosts = 0;
  for (const auto& [name, value] : head.request.headers) {
    if (name == "host") ++hosts;
    if (name == "transfer-encoding") return 501;
    if (name == "content-length") {
      if (const int refused = ParseContentLength(value, length)) return refused;
    }
    if (name == "connection" &&
        base::Contains(absl::AsciiStrToLower(std::string(value)), "close")) {
      head.keep_alive = false;
    }
  }
  if (hosts > 1 || (http11 && hosts == 0)) return 400;
  head.content_length = length.value_or(0);
  return 0;
}

}  // namespace

tl::expected<RequestHead, int> ParseRequestHead(std::string_view text) {
  RequestHead head;
  const size_t first_end = text.find(kLineEnd);
  if (first_end == std::string_view::npos) return tl::unexpected(400);
  if (const int refused = ParseRequestLine(text.substr(0, first_end), head)) {
    return tl::unexpected(refused);
  }
  const bool http11 = head.keep_alive;
  text.remove_prefix(first_end + kLineEnd.size());
  while (text != kLineEnd) {
    const size_t end = text.find(kLineEnd);
    if (end == std::string_view::npos) return tl::unexpected(400);
    if (const int refused = ParseFieldLine(text.substr(0, end), head)) {
      return tl::unexpected(refused);
    }
    text.remove_prefix(end + kLineEnd.size());
  }
  if (const int refused = ReadFraming(head, http11)) return tl::unexpected(refused);
  return head;
}

std::string Serialize(const Response& response, Parts parts, Persistence persistence) {
  std::string text = "HTTP/1.1 " + std::to_string(response.code) + " ";
  text += StatusText(response.code);
  text += kLineEnd;
  for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
  text += "Content-Type: " + response.content_type + "\r\n";
  text += "Content-Length: " + std::to_string(response.body.size()) + "\r\n";
  if (persistence == Persistence::kClose) text += "Connection: close\r\n";
  text += kLineEnd;
  if (parts == Parts::kHeadAndBody) text += response.body;
  return text;
}

}  // namespace berth::serving
