// SPDX-License-Identifier: Apache-2.0
#include "src/cel/pattern_tree.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace berth::cel {
namespace {

constexpr uint64_t kInstructionsOfAny = 10;

uint64_t Capped(uint64_t instructions) { return std::min(instructions, kMostPatternInstructions); }

// The ranges of bytes that a range of code points of one length in UTF-8 is.
struct ByteRanges {
  size_t length = 0;
  std::array<std::pair<uint8_t, uint8_t>, 4> bytes{};
};

ByteRanges EncodedRange(char32_t first, char32_t last) {
  ByteRanges made;
  made.length = last < 0x80 ? 1 : last < 0x800 ? 2 : last < 0x10000 ? 3 : 4;
  for (size_t i = 0; i < made.length; ++i) {
    const size_t shift = 6 * (made.length - 1 - i);
    const char32_t mask = i == 0 ? 0xFF : 0x3F;
    const char32_t mark = i > 0 ? 0x80 : made.length == 1 ? 0 : (0xF00U >> made.length) & 0xF0U;
    made.bytes[i] = {static_cast<uint8_t>(((first >> shift) & mask) | mark),
                     static_cast<uint8_t>(((last >> shift) & mask) | mark)};
  }
  return made;
}

// Counts the instructions that take a set apart into bytes: code points that begin with the same
// bytes share these.
class SetInstructions {
 public:
  uint64_t Count(const RuneSet& set) {
    for (const auto& [first, last] : set.ranges()) Split(first, last);
    return std::max<uint64_t>(1, count_);
  }

 private:
  void Split(char32_t first, char32_t last) {
    for (const char32_t end : {0x7FU, 0x7FFU, 0xFFFFU})
      if (first <= end && end < last) return SplitAt(first, end, last);
    // A range whose first byte differs takes all that follow it.
    if (last >= 0x80) {
      for (int i = 1; i < 4; ++i) {
        const char32_t rest = (char32_t{1} << (6 * i)) - 1;
        if ((first & ~rest) == (last & ~rest)) continue;
        if ((first & rest) != 0) return SplitAt(first, first | rest, last);
        if ((last & rest) != rest) return SplitAt(first, (last & ~rest) - 1, last);
      }
    }
    Add(EncodedRange(first, last));
  }

  void SplitAt(char32_t first, char32_t end, char32_t last) {
    Split(first, end);
    Split(end + 1, last);
  }

  void Add(const ByteRanges& piece) {
    size_t same = 0;
    while (same + 1 < piece.length && same < last_.length && piece.bytes[same] == last_.bytes[same])
      ++same;
    count_ += piece.length - same;
    last_ = piece;
  }

  uint64_t count_ = 0;
  ByteRanges last_;
};

uint64_t LengthInUtf8(char32_t rune) {
  return rune < 0x80 ? 1 : rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4;
}

uint64_t LiteralInstructions(const PatternNode& node) {
  uint64_t count = 0;
  for (const char32_t rune : node.runes) {
    uint64_t cases = 1;
    if (node.any_case)
      for (char32_t other = NextFold(rune); other != rune; other = NextFold(other)) ++cases;
    // RE2 has one instruction for a letter of ASCII of any case.
    count += rune < 0x80 && cases == 2 ? 1 : cases * LengthInUtf8(rune);
  }
  return std::max<uint64_t>(1, count);
}

// Of a repetition whose copies have so many.
uint64_t RepeatedInstructions(const PatternNode& node, uint64_t one) {
  const auto times = [](int32_t count) { return static_cast<uint64_t>(std::max(count, 0)); };
  if (node.max < 0) return node.min == 0 ? one + 2 : 1 + times(node.min) * one;
  // The copies that may be left out are within each other.
  return times(node.max) * one + times(node.max - node.min);
}

uint64_t Instructions(const PatternNode& node, uint64_t (*of)(const PatternNode&)) {
  uint64_t all = 0;
  for (const PatternNode* const part : node.parts) all = Capped(all + of(*part));
  switch (node.op) {
    case PatternOp::kGroup:
    case PatternOp::kStar:
      return all + 2;
    case PatternOp::kPlus:
    case PatternOp::kQuest:
      return all + 1;
    case PatternOp::kRepeat:
      return Capped(std::max<uint64_t>(1, RepeatedInstructions(node, all)));
    case PatternOp::kAlternate:
      return all + node.parts.size() - 1;
    default:
      return std::max<uint64_t>(1, all);
  }
}

// RE2 looks at each instruction that leads to a place, once for each place before it from which it
// is reached: by the square, where many ways that may read nothing come together. So no more than
// this many come together at once.
constexpr uint64_t kMostExits = 128;
constexpr size_t kMostSlices = 64;

uint64_t Exits(const PatternNode& node) {
  uint64_t all = 0;
  for (const PatternNode* const part : node.parts) all = Capped(all + part->exits);
  switch (node.op) {
    case PatternOp::kLiteral:
    case PatternOp::kSet:
    case PatternOp::kAny:
    case PatternOp::kAnyInLine:
      return 0;
    case PatternOp::kGroup:
      return all;
    case PatternOp::kQuest:
      return all + 1;
    case PatternOp::kRepeat:
      if (node.max < 0 || node.max == 0) return 1;
      return node.max == node.min ? all
                                  : Capped(static_cast<uint64_t>(node.max - node.min) * (all + 1));
    case PatternOp::kConcat:
      return node.parts.back()->exits;
    case PatternOp::kAlternate:
      return all > kMostExits ? kMostSlices : all;
    default:
      return 1;
  }
}

class Re2Writer {
 public:
  std::string Write(const PatternNode& node) {
    Write(node, Place::kAlone);
    return std::move(text_);
  }

