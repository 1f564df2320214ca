// SPDX-License-Identifier: Apache-2.0
#include "src/cel/go_pattern.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "src/cel/go_text.h"
#include "src/cel/pattern_tree.h"

namespace berth::cel {
namespace {

// Go's limits.
constexpr uint32_t kMaxHeight = 1'000;
constexpr int32_t kMaxRepeat = 1'000;
constexpr uint64_t kMaxGoInstructions = (uint64_t{128} << 20) / 40;

// Of ranges of code points: some 100 ms.
constexpr uint64_t kMaxWork = 8'000'000;
constexpr uint64_t kWorkPerStep = 2;

constexpr char kTooLarge[] = "expression too large";
constexpr char kInvalidRange[] = "invalid character class range";

struct Flags {
  bool any_case = false;     // i
  bool many_lines = false;   // m
  bool dot_newline = false;  // s
  bool lazy = false;         // U
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int HexValue(char32_t c) {
  if (c >= '0' && c <= '9') return static_cast<int>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<int>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<int>(c - 'A') + 10;
  return -1;
}

bool IsWordCharacter(char32_t c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool IsGroupName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return IsWordCharacter(static_cast<unsigned char>(c));
  });
}

// A class of ASCII: pairs of first and last.
struct AsciiClass {
  std::string_view name;
  std::string_view ranges;
};

constexpr AsciiClass kPerlClasses[] = {{"d", "09"}, {"s", "\t\n\f\r  "}, {"w", "09AZ__az"}};

constexpr AsciiClass kPosixClasses[] = {{"alnum", "09AZaz"},
                                        {"alpha", "AZaz"},
                                        {"ascii", std::string_view("\0\x7F", 2)},
                                        {"blank", "\t\t  "},
                                        {"cntrl", std::string_view("\0\x1F\x7F\x7F", 4)},
                                        {"digit", "09"},
                                        {"graph", "!~"},
                                        {"lower", "az"},
                                        {"print", " ~"},
                                        {"punct", "!/:@[`{~"},
                                        {"space", "\t\r  "},
                                        {"upper", "AZ"},
                                        {"word", "09AZ__az"},
                                        {"xdigit", "09AFaf"}};

// Reads one pattern. Functions that return bool have met an error when they return false.
class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : whole_(text), rest_(text) {}

  Result<GoPattern> Read() {
    const PatternNode* const root = ReadAll() ? Last() : nullptr;
    if (root == nullptr) return berth::Fail(error_);
    return GoPattern{Re2Text(*root), Re2Instructions(*root), tree_.size(), has_no_word_boundary_};
  }

  uint64_t work() const { return work_; }

 private:
  // What is read and not yet part of another node.
  struct Entry {
    enum class Kind : uint8_t { kNode, kParenthesis, kBar } kind = Kind::kNode;
    PatternNode* node = nullptr;
    // Of a parenthesis.
    bool captures = false;
    Flags flags{};
  };

  bool Fails(std::string_view what, std::string_view where) {
    error_ = "error parsing regexp: " + std::string(what) + ": `" + std::string(where) + "`";
    return false;
  }
  // What was read since `begin`, which the rest ends.
  std::string_view Since(std::string_view begin, std::string_view rest) const {
    return begin.substr(0, begin.size() - rest.size());
  }

  bool ReadAll() {
    if (whole_.size() > GoPattern::kMaxBytes) return Fails(kTooLarge, whole_);
    while (!rest_.empty()) {
      repetition_ = {};
      if (!ReadOne()) return false;
      last_repetition_ = repetition_;
    }
    return CloseAlternatives();
  }

  // Whatever the whole pattern became.
  const PatternNode* Last() {
    if (entries_.size() == 1) return entries_.front().node;
    Fails("missing closing )", whole_);
    return nullptr;
  }

