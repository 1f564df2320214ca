// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

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

}  // namespace berth::app
