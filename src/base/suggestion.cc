// SPDX-License-Identifier: Apache-2.0
#include "src/base/suggestion.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

namespace berth::base {
namespace {

constexpr size_t kMostChanges = 2;

bool IsSame(char a, char b) {
  return absl::ascii_tolower(static_cast<unsigned char>(a)) ==
         absl::ascii_tolower(static_cast<unsigned char>(b));
}

// How many letters to insert, take out, replace or swap with the next one.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last;
  std::vector<size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    std::vector<size_t> row(b.size() + 1, i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (IsSame(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({row[j - 1] + 1, last[j] + 1, replaced});
      const bool swapped =
          i > 1 && j > 1 && IsSame(a[i - 1], b[j - 2]) && IsSame(a[i - 2], b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::exchange(last, std::move(row));
  }
  return last[b.size()];
}

// Takes off what both begin and end with: long names of a cluster have most of it in common.
void StripCommon(std::string_view& a, std::string_view& b) {
  while (!a.empty() && !b.empty() && IsSame(a.front(), b.front())) {
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  while (!a.empty() && !b.empty() && IsSame(a.back(), b.back())) {
    a.remove_suffix(1);
    b.remove_suffix(1);
  }
}

bool DifferInDigitsAlone(std::string_view a, std::string_view b) {
  const auto is_letter = [](unsigned char c) { return !absl::ascii_isdigit(c); };
  return a != b && std::ranges::equal(a | std::views::filter(is_letter),
                                      b | std::views::filter(is_letter), IsSame);
}

}  // namespace

Suggestion::Suggestion(std::string_view typed)
    : typed_(typed),
      fewest_(typed.empty() ? 0
                            : std::min(kMostChanges, std::max<size_t>(1, typed.size() / 2)) + 1) {}

void Suggestion::Try(std::string_view word) {
  std::string_view typed = typed_;
  std::string_view other = word;
  StripCommon(typed, other);
  const size_t longer = std::max(typed.size(), other.size());
  const bool is_near = longer - std::min(typed.size(), other.size()) <= fewest_;
  const bool begins =
      typed_.size() >= 2 && std::ranges::equal(word.substr(0, typed_.size()), typed_, IsSame);
  if ((!is_near && !begins) || DifferInDigitsAlone(typed, other)) return;
  if (begins && (beginning_.empty() || word < beginning_)) beginning_ = word;
  if (!is_near) return;
  const size_t distance = Distance(typed, other);
  if (distance > fewest_ || (distance == fewest_ && (best_.empty() || word > best_))) return;
  fewest_ = distance;
  best_ = word;
}

std::string Suggestion::ToString() const {
  return word().empty() ? "" : "; did you mean " + word() + "?";
}

std::string Suggestion::ToQuotedString() const {
  return word().empty() ? "" : "; did you mean \"" + word() + "\"?";
}

std::string SuggestedField(std::string_view unknown, const std::vector<std::string>& known) {
  Suggestion meant(unknown);
  meant.TryAll(known);
  return meant.ToQuotedString();
}

}  // namespace berth::base
