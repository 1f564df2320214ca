// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"

namespace re2 {
class RE2;
}

namespace berth::cel {

// A regular expression of RE2's syntax, which is Go's. Matching takes time linear in the text.
//
// Thread safety: any thread, at once.
class Pattern {
 public:
  // Errors: text that is no regular expression, or one too large.
  static Result<std::shared_ptr<const Pattern>> Compile(const std::string& text);

  explicit Pattern(std::unique_ptr<const re2::RE2> regex);
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // Whether it matches a part of `text`.
  bool Matches(std::string_view text) const;
  // The leftmost part that it matches; empty when there is none.
  std::string Find(std::string_view text) const;
  // The first `most` parts that do not overlap; all when `most` is negative.
  std::vector<std::string> FindAll(std::string_view text, int64_t most) const;

 private:
  std::unique_ptr<const re2::RE2> regex_;
};

}  // namespace berth::cel
