// SPDX-License-Identifier: Apache-2.0
#include "src/cel/rune_set.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "src/cel/unicode_tables.h"

namespace berth::cel {
namespace {

struct FoldPair {
  char32_t rune;
  char32_t next;
};

// In order.
const std::vector<FoldPair>& FoldPairs() {
  static const auto* const pairs = [] {
    auto* const made = new std::vector<FoldPair>;
    for (const UnicodeFold& fold : UnicodeFolds())
      for (uint32_t rune = fold.first; rune <= fold.last; rune += fold.step)
        made->push_back({rune, static_cast<char32_t>(static_cast<int32_t>(rune) + fold.distance)});
    std::sort(made->begin(), made->end(),
              [](const FoldPair& a, const FoldPair& b) { return a.rune < b.rune; });
    return made;
  }();
  return *pairs;
}

// The first pair whose code point is not before `rune`.
std::vector<FoldPair>::const_iterator FoldPairsFrom(char32_t rune) {
  const std::vector<FoldPair>& pairs = FoldPairs();
  return std::lower_bound(pairs.begin(), pairs.end(), rune,
                          [](const FoldPair& pair, char32_t at) { return pair.rune < at; });
}

// First letter large, the others small, without '_', '-' and ' '.
std::string CanonicalName(std::string_view name) {
  std::string canonical;
  for (const char c : name) {
    if (c == '_' || c == '-' || c == ' ') continue;
    const bool small = c >= 'a' && c <= 'z';
    const bool large = c >= 'A' && c <= 'Z';
    const bool is_first = canonical.empty();
    canonical += static_cast<char>(is_first && small ? c - 32 : !is_first && large ? c + 32 : c);
  }
  return canonical;
}

const UnicodeName* FindName(std::span<const UnicodeName> names, std::string_view name) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const UnicodeName& row) { return row.name == name; });
  return found == names.end() ? nullptr : &*found;
}

}  // namespace

char32_t NextFold(char32_t rune) {
  const auto found = FoldPairsFrom(rune);
  return found != FoldPairs().end() && found->rune == rune ? found->next : rune;
}

void RuneSet::AddRun(char32_t first, char32_t last) {
  // Folding adds two alphabets at once, so the last two ranges may grow.
  for (size_t back = 1; back <= 2 && back <= ranges_.size(); ++back) {
    Range& range = ranges_[ranges_.size() - back];
    if (first > range.last + 1 || range.first > last + 1) continue;
    range.first = std::min(range.first, first);
    range.last = std::max(range.last, last);
    return;
  }
  ranges_.push_back({first, last});
}

void RuneSet::Add(char32_t first, char32_t last) {
  clean_ = false;
  ++work_;
  AddRun(first, last);
  if (ranges_.size() >= clean_at_) Clean();
}

void RuneSet::Add(const RuneSet& others) {
  for (const auto& [first, last] : others.ranges_) Add(first, last);
}

void RuneSet::AddFolded(char32_t first, char32_t last) {
  Add(first, last);
  for (auto pair = FoldPairsFrom(first); pair != FoldPairs().end() && pair->rune <= last; ++pair)
    for (char32_t rune = pair->next; rune != pair->rune; rune = NextFold(rune)) Add(rune, rune);
}

void RuneSet::AddFolded(const RuneSet& others) {
  for (const auto& [first, last] : others.ranges_) AddFolded(first, last);
}

void RuneSet::AddAllBut(const RuneSet& others) {
  char32_t next = 0;
  for (const auto& [first, last] : others.ranges_) {
    if (next < first) Add(next, first - 1);
    next = last + 1;
  }
  if (next <= kLastRune) Add(next, kLastRune);
}

bool RuneSet::AddProperty(std::string_view name) {
  const std::string canonical = CanonicalName(name);
  if (canonical == "Ascii") {
    Add(0, 0x7F);
    return true;
  }
  const auto add = [&](std::span<const UnicodeRun> runs, const auto& has) {
    char32_t at = 0;
    work_ += runs.size();
    for (const auto& [count, value] : runs) {
      if (has(value)) Add(at, at + count - 1);
      at += count;
    }
    return true;
  };
  if (const UnicodeName* const found = FindName(UnicodeCategoryNames(), canonical))
    return add(UnicodeCategoryRuns(),
               [&](uint32_t value) { return ((found->value >> value) & 1U) != 0; });
  if (const UnicodeName* const found = FindName(UnicodeScriptNames(), canonical))
    return add(UnicodeScriptRuns(), [&](uint32_t value) { return value == found->value; });
  return false;
}

bool RuneSet::HasOtherCases(std::string_view property) {
  const UnicodeName* const found = FindName(UnicodeCategoryNames(), CanonicalName(property));
  return found == nullptr || found->value != FindName(UnicodeCategoryNames(), "Lc")->value;
}

void RuneSet::Clean() {
  if (clean_) return;
  work_ += ranges_.size();
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return std::pair(a.first, b.last) < std::pair(b.first, a.last);
  });
  size_t kept = 0;
  for (const Range& range : ranges_) {
    if (kept > 0 && range.first <= ranges_[kept - 1].last + 1) {
      ranges_[kept - 1].last = std::max(ranges_[kept - 1].last, range.last);
    } else {
      ranges_[kept++] = range;
    }
  }
  ranges_.resize(kept);
  clean_ = true;
  clean_at_ = 2 * kept + 1024;
}

}  // namespace berth::cel