 private:
  // What a part stands in, the loosest first.
  enum class Place : uint8_t { kAlone, kConcat, kRepeat };

  void Write(const PatternNode& node, Place place) {
    switch (node.op) {
      case PatternOp::kEmpty:
        text_ += "(?:)";
        break;
      case PatternOp::kLiteral:
        WriteIn(node, place, node.runes.size() == 1 ? Place::kRepeat : Place::kConcat);
        break;
      case PatternOp::kSet:
        WriteSet(node.set);
        break;
      case PatternOp::kAny:
        text_ += "(?s:.)";
        break;
      case PatternOp::kAnyInLine:
        text_ += '.';
        break;
      case PatternOp::kBeginText:
        text_ += "\\A";
        break;
      case PatternOp::kEndText:
        text_ += "\\z";
        break;
      case PatternOp::kBeginLine:
        text_ += "(?m:^)";
        break;
      case PatternOp::kEndLine:
        text_ += "(?m:$)";
        break;
      case PatternOp::kWordBoundary:
        text_ += "\\b";
        break;
      case PatternOp::kNoWordBoundary:
        text_ += "\\B";
        break;
      case PatternOp::kGroup:
        text_ += "(?:";
        Write(*node.parts.front(), Place::kAlone);
        text_ += ')';
        break;
      case PatternOp::kAlternate:
        WriteIn(node, place, Place::kAlone);
        break;
      case PatternOp::kConcat:
      case PatternOp::kStar:
      case PatternOp::kPlus:
      case PatternOp::kQuest:
      case PatternOp::kRepeat:
        WriteIn(node, place, Place::kConcat);
        break;
    }
  }

  // In parentheses when it stands in something tighter than it may.
  void WriteIn(const PatternNode& node, Place place, Place loosest) {
    const bool apart = place > loosest;
    if (apart) text_ += "(?:";
    WriteParts(node);
    if (apart) text_ += ')';
  }

  void WriteParts(const PatternNode& node) {
    switch (node.op) {
      case PatternOp::kLiteral:
        for (const char32_t rune : node.runes) WriteRune(rune, node.any_case);
        break;
      case PatternOp::kConcat:
        for (const PatternNode* const part : node.parts) {
          KeepApart(*part);
          Write(*part, Place::kConcat);
        }
        break;
      case PatternOp::kAlternate:
        WriteAlternatives(node.parts);
        break;
      default:
        WriteRepetition(node);
    }
  }

  // Many that may end with nothing are written in slices, each of which is joined first.
  void WriteAlternatives(std::span<const PatternNode* const> all) {
    uint64_t exits = 0;
    for (const PatternNode* const one : all) exits = Capped(exits + one->exits);
    const size_t slices =
        exits > kMostExits && all.size() > 1 ? std::min(kMostSlices, all.size()) : all.size();
    for (size_t i = 0; i < slices; ++i) {
      if (i > 0) text_ += '|';
      const size_t begin = all.size() * i / slices;
      const size_t end = all.size() * (i + 1) / slices;
      if (end - begin == 1) {
        Write(*all[begin], Place::kConcat);
      } else {
        text_ += "(?:";
        WriteAlternatives(all.subspan(begin, end - begin));
        // RE2 takes out what does nothing, but not what captures.
        text_ += ")()";
      }
    }
  }

