// SPDX-License-Identifier: Apache-2.0
#include "src/cel/source.h"

#include <algorithm>
#include <utility>

#include "src/cel/go_text.h"

namespace berth::cel {
namespace {

constexpr size_t kMaxIssues = 100;
constexpr size_t kMaxSnippetBytes = 16'384;

std::string_view LineOf(std::string_view text, int line) {
  for (; line > 1; --line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

// The line, and a mark below the column; full-width signs below what takes more than a byte.
std::string Snippet(std::string_view line, int column) {
  std::string shown(line);
  std::replace(shown.begin(), shown.end(), '\t', ' ');
  std::string mark;
  std::string_view rest = shown;
  for (int i = 0; i < column && !rest.empty(); ++i) {
    const Rune rune = FirstRune(rest);
    mark += rune.length > 1 ? "\xEF\xBC\x8E" : ".";
    rest.remove_prefix(rune.length);
  }
  mark += !rest.empty() && FirstRune(rest).length > 1 ? "\xEF\xBC\xBE" : "^";
  return "\n | " + shown + "\n | " + mark;
}

}  // namespace

Position PositionOf(std::string_view text, size_t offset) {
  Position position;
  text = text.substr(0, offset);
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    ++position.line;
    text.remove_prefix(end + 1);
  }
  position.column = static_cast<int>(CodePoints(text));
  return position;
}

void Issues::Report(size_t offset, std::string message) {
  if (issues_.size() == kMaxIssues) {
    ++truncated_;
    return;
  }
  // An empty text has no column, and no line to show.
  const Position position = text_.empty() ? Position{1, -1} : PositionOf(text_, offset);
  issues_.push_back({position, std::move(message)});
}

void Issues::ReportNowhere(std::string message) {
  issues_.push_back({Position{-1, -1}, std::move(message)});
}

std::string Issues::ToString() const {
  std::vector<const Issue*> sorted;
  sorted.reserve(issues_.size());
  for (const Issue& issue : issues_) sorted.push_back(&issue);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Issue* a, const Issue* b) {
    if (a->position.line != b->position.line) return a->position.line < b->position.line;
    return a->position.column < b->position.column;
  });
  std::string text;
  for (const Issue* const issue : sorted) {
    const auto& [line, column] = issue->position;
    if (!text.empty()) text += '\n';
    text += "ERROR: <input>:" + std::to_string(line) + ":" + std::to_string(column + 1) + ": " +
            issue->message;
    if (column < 0) continue;
    const std::string_view shown = LineOf(text_, line);
    if (shown.size() <= kMaxSnippetBytes) text += Snippet(shown, column);
  }
  if (truncated_ > 0) text += "\n" + std::to_string(truncated_) + " more errors were truncated";
  return text;
}

}  // namespace berth::cel