  bool ReadOne() {
    const char c = rest_.front();
    switch (c) {
      case '(':
        return rest_.starts_with("(?") ? ReadFlags() : OpenGroup(1, true);
      case '|':
        rest_.remove_prefix(1);
        return AddBar();
      case ')':
        rest_.remove_prefix(1);
        return CloseGroup();
      case '^':
        return PushSimple(flags_.many_lines ? PatternOp::kBeginLine : PatternOp::kBeginText, 1);
      case '$':
        return PushSimple(flags_.many_lines ? PatternOp::kEndLine : PatternOp::kEndText, 1);
      case '.':
        return PushSimple(flags_.dot_newline ? PatternOp::kAny : PatternOp::kAnyInLine, 1);
      case '[':
        return ReadBrackets();
      case '*':
        return Repeat(PatternOp::kStar, 0, 0, rest_.substr(1));
      case '+':
        return Repeat(PatternOp::kPlus, 0, 0, rest_.substr(1));
      case '?':
        return Repeat(PatternOp::kQuest, 0, 0, rest_.substr(1));
      case '{':
        return ReadCounts();
      case '\\':
        return ReadBackslash();
      default:
        return ReadLiteral(rest_);
    }
  }

  bool ReadLiteral(std::string_view& from) {
    char32_t rune = 0;
    return NextRune(from, rune) && PushLiteral(rune);
  }

  // Go takes what is no UTF-8 nowhere. The end reads as no character.
  bool NextRune(std::string_view& from, char32_t& rune) {
    rune = 0xFFFD;
    if (from.empty()) return true;
    const Rune read = FirstRune(from);
    if (read.value == 0xFFFD && read.length == 1) return Fails("invalid UTF-8", from);
    rune = read.value;
    from.remove_prefix(read.length);
    return true;
  }

  bool CheckUtf8(std::string_view text) {
    char32_t rune = 0;
    while (!text.empty())
      if (!NextRune(text, rune)) return false;
    return true;
  }

  // --- The stack of entries.

  PatternNode* Make(PatternOp op) {
    PatternNode* node = nullptr;
    if (free_.empty()) {
      node = &tree_.emplace_back();
    } else {
      node = free_.back();
      free_.pop_back();
      *node = {};
    }
    node->op = op;
    return node;
  }

  bool IsLiteral(size_t back) const {
    return entries_.size() >= back && entries_[entries_.size() - back].kind == Entry::Kind::kNode &&
           entries_[entries_.size() - back].node->op == PatternOp::kLiteral;
  }

  // Joins the last two literals: nothing repeats the last one any more.
  void JoinLiterals() {
    if (!IsLiteral(1) || !IsLiteral(2)) return;
    PatternNode* const last = entries_.back().node;
    PatternNode* const before = entries_[entries_.size() - 2].node;
    if (last->any_case != before->any_case) return;
    before->runes += last->runes;
    free_.push_back(last);
    entries_.pop_back();
  }

  bool Push(PatternNode* node) {
    JoinLiterals();
    entries_.push_back({.node = node});
    // No repetition makes it smaller, but for that of nothing.
    leaves_ += node->parts.empty() ? Re2Instructions(*node) : 0;
    return Check(*node);
  }

  bool Check(const PatternNode& node) {
    if (GoInstructions(node) > kMaxGoInstructions ||
        std::max(leaves_, Re2Instructions(node)) > GoPattern::kMost)
      return Fails(kTooLarge, whole_);
    if (node.height > kMaxHeight) return Fails("expression nests too deeply", whole_);
    return true;
  }

  bool PushLiteral(char32_t rune) {
    PatternNode* const node = Make(PatternOp::kLiteral);
    node->runes = rune;
    node->any_case = flags_.any_case && NextFold(rune) != rune;
    return Push(node);
  }

  bool PushSimple(PatternOp op, size_t length) {
    rest_.remove_prefix(length);
    PatternNode* const node = Make(op);
    Measure(*node);
    return Push(node);
  }

  bool PushSet(RuneSet set) {
    PatternNode* const node = Make(PatternOp::kSet);
    set.Clean();
    node->set = std::move(set);
    Measure(*node);
    return Push(node);
  }

  // One node of the entries after the last parenthesis or bar.
  bool Concatenate() {
    JoinLiterals();
    return Combine(PatternOp::kConcat);
  }

