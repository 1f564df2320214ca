// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace berth::app {
namespace {

constexpr int kWidth = 40;

constexpr std::string_view kCut = "...";
// Narrower than this nothing can be read in either way.
constexpr size_t kNarrowest = 40;

bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

size_t Columns(std::string_view text) {
  return text.size() - static_cast<size_t>(std::ranges::count_if(text, Continues));
}

// The first characters that take so many columns.
std::string_view First(std::string_view text, size_t columns) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (Continues(text[at])) continue;
    if (columns-- == 0) break;
  }
  return text.substr(0, at);
}

size_t Indent(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

// Where the next column begins after `from`; npos: nowhere.
size_t NextColumn(std::string_view line, size_t from) {
  const size_t gap = line.find("  ", from);
  return gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
}

// Goes on below `below`.
void AppendWrapped(std::string_view line, size_t below, size_t width, std::string& out) {
  below = std::min(below, width / 2);
  std::string_view rest = line;
  std::string indent;
  while (Columns(rest) + indent.size() > width) {
    const std::string_view fits = First(rest, width - indent.size() + 1);
    const size_t least = indent.empty() ? below : 0;
    size_t end = fits.rfind(' ');
    // A word that is longer than a line stays whole.
    if (end == std::string_view::npos || end <= least) end = rest.find(' ', least + 1);
    if (end == std::string_view::npos) break;
    out += indent;
    out += rest.substr(0, rest.find_last_not_of(' ', end) + 1);
    out += '\n';
    rest.remove_prefix(std::min(rest.find_first_not_of(' ', end), rest.size()));
    indent.assign(below, ' ');
  }
  out += indent;
  out += rest;
}

enum class Layout { kTable, kHelp };

std::string Fit(std::string_view text, size_t width, Layout form) {
  if (width < kNarrowest) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const size_t indent = Indent(line);
    const size_t column = NextColumn(line, indent);
    if (Columns(line) <= width) {
      out += line;
    } else if (column == std::string_view::npos || column >= width) {
      AppendWrapped(line, indent, width, out);
    } else if (form == Layout::kHelp) {
      AppendWrapped(line, std::min(column, width / 2), width, out);
    } else {
      const std::string_view first = First(line, width - kCut.size());
      out += first.substr(0, first.find_last_not_of(' ') + 1);
      out += kCut;
    }
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

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

size_t TerminalWidth() {
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::string Fitted(std::string_view text, size_t width) { return Fit(text, width, Layout::kTable); }

std::string FittedHelp(std::string_view text, size_t width) {
  return Fit(text, width, Layout::kHelp);
}

}  // namespace berth::app
