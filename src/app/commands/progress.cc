// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace berth::app {
namespace {

constexpr int kWidth = 40;

}  // namespace

Progress::Progress(std::string what)
    : what_(std::move(what)), on_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_ >= 0) std::fputs("\r\033[K", stderr);
}

void Progress::Show(uint64_t done, uint64_t of) {
  if (!on_terminal_ || of == 0) return;
  const int percent = static_cast<int>(std::min(done, of) * 100 / of);
  if (percent == shown_) return;
  shown_ = percent;
  const int filled = percent * kWidth / 100;
  const std::string bar = std::string(static_cast<size_t>(filled), '#') +
                          std::string(static_cast<size_t>(kWidth - filled), '.');
  std::fprintf(stderr, "\r%s [%s] %d%%", what_.c_str(), bar.c_str(), percent);
}

}  // namespace berth::app