  // RE2 makes one repetition of those of one thing, and takes time by the square of the copies that
  // may be left out.
  void KeepApart(const PatternNode& part) {
    const PatternNode* inner = &part;
    while (inner->op == PatternOp::kGroup) inner = inner->parts.front();
    const int32_t copies = inner->op == PatternOp::kQuest ? 1
                           : inner->op == PatternOp::kRepeat && inner->max > 0
                               ? inner->max - inner->min
                               : 0;
    if (copies > 0 && copies_ > 0 && copies_ + copies > kMostCopies) {
      text_ += "(?:)";
      copies_ = 0;
    }
    copies_ += copies;
  }

  void WriteRepetition(const PatternNode& node) {
    const PatternNode& part = *node.parts.front();
    // RE2 counts what stands in it all the same.
    if (node.op == PatternOp::kRepeat && node.max == 0) {
      text_ += "(?:)";
      return;
    }
    if (node.op == PatternOp::kRepeat && node.min == 1 && node.max == 1) {
      text_ += "(?:";
      Write(part, Place::kAlone);
      text_ += ')';
      return;
    }
    Write(part, Place::kRepeat);
    if (node.op != PatternOp::kRepeat) {
      text_ += node.op == PatternOp::kStar ? '*' : node.op == PatternOp::kPlus ? '+' : '?';
    } else {
      text_ += '{' + std::to_string(node.min);
      if (node.max < 0) {
        text_ += ',';
      } else if (node.max > node.min) {
        text_ += ',' + std::to_string(node.max);
      }
      text_ += '}';
    }
    if (!node.greedy) text_ += '?';
  }

  void WriteRune(char32_t rune, bool any_case) {
    if (!any_case || NextFold(rune) == rune) return WriteRune(rune);
    text_ += '[';
    WriteRune(rune);
    for (char32_t other = NextFold(rune); other != rune; other = NextFold(other)) WriteRune(other);
    text_ += ']';
  }

  void WriteRune(char32_t rune) {
    const bool plain = (rune >= '0' && rune <= '9') || (rune >= 'A' && rune <= 'Z') ||
                       (rune >= 'a' && rune <= 'z');
    if (plain) {
      text_ += static_cast<char>(rune);
      return;
    }
    constexpr char kHex[] = "0123456789ABCDEF";
    text_ += "\\x{";
    int shift = 20;
    while (shift > 0 && (rune >> shift) == 0) shift -= 4;
    for (; shift >= 0; shift -= 4) text_ += kHex[(rune >> shift) & 0xFU];
    text_ += '}';
  }

  void WriteSet(const RuneSet& set) {
    // RE2 knows no empty brackets.
    text_ += set.ranges().empty() ? "[^\\x{0}-\\x{10FFFF}" : "[";
    for (const auto& [first, last] : set.ranges()) {
      WriteRune(first);
      if (last == first) continue;
      text_ += '-';
      WriteRune(last);
    }
    text_ += ']';
  }

  static constexpr int32_t kMostCopies = 100;

  std::string text_;
  // That may be left out, since they were kept apart.
  int32_t copies_ = 0;
};

}  // namespace

uint64_t GoInstructions(const PatternNode& node) {
  return node.op == PatternOp::kLiteral ? std::max<uint64_t>(1, node.runes.size())
                                        : node.go_instructions;
}

uint64_t Re2Instructions(const PatternNode& node) {
  return node.op == PatternOp::kLiteral ? LiteralInstructions(node) : node.re2_instructions;
}

void Measure(PatternNode& node) {
  for (const PatternNode* const part : node.parts) {
    node.height = std::max(node.height, part->height + 1);
    node.copies = std::max(node.copies, part->copies);
  }
  if (node.op == PatternOp::kRepeat) {
    const int32_t times = node.max < 0 ? node.min : node.max;
    // {0,} does not count, and what is in it does.
    if (node.max == 0) node.copies = 1;
    if (times > 0) node.copies *= static_cast<uint32_t>(times);
  }
  node.go_instructions = Instructions(node, GoInstructions);
  node.re2_instructions = Instructions(node, Re2Instructions);
  // It captures nothing there.
  if (node.op == PatternOp::kGroup) node.re2_instructions = Re2Instructions(*node.parts.front());
  node.exits = Exits(node);
  if (node.op == PatternOp::kSet) node.re2_instructions = SetInstructions().Count(node.set);
  if (node.op == PatternOp::kAny || node.op == PatternOp::kAnyInLine)
    node.re2_instructions = kInstructionsOfAny;
}

std::string Re2Text(const PatternNode& node) { return Re2Writer().Write(node); }

}  // namespace berth::cel
