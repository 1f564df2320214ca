// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/suggestion.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace berth::app {
namespace {

constexpr size_t kMostChanges = 2;

// How many letters to insert, take out, replace or swap with the next one.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last;
  std::vector<size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    std::vector<size_t> row(b.size() + 1, i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({row[j - 1] + 1, last[j] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::exchange(last, std::move(row));
  }
  return last[b.size()];
}

}  // namespace

std::string Suggestion(std::string_view typed, const std::vector<std::string>& words) {
  std::string best;
  if (typed.empty()) return best;
  size_t fewest = std::min(kMostChanges, std::max<size_t>(1, typed.size() / 2)) + 1;
  for (const std::string& word : words) {
    const size_t distance = Distance(typed, word);
    if (distance >= fewest) continue;
    fewest = distance;
    best = word;
  }
  if (!best.empty() || typed.size() < 2) return best;
  const auto begins = std::ranges::find_if(
      words, [typed](const std::string& word) { return word.starts_with(typed); });
  return begins == words.end() ? "" : *begins;
}

}  // namespace berth::app