  bool Combine(PatternOp op) {
    size_t begin = entries_.size();
    while (begin > 0 && entries_[begin - 1].kind == Entry::Kind::kNode) --begin;
    if (entries_.size() - begin == 1) return true;
    PatternNode* const made = Make(begin == entries_.size() ? PatternOp::kEmpty : op);
    for (size_t i = begin; i < entries_.size(); ++i) {
      PatternNode* const part = entries_[i].node;
      if (part->op != op) {
        made->parts.push_back(part);
      } else if (made->parts.empty()) {
        made->parts = std::move(part->parts);
      } else {
        made->parts.insert(made->parts.end(), part->parts.begin(), part->parts.end());
      }
    }
    entries_.resize(begin);
    Measure(*made);
    return Push(made);
  }

  // A bar stays above the alternatives that are read.
  bool AddBar() {
    if (!Concatenate()) return false;
    if (!SwapBar()) entries_.push_back({.kind = Entry::Kind::kBar});
    return true;
  }

  bool SwapBar() {
    const size_t count = entries_.size();
    if (count < 2 || entries_[count - 2].kind != Entry::Kind::kBar) return false;
    std::swap(entries_[count - 2], entries_[count - 1]);
    return true;
  }

  bool CloseAlternatives() {
    if (!Concatenate()) return false;
    if (SwapBar()) entries_.pop_back();
    return Combine(PatternOp::kAlternate);
  }

  bool OpenGroup(size_t length, bool captures) {
    rest_.remove_prefix(length);
    JoinLiterals();
    entries_.push_back({.kind = Entry::Kind::kParenthesis, .captures = captures, .flags = flags_});
    return true;
  }

  bool CloseGroup() {
    if (!CloseAlternatives()) return false;
    const size_t count = entries_.size();
    if (count < 2 || entries_[count - 2].kind != Entry::Kind::kParenthesis)
      return Fails("unexpected )", whole_);
    PatternNode* const inner = entries_.back().node;
    const Entry open = entries_[count - 2];
    entries_.resize(count - 2);
    flags_ = open.flags;
    if (!open.captures) {
      entries_.push_back({.node = inner});
      return true;
    }
    PatternNode* const group = Make(PatternOp::kGroup);
    group->parts.push_back(inner);
    Measure(*group);
    return Push(group);
  }

  // --- Groups.

  bool ReadFlags() {
    const bool python = rest_.size() > 4 && rest_.substr(2, 2) == "P<";
    if (python || (rest_.size() > 3 && rest_[2] == '<')) return ReadGroupName(python ? 4 : 3);
    std::string_view from = rest_.substr(2);
    Flags flags = flags_;
    bool on = true;
    bool some = false;
    while (!from.empty()) {
      char32_t c = 0;
      if (!NextRune(from, c)) return false;
      if (bool* const flag = FlagOf(flags, c)) {
        *flag = on;
        some = true;
      } else if (c == '-' && on) {
        on = false;
        some = false;
      } else if ((c == ':' || c == ')') && (on || some)) {
        if (c == ':' && !OpenGroup(0, false)) return false;
        flags_ = flags;
        rest_ = from;
        return true;
      } else {
        break;
      }
    }
    return Fails("invalid or unsupported Perl syntax", Since(rest_, from));
  }

  static bool* FlagOf(Flags& flags, char32_t c) {
    switch (c) {
      case 'i':
        return &flags.any_case;
      case 'm':
        return &flags.many_lines;
      case 's':
        return &flags.dot_newline;
      case 'U':
        return &flags.lazy;
      default:
        return nullptr;
    }
  }

  bool ReadGroupName(size_t begin) {
    const size_t end = rest_.find('>');
    if (end == std::string_view::npos)
      return CheckUtf8(rest_) && Fails("invalid named capture", rest_);
    const std::string_view name = rest_.substr(begin, end - begin);
    if (!CheckUtf8(name)) return false;
    if (!IsGroupName(name)) return Fails("invalid named capture", rest_.substr(0, end + 1));
    return OpenGroup(end + 1, true);
  }

  // --- Repetitions.

  // `after`: what follows the operator, which begins the rest.
  bool Repeat(PatternOp op, int32_t min, int32_t max, std::string_view after) {
    const std::string_view before = rest_;
    bool lazy = flags_.lazy;
    if (after.starts_with('?')) {
      after.remove_prefix(1);
      lazy = !lazy;
    }
    if (!last_repetition_.empty())
      return Fails("invalid nested repetition operator", Since(last_repetition_, after));
    if (entries_.empty() || entries_.back().kind != Entry::Kind::kNode)
      return Fails("missing argument to repetition operator", Since(before, after));
    PatternNode* const made = Make(op);
    made->greedy = !lazy;
    made->min = min;
    made->max = max;
    made->parts.push_back(entries_.back().node);
    Measure(*made);
    entries_.back().node = made;
    if (!Check(*made)) return false;
    if (op == PatternOp::kRepeat && (min >= 2 || max >= 2) && made->copies > kMaxRepeat)
      return Fails("invalid repeat count", Since(before, after));
    repetition_ = before;
    rest_ = after;
    return true;
  }

