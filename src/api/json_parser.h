// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <optional>
#include <string_view>

namespace berth::api {

// A parser for one text. Texts as short as a request's body share one of their thread's, whose
// memory stays for the next; what was parsed of one is good until then.
//
// Thread safety: one owner, who stays on its thread.
class ParserFor {
 public:
  explicit ParserFor(std::string_view text)
      : parser_(text.size() <= kShort ? OfShortTexts() : own_.emplace()) {}
  ParserFor(const ParserFor&) = delete;
  ParserFor& operator=(const ParserFor&) = delete;

  simdjson::dom::parser& operator*() { return parser_; }

 private:
  static constexpr size_t kShort = 16 << 10;

  static simdjson::dom::parser& OfShortTexts() {
    thread_local simdjson::dom::parser parser(kShort);
    return parser;
  }

  std::optional<simdjson::dom::parser> own_;
  simdjson::dom::parser& parser_;
};

}  // namespace berth::api
