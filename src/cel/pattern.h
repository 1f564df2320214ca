// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "src/cel/go_pattern.h"

namespace re2 {
class RE2;
}

namespace berth::cel {

// A regular expression as Go's package regexp takes it, matched by RE2: in time linear in the text.
// A byte of the text that is no UTF-8 counts as U+FFFD, as in Go.
//
// Compiling and matching take steps of 10 to 100 ns, which are known before: they are spent from
// `steps_left`, if given, and what takes more than are left is not begun, but uses them up.
//
// Thread safety: any thread, at once.
class Pattern {
 public:
  // What an instruction takes to be compiled, for the text and backwards, and as many bytes as a
  // pattern takes for it at most.
  static constexpr uint64_t kStepsPerInstruction = 40;
  static constexpr uint64_t kBytesPerInstruction = 256;

  // Errors: text that is no regular expression, or one too large.
  static Result<std::shared_ptr<const Pattern>> Compile(const std::string& text,
                                                        uint64_t* steps_left = nullptr);

  Pattern(std::unique_ptr<const re2::RE2> regex, const GoPattern& from, uint64_t bytes);
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // Whether it matches a part of `text`.
  bool Matches(std::string_view text, uint64_t* steps_left = nullptr) const;
  // The leftmost part that it matches; empty when there is none.
  std::string Find(std::string_view text, uint64_t* steps_left = nullptr) const;
  // The first `most` parts that do not overlap; all when `most` is negative.
  std::vector<std::string> FindAll(std::string_view text, int64_t most,
                                   uint64_t* steps_left = nullptr) const;

  // How many RE2 made of it.
  uint64_t instructions() const;
  // What it takes on the heap at most, whatever it matches.
  uint64_t bytes() const { return bytes_; }

 private:
  struct Span {
    size_t begin;
    size_t end;
  };

  // False: matching so many bytes takes more steps than are left.
  bool Spend(size_t bytes, uint64_t* steps_left) const;
  // The next match from `at` on of text that RE2 can read; nullopt: none, or no steps are left.
  std::optional<Span> Next(std::string_view text, size_t at, uint64_t* steps_left) const;

  std::unique_ptr<const re2::RE2> regex_;
  uint64_t instructions_;
  uint64_t bytes_;
  bool has_no_word_boundary_;
};

// The patterns of one expression that is compiled: each text is compiled once, and all together
// within a limit of work.
//
// Thread safety: one owner.
class Patterns {
 public:
  explicit Patterns(uint64_t max_steps = UINT64_MAX)
      : max_steps_(max_steps), steps_left_(max_steps) {}

  // Errors: those of Pattern::Compile(), or that the limit is reached.
  Result<std::shared_ptr<const Pattern>> Compile(const std::string& text);

  uint64_t steps() const { return max_steps_ - steps_left_; }
  uint64_t bytes() const { return bytes_; }
  // The limit was reached: other errors mean nothing.
  bool exhausted() const { return steps_left_ == 0; }

 private:
  const uint64_t max_steps_;
  uint64_t steps_left_;
  uint64_t bytes_ = 0;
  absl::flat_hash_map<std::string, Result<std::shared_ptr<const Pattern>>> compiled_;
};

}  // namespace berth::cel