  // {min}, {min,} or {min,max}; what looks otherwise is text.
  bool ReadCounts() {
    std::string_view from = rest_.substr(1);
    const std::optional<int32_t> min = ReadCount(from);
    std::optional<int32_t> max = min;
    if (min && from.starts_with(',')) {
      from.remove_prefix(1);
      max = from.starts_with('}') ? -1 : ReadCount(from);
    }
    if (!min || !max || !from.starts_with('}')) {
      rest_.remove_prefix(1);
      return PushLiteral('{');
    }
    from.remove_prefix(1);
    if (*min > kMaxRepeat || *max > kMaxRepeat || (*max >= 0 && *min > *max))
      return Fails("invalid repeat count", Since(rest_, from));
    return Repeat(PatternOp::kRepeat, *min, *max, from);
  }

  // No more than a little too many.
  static std::optional<int32_t> ReadCount(std::string_view& from) {
    if (from.empty() || !IsDigit(from[0])) return std::nullopt;
    if (from.size() >= 2 && from[0] == '0' && IsDigit(from[1])) return std::nullopt;
    int32_t count = 0;
    for (; !from.empty() && IsDigit(from[0]); from.remove_prefix(1))
      count = std::min(count * 10 + (from[0] - '0'), kMaxRepeat + 1);
    return count;
  }

  // --- Escapes.

  bool ReadBackslash() {
    if (rest_.size() >= 2) {
      switch (rest_[1]) {
        case 'A':
          return PushSimple(PatternOp::kBeginText, 2);
        case 'z':
          return PushSimple(PatternOp::kEndText, 2);
        case 'b':
          return PushSimple(PatternOp::kWordBoundary, 2);
        case 'B':
          has_no_word_boundary_ = true;
          return PushSimple(PatternOp::kNoWordBoundary, 2);
        case 'C':
          return Fails("invalid escape sequence", rest_.substr(0, 2));
        case 'Q':
          return ReadQuoted();
        default:
          break;
      }
    }
    RuneSet set;
    bool found = false;
    if (!ReadClassEscape(rest_, set, found)) return false;
    if (found) return CountWork(set) && PushSet(std::move(set));
    char32_t rune = 0;
    return ReadEscape(rest_, rune) && PushLiteral(rune);
  }

  bool ReadQuoted() {
    std::string_view quoted = rest_.substr(2);
    const size_t end = quoted.find("\\E");
    rest_ = end == std::string_view::npos ? "" : quoted.substr(end + 2);
    quoted = quoted.substr(0, end);
    while (!quoted.empty())
      if (!ReadLiteral(quoted)) return false;
    return true;
  }

  // \d, \pL, \p{Greek} and the like, if `from` begins with one.
  bool ReadClassEscape(std::string_view& from, RuneSet& set, bool& found) {
    found = false;
    if (from.size() < 2 || from[0] != '\\') return true;
    if (from[1] == 'p' || from[1] == 'P') {
      found = true;
      return ReadProperty(from, set);
    }
    const char small = static_cast<char>(from[1] | 0x20);
    for (const AsciiClass& known : kPerlClasses) {
      if (known.name[0] != small) continue;
      found = true;
      AddAscii(known, from[1] != small, set);
      from.remove_prefix(2);
      return true;
    }
    return true;
  }

  void AddAscii(const AsciiClass& known, bool negated, RuneSet& set) {
    AddClass(known.name, negated, flags_.any_case, set, [&](RuneSet& own) {
      for (size_t i = 0; i + 1 < known.ranges.size(); i += 2)
        own.Add(static_cast<unsigned char>(known.ranges[i]),
                static_cast<unsigned char>(known.ranges[i + 1]));
      return true;
    });
  }

