// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// The text of an expression, and what is wrong with it.
//
// Thread safety: one thread.
namespace berth::cel {

// Where something stands: lines from 1, columns (code points) from 0.
struct Position {
  int line = 1;
  int column = 0;
};

Position PositionOf(std::string_view text, size_t offset);

// Collects errors of one text.
class Issues {
 public:
  // `text` outlives the issues.
  explicit Issues(std::string_view text) : text_(text) {}

  // `offset`: the byte that the message is about.
  void Report(size_t offset, std::string message);
  // About no place in the text.
  void ReportNowhere(std::string message);

  bool empty() const { return issues_.empty(); }
  size_t size() const { return issues_.size(); }

  // By position; each with its line and a mark below it:
  //   ERROR: <input>:1:8: undeclared reference to 'x' (in container '')
  //    | 1 == x
  //    | .....^
  std::string ToString() const;

 private:
  struct Issue {
    Position position;
    std::string message;
  };

  std::string_view text_;
  std::vector<Issue> issues_;
  size_t truncated_ = 0;
};

}  // namespace berth::cel
