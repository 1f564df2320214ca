// SPDX-License-Identifier: Apache-2.0
#include "src/cel/pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "src/cel/go_text.h"

namespace berth::cel {
namespace {

constexpr uint64_t kStepsPerPattern = 100;
// To read Go's words, and to write and read RE2's.
constexpr uint64_t kStepsPerByteOfPattern = 5;
constexpr uint64_t kStepsPerByteForRe2 = 1;

// What a step of matching tries, a bit each.
constexpr uint64_t kInstructionsPerStep = 16;

// RE2 remembers what it met in texts within this room, and goes on without where it is too small.
constexpr uint64_t kRoom = uint64_t{32} << 10;
constexpr uint64_t kMostRoom = uint64_t{8} << 20;
// RE2 gives its instructions, of 8 bytes, two thirds of what it may take; twice that, as their
// number is about right.
constexpr uint64_t kBytesToCompile = 24;
// The pattern's text and tree, which RE2 keeps.
constexpr uint64_t kBytesPerCharacter = 2;
constexpr uint64_t kBytesPerNode = 128;

bool SpendSteps(uint64_t steps, uint64_t* left) {
  if (left == nullptr) return true;
  *left -= std::min(steps, *left);
  return *left > 0;
}

uint64_t StepsToCompile(const GoPattern& pattern) {
  return pattern.re2.size() * kStepsPerByteForRe2 +
         pattern.instructions * Pattern::kStepsPerInstruction;
}

uint64_t RoomFor(const GoPattern& pattern) {
  return std::max(std::min(kRoom + pattern.instructions * Pattern::kBytesPerInstruction, kMostRoom),
                  kRoom + pattern.instructions * kBytesToCompile);
}

// Text as RE2 reads it, which passes over what is no UTF-8.
class ReadableText {
 public:
  explicit ReadableText(std::string_view text) : text_(text), readable_(text) {
    if (IsValidUtf8(text)) return;
    while (!text.empty()) {
      const Rune rune = FirstRune(text);
      AppendRune(copy_, rune.value);
      origins_.resize(copy_.size(), text_.size() - text.size());
      text.remove_prefix(rune.length);
    }
    origins_.push_back(text_.size());
    readable_ = copy_;
  }

  std::string_view readable() const { return readable_; }
  // The part of the original text.
  std::string Part(size_t begin, size_t end) const {
    if (origins_.empty()) return std::string(text_.substr(begin, end - begin));
    return std::string(text_.substr(origins_[begin], origins_[end] - origins_[begin]));
  }

 private:
  const std::string_view text_;
  std::string copy_;
  // Of each byte of the copy, where its character begins; and the end. Empty: there is no copy.
  std::vector<size_t> origins_;
  std::string_view readable_;
};

// Of text that is UTF-8.
bool IsInsideCharacter(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Pattern::Pattern(std::unique_ptr<const re2::RE2> regex, const GoPattern& from, uint64_t bytes)
    : regex_(std::move(regex)),
      instructions_(from.instructions),
      bytes_(bytes),
      has_no_word_boundary_(from.has_no_word_boundary) {}
Pattern::~Pattern() = default;

uint64_t Pattern::instructions() const { return static_cast<uint64_t>(regex_->ProgramSize()); }

Result<std::shared_ptr<const Pattern>> Pattern::Compile(const std::string& text,
                                                        uint64_t* steps_left) {
  const auto spend = [&](uint64_t steps) -> Result<void> {
    if (SpendSteps(steps, steps_left)) return {};
    return Fail("patterns take too much work");
  };
  const uint64_t read = std::min<uint64_t>(text.size(), GoPattern::kMaxBytes);
  if (Result<void> spent = spend(kStepsPerPattern + read * kStepsPerByteOfPattern); !spent)
    return Fail(spent.error());
  uint64_t work = 0;
  const Result<GoPattern> pattern = GoPattern::Read(text, &work);
  if (Result<void> spent = spend(work + (pattern ? StepsToCompile(*pattern) : 0)); !spent)
    return Fail(spent.error());
  if (!pattern) return Fail(pattern.error());
  const uint64_t room = RoomFor(*pattern);
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(static_cast<int64_t>(room));
  auto regex = std::make_unique<const re2::RE2>(Piece(pattern->re2), options);
  if (!regex->ok()) return Fail("error parsing regexp: expression too large: `" + text + "`");
  const uint64_t kept = pattern->re2.size() * kBytesPerCharacter + pattern->nodes * kBytesPerNode;
  return std::make_shared<const Pattern>(std::move(regex), *pattern, room + kept);
}

Result<std::shared_ptr<const Pattern>> Patterns::Compile(const std::string& text) {
  if (exhausted()) return Fail("patterns take too much work");
  const auto [at, is_new] = compiled_.try_emplace(text, nullptr);
  if (!is_new) return at->second;
  at->second = Pattern::Compile(text, &steps_left_);
  if (at->second) bytes_ += (*at->second)->bytes();
  return at->second;
}

bool Pattern::Spend(size_t bytes, uint64_t* steps_left) const {
  return SpendSteps(1 + bytes * (1 + instructions_ / kInstructionsPerStep), steps_left);
}

std::optional<Pattern::Span> Pattern::Next(std::string_view text, size_t at,
                                           uint64_t* steps_left) const {
  while (at <= text.size() && Spend(text.size() - at, steps_left)) {
    re2::StringPiece found;
    if (!regex_->Match(Piece(text), at, text.size(), re2::RE2::UNANCHORED, &found, 1)) break;
    const auto begin = static_cast<size_t>(found.data() - text.data());
    if (!IsInsideCharacter(text, begin)) return Span{begin, begin + found.size()};
    // Nothing but an empty match begins there.
    at = begin;
    while (IsInsideCharacter(text, at)) ++at;
  }
  return std::nullopt;
}

bool Pattern::Matches(std::string_view text, uint64_t* steps_left) const {
  if (!Spend(text.size(), steps_left)) return false;
  const ReadableText read(text);
  const std::string_view whole = read.readable();
  if (!regex_->Match(Piece(whole), 0, whole.size(), re2::RE2::UNANCHORED, nullptr, 0)) return false;
  return !has_no_word_boundary_ || Next(whole, 0, steps_left).has_value();
}

std::string Pattern::Find(std::string_view text, uint64_t* steps_left) const {
  const std::vector<std::string> found = FindAll(text, 1, steps_left);
  return found.empty() ? "" : found.front();
}

std::vector<std::string> Pattern::FindAll(std::string_view text, int64_t most,
                                          uint64_t* steps_left) const {
  std::vector<std::string> all;
  const ReadableText read(text);
  const std::string_view whole = read.readable();
  size_t at = 0;
  // An empty match right after another match does not count.
  size_t last_end = std::string_view::npos;
  while (most < 0 || static_cast<int64_t>(all.size()) < most) {
    const std::optional<Span> found = Next(whole, at, steps_left);
    if (!found) break;
    const auto [begin, end] = *found;
    const bool is_empty = begin == end;
    if (!is_empty || begin != last_end) all.push_back(read.Part(begin, end));
    last_end = end;
    if (!is_empty) {
      at = end;
    } else {
      at = end < whole.size() ? end + FirstRune(whole.substr(end)).length : end + 1;
    }
  }
  return all;
}

}  // namespace berth::cel