  // What `fill` makes of the class of that name is made once, and is added to a set once. False:
  // there is none.
  template <typename Fill>
  bool AddClass(std::string_view name, bool negated, bool any_case, RuneSet& set,
                const Fill& fill) {
    std::string key = any_case ? "i" : "-";
    key += negated ? '^' : '-';
    key += name;
    const auto [at, is_new] = classes_.try_emplace(std::move(key));
    if (is_new) {
      RuneSet own;
      if (!fill(own)) return false;
      at->second = std::make_unique<const RuneSet>(Finished(own, negated, any_case));
      work_ += own.work() + at->second->work();
    }
    if (added_.insert(at->second.get()).second) set.Add(*at->second);
    return true;
  }

  static RuneSet Finished(const RuneSet& known, bool negated, bool any_case) {
    RuneSet own;
    if (any_case) {
      own.AddFolded(known);
    } else {
      own.Add(known);
    }
    own.Clean();
    if (!negated) return own;
    RuneSet others;
    others.AddAllBut(own);
    others.Clean();
    return others;
  }

  bool CountWork(const RuneSet& set) {
    added_.clear();
    work_ += set.work();
    return work_ <= kMaxWork || Fails(kTooLarge, whole_);
  }

  bool ReadProperty(std::string_view& from, RuneSet& set) {
    bool negated = from[1] == 'P';
    std::string_view rest = from.substr(2);
    char32_t c = 0;
    if (!NextRune(rest, c)) return false;
    std::string_view name = Since(from, rest).substr(2);
    if (c == '{') {
      const size_t end = from.find('}');
      if (end == std::string_view::npos) return CheckUtf8(from) && Fails(kInvalidRange, from);
      name = from.substr(3, end - 3);
      rest = from.substr(end + 1);
      if (!CheckUtf8(name)) return false;
    }
    const std::string_view all = Since(from, rest);
    if (name.starts_with('^')) {
      negated = !negated;
      name.remove_prefix(1);
    }
    // No class of ASCII has such a name.
    const std::string key = "p" + std::string(name);
    const bool any_case = flags_.any_case && RuneSet::HasOtherCases(name);
    if (!AddClass(key, negated, any_case, set, [&](RuneSet& own) {
          const bool is_known = own.AddProperty(name);
          own.Clean();
          return is_known;
        }))
      return Fails(kInvalidRange, all);
    from = rest;
    return true;
  }

  // One code point; `from` begins with a backslash.
  bool ReadEscape(std::string_view& from, char32_t& rune) {
    std::string_view rest = from.substr(1);
    if (rest.empty()) return Fails("trailing backslash at end of expression", "");
    char32_t c = 0;
    if (!NextRune(rest, c)) return false;
    if (c == 'x') return ReadHex(from, rest, rune);
    const std::optional<char32_t> read = ReadShort(c, rest);
    if (!read) return Fails("invalid escape sequence", Since(from, rest));
    rune = *read;
    from = rest;
    return true;
  }

  // All but \x. `c` follows the backslash, `rest` it.
  static std::optional<char32_t> ReadShort(char32_t c, std::string_view& rest) {
    const auto octal = [&] { return !rest.empty() && rest[0] >= '0' && rest[0] <= '7'; };
    if (c == '0' || (c >= '1' && c <= '7' && octal())) {
      char32_t value = c - '0';
      for (int i = 1; i < 3 && octal(); ++i, rest.remove_prefix(1))
        value = value * 8 + static_cast<char32_t>(rest[0] - '0');
      return value;
    }
    constexpr std::string_view kLetters = "afnrtv";
    constexpr std::string_view kMeanings = "\a\f\n\r\t\v";
    if (c < 0x80) {
      const size_t at = kLetters.find(static_cast<char>(c));
      if (at != std::string_view::npos) return kMeanings[at];
      if (!IsWordCharacter(c) || c == '_') return c;
    }
    return std::nullopt;
  }

