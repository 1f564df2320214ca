// SPDX-License-Identifier: Apache-2.0
#include "src/api/json_error.h"

#include <nlohmann/json.hpp>

namespace berth::api {

Error DescribeJsonError(std::string_view text, std::string_view reason) {
  try {
    // The callback drops every value, so that nothing is built.
    const auto drop = [](int, nlohmann::json::parse_event_t, nlohmann::json&) { return false; };
    const auto nothing = nlohmann::json::parse(text.begin(), text.end(), drop);
    static_cast<void>(nothing);
  } catch (const nlohmann::json::parse_error& error) {
    std::string_view what = error.what();
    // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
    if (const size_t at = what.find("line "); at != std::string_view::npos)
      return Error{std::string(what.substr(at))};
    return Error{std::string(what)};
  } catch (const nlohmann::json::exception& error) {
    return Error{error.what()};
  }
  return Error{std::string(reason)};
}

}  // namespace berth::api
