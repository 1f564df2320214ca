// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::app {

// A bar on standard error, for work that a person waits for. Draws nothing where standard error is
// no terminal; gone when destroyed.
//
// Thread safety: one owner.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Cheap where the bar looks the same as before.
  void Show(uint64_t done, uint64_t of);

 private:
  std::string what_;
  bool on_terminal_;
  int shown_ = -1;  // percent
};

// The columns of the terminal that standard output goes to; 0 where it goes to none.
size_t TerminalWidth();

// The text with no line longer than `width` (0: as it is). Lines with columns, two blanks or more
// between them, are cut, and end in "..."; others go on in the next line, below their beginning.
// Characters that are no ASCII count as one column.
std::string Fitted(std::string_view text, size_t width);
// The same of a help text: nothing is cut, and what a flag means goes on below its first word.
std::string FittedHelp(std::string_view text, size_t width);

}  // namespace berth::app