  bool ReadHex(std::string_view& from, std::string_view rest, char32_t& rune) {
    const auto invalid = [&] { return Fails("invalid escape sequence", Since(from, rest)); };
    if (rest.empty()) return invalid();
    char32_t c = 0;
    if (!NextRune(rest, c)) return false;
    rune = 0;
    if (c != '{') {
      const int high = HexValue(c);
      if (!NextRune(rest, c)) return false;
      const int low = HexValue(c);
      if (high < 0 || low < 0) return invalid();
      rune = static_cast<char32_t>(high * 16 + low);
      from = rest;
      return true;
    }
    for (bool some = false;; some = true) {
      if (rest.empty()) return invalid();
      if (!NextRune(rest, c)) return false;
      if (c == '}' && some) break;
      const int value = HexValue(c);
      if (value < 0) return invalid();
      rune = rune * 16 + static_cast<char32_t>(value);
      if (rune > kLastRune) return invalid();
    }
    from = rest;
    return true;
  }

  // --- Brackets.

  bool ReadBrackets() {
    const std::string_view whole = rest_;
    std::string_view from = rest_.substr(1);
    const bool negated = from.starts_with('^');
    if (negated) from.remove_prefix(1);
    RuneSet set;
    for (bool first = true; first || !from.starts_with(']'); first = false) {
      if (!ReadInBrackets(from, whole, set)) return false;
      if (work_ + set.work() > kMaxWork) return Fails(kTooLarge, whole_);
    }
    rest_ = from.substr(1);
    if (!CountWork(set)) return false;
    if (!negated) return PushSet(std::move(set));
    set.Clean();
    RuneSet others;
    others.AddAllBut(set);
    return PushSet(std::move(others));
  }

  bool ReadInBrackets(std::string_view& from, std::string_view whole, RuneSet& set) {
    bool found = false;
    if (!ReadPosixClass(from, set, found)) return false;
    if (found) return true;
    if (!ReadClassEscape(from, set, found)) return false;
    if (found) return true;
    const std::string_view begin = from;
    char32_t first = 0;
    if (!ReadBracketRune(from, whole, first)) return false;
    char32_t last = first;
    if (from.size() >= 2 && from[0] == '-' && from[1] != ']') {
      from.remove_prefix(1);
      if (!ReadBracketRune(from, whole, last)) return false;
      if (last < first) return Fails(kInvalidRange, Since(begin, from));
    }
    if (flags_.any_case) {
      set.AddFolded(first, last);
    } else {
      set.Add(first, last);
    }
    return true;
  }

  bool ReadBracketRune(std::string_view& from, std::string_view whole, char32_t& rune) {
    if (from.empty()) return Fails("missing closing ]", whole);
    return from[0] == '\\' ? ReadEscape(from, rune) : NextRune(from, rune);
  }

  // [:alpha:] and the like, if `from` begins with one.
  bool ReadPosixClass(std::string_view& from, RuneSet& set, bool& found) {
    found = false;
    if (!from.starts_with("[:") || from.size() < 3) return true;
    const size_t end = from.find(":]", 2);
    if (end == std::string_view::npos) return true;
    std::string_view name = from.substr(2, end - 2);
    const bool negated = name.starts_with('^');
    if (negated) name.remove_prefix(1);
    const auto known = std::find_if(std::begin(kPosixClasses), std::end(kPosixClasses),
                                    [&](const AsciiClass& row) { return row.name == name; });
    if (known == std::end(kPosixClasses)) return Fails(kInvalidRange, from.substr(0, end + 2));
    found = true;
    AddAscii(*known, negated, set);
    from.remove_prefix(end + 2);
    return true;
  }

  const std::string_view whole_;
  std::string_view rest_;
  Flags flags_;
  // From the operator on, where the node before is a repetition; else empty.
  std::string_view last_repetition_;
  std::string_view repetition_;
  std::string error_;

  PatternTree tree_;
  std::vector<PatternNode*> free_;
  std::vector<Entry> entries_;
  uint64_t leaves_ = 0;
  bool has_no_word_boundary_ = false;
  // By name, and whether of any case or negated.
  absl::flat_hash_map<std::string, std::unique_ptr<const RuneSet>> classes_;
  // Those that the set which is read has.
  absl::flat_hash_set<const RuneSet*> added_;
  uint64_t work_ = 0;
};

}  // namespace

Result<GoPattern> GoPattern::Read(std::string_view text, uint64_t* work) {
  PatternReader reader(text);
  Result<GoPattern> read = reader.Read();
  if (work != nullptr) *work = reader.work() / kWorkPerStep;
  return read;
}

}  // namespace berth::cel
