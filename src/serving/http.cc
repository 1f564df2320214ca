// SPDX-License-Identifier: Apache-2.0
#include "src/serving/http.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace berth::serving {
namespace {

const std::string* Find(const Fields& fields, std::string_view name) {
  for (const auto& [key, value] : fields) {
    if (key == name) return &value;
  }
  return nullptr;
}

constexpr auto kStatusTexts = std::to_array<std::pair<int, std::string_view>>({
    {200, "OK"},
    {302, "Found"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
});

}  // namespace

const std::string* Request::FindHeader(std::string_view name) const { return Find(headers, name); }

const std::string* Request::FindQuery(std::string_view name) const { return Find(query, name); }

std::string_view StatusText(int code) {
  const auto known =
      std::ranges::find(kStatusTexts, code, &decltype(kStatusTexts)::value_type::first);
  return known == kStatusTexts.end() ? "" : known->second;
}

Response ErrorText(int code, std::string_view line) {
  Response response;
  response.code = code;
  response.body = std::string(line) + "\n";
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return response;
}

}  // namespace berth::serving
