// SPDX-License-Identifier: Apache-2.0
#include "src/cel/pattern.h"

#include <re2/re2.h>

#include <utility>

#include "src/cel/go_text.h"

namespace berth::cel {
namespace {

// Go's words for what RE2 found.
std::string GoError(re2::RE2::ErrorCode code) {
  switch (code) {
    case re2::RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case re2::RE2::ErrorBadCharClass:
      return "invalid character class";
    case re2::RE2::ErrorBadCharRange:
      return "invalid character class range";
    case re2::RE2::ErrorMissingBracket:
      return "missing closing ]";
    case re2::RE2::ErrorMissingParen:
      return "missing closing )";
    case re2::RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case re2::RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case re2::RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case re2::RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case re2::RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case re2::RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case re2::RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case re2::RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    default:
      return "expression too large";
  }
}

}  // namespace

Pattern::Pattern(std::unique_ptr<const re2::RE2> regex) : regex_(std::move(regex)) {}
Pattern::~Pattern() = default;

Result<std::shared_ptr<const Pattern>> Pattern::Compile(const std::string& text) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto regex = std::make_unique<const re2::RE2>(text, options);
  if (!regex->ok())
    return Fail("error parsing regexp: " + GoError(regex->error_code()) + ": `" +
                regex->error_arg() + "`");
  return std::make_shared<const Pattern>(std::move(regex));
}

bool Pattern::Matches(std::string_view text) const {
  return regex_->Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, nullptr,
                       0);
}

std::string Pattern::Find(std::string_view text) const {
  re2::StringPiece found;
  if (!regex_->Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, &found, 1))
    return "";
  return std::string(found.data(), found.size());
}

std::vector<std::string> Pattern::FindAll(std::string_view text, int64_t most) const {
  std::vector<std::string> all;
  const re2::StringPiece whole(text.data(), text.size());
  size_t at = 0;
  // An empty match right after another match does not count.
  size_t last_end = std::string_view::npos;
  while (at <= text.size() && (most < 0 || static_cast<int64_t>(all.size()) < most)) {
    re2::StringPiece found;
    if (!regex_->Match(whole, at, text.size(), re2::RE2::UNANCHORED, &found, 1)) break;
    const auto begin = static_cast<size_t>(found.data() - text.data());
    const size_t end = begin + found.size();
    if (!found.empty() || begin != last_end) all.emplace_back(found.data(), found.size());
    last_end = end;
    if (!found.empty()) {
      at = end;
    } else {
      at = end < text.size() ? end + FirstRune(text.substr(end)).length : end + 1;
    }
  }
  return all;
}

}  // namespace berth::cel
