// SPDX-License-Identifier: Apache-2.0
#include "src/api/json_error.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace berth::api {
namespace {

constexpr std::string_view kLine = "line ";
constexpr std::string_view kColumn = ", column ";

// Takes `prefix` and the number behind it off `text`; false when it does not begin so.
bool TakeNumber(std::string_view& text, std::string_view prefix, size_t& number) {
  if (!text.starts_with(prefix)) return false;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + prefix.size(), end, number);
  if (error != std::errc{}) return false;
  text = {rest, static_cast<size_t>(end - rest)};
  return true;
}

// Moves the place that `what` begins with, "line 1, column 5: ...", behind `before`.
std::string Shift(std::string_view what, std::string_view before) {
  std::string_view rest = what;
  size_t line = 0;
  size_t column = 0;
  if (!TakeNumber(rest, kLine, line) || !TakeNumber(rest, kColumn, column))
    return std::string(what);
  if (line == 1) column += before.size() - (before.rfind('\n') + 1);
  line += static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
  return std::string(kLine) + std::to_string(line) + std::string(kColumn) + std::to_string(column) +
         std::string(rest);
}

}  // namespace

Error DescribeJsonError(std::string_view text, std::string_view reason, std::string_view before) {
  try {
    // The callback drops every value, so that nothing is built.
    const auto drop = [](int, nlohmann::json::parse_event_t, nlohmann::json&) { return false; };
    const auto nothing = nlohmann::json::parse(text.begin(), text.end(), drop);
    static_cast<void>(nothing);
  } catch (const nlohmann::json::parse_error& error) {
    std::string_view what = error.what();
    // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
    if (const size_t at = what.find("line "); at != std::string_view::npos)
      return Error{Shift(what.substr(at), before)};
    return Error{std::string(what)};
  } catch (const nlohmann::json::exception& error) {
    return Error{error.what()};
  }
  return Error{std::string(reason)};
}

}  // namespace berth::api
