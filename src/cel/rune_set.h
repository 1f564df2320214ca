// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace berth::cel {

constexpr char32_t kLastRune = 0x10FFFF;

// Code points that differ by case alone go around in a circle: the next one, itself when there is
// no other.
//
// Thread safety: any thread.
char32_t NextFold(char32_t rune);

// A set of code points.
//
// Thread safety: one owner.
class RuneSet {
 public:
  struct Range {
    char32_t first;
    char32_t last;

    friend bool operator==(const Range&, const Range&) = default;
  };

  void Add(char32_t first, char32_t last);
  void Add(const RuneSet& others);
  // With what differs by case alone.
  void AddFolded(char32_t first, char32_t last);
  void AddFolded(const RuneSet& others);
  // What `others`, which is clean, does not have.
  void AddAllBut(const RuneSet& others);
  // The code points of a category or a script; false: Go knows none of that name.
  bool AddProperty(std::string_view name);
  // Whether other cases belong to that class, too, where a pattern ignores case. Go has no table of
  // them for cased letters, of which U+0345 is another case.
  static bool HasOtherCases(std::string_view property);

  // Sorts the ranges and merges those that touch.
  void Clean();
  bool clean() const { return clean_; }

  // In order, and apart from each other, once the set is clean.
  const std::vector<Range>& ranges() const { return ranges_; }

  // How many ranges were looked at to make it: 10 to 20 ns each.
  uint64_t work() const { return work_; }

 private:
  void AddRun(char32_t first, char32_t last);

  std::vector<Range> ranges_;
  bool clean_ = true;
  // From so many ranges on a look whether they merge is worth it.
  size_t clean_at_ = 1024;
  uint64_t work_ = 0;
};

}  // namespace berth::cel
