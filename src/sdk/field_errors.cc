// SPDX-License-Identifier: Apache-2.0
#include "berth/field_errors.h"

#include <algorithm>
#include <cstdio>

#include "absl/container/flat_hash_set.h"

namespace berth {
namespace {

constexpr std::string_view kNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character";
constexpr std::string_view kNameFormat = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
constexpr std::string_view kSubdomainFormat =
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
constexpr size_t kMaxName = 63;
constexpr size_t kMaxSubdomain = 253;

bool IsLower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlphanumeric(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }

bool IsName(std::string_view text) {
  return !text.empty() && IsAlphanumeric(text.front()) && IsAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsSubdomain(std::string_view text) {
  while (true) {
    const size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    if (label.empty() || !IsLower(label.front()) || !IsLower(label.back()) ||
        !std::all_of(label.begin(), label.end(), [](char c) { return IsLower(c) || c == '-'; })) {
      return false;
    }
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

std::string TooLong(size_t limit) {
  return "must be no more than " + std::to_string(limit) + " bytes";
}

std::string FormatProblem(std::string_view rule, std::string_view format,
                          std::initializer_list<std::string_view> examples) {
  std::string text(rule);
  text += " (e.g. ";
  bool first = true;
  for (std::string_view example : examples) {
    if (!first) text += " or ";
    first = false;
    text.append("'").append(example).append("', ");
  }
  return text.append("regex used for validation is '").append(format).append("')");
}

std::string NameProblem() {
  return FormatProblem(kNameRule, kNameFormat, {"MyName", "my.name", "123-abc"});
}

void CheckPrefix(std::string_view prefix, std::vector<std::string>& problems) {
  if (prefix.empty()) {
    problems.push_back("prefix part must be non-empty");
    return;
  }
  if (prefix.size() > kMaxSubdomain) problems.push_back("prefix part " + TooLong(kMaxSubdomain));
  if (!IsSubdomain(prefix)) {
    problems.push_back(
        "prefix part " +
        FormatProblem("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                      "characters, '-' or '.', and must start and end with an alphanumeric "
                      "character",
                      kSubdomainFormat, {"example.com"}));
  }
}

std::string Text(std::string_view path, std::string_view kind, std::string_view value,
                 std::string_view detail) {
  std::string text(path);
  text.append(": ").append(kind);
  if (!value.empty()) text.append(": ").append(value);
  if (!detail.empty()) text.append(": ").append(detail);
  return text;
}

}  // namespace

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\r':
        quoted += "\\r";
        break;
      case '\t':
        quoted += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          char escape[8];
          std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
          quoted += escape;
        } else {
          quoted += c;
        }
    }
  }
  return quoted + "\"";
}

std::string IndexedPath(std::string_view path, size_t index) {
  return std::string(path) + "[" + std::to_string(index) + "]";
}

std::string QuotedList(std::span<const std::string> texts) {
  if (texts.empty()) return "null";
  std::string list = "[";
  for (const std::string& text : texts) {
    if (list.size() > 1) list += ',';
    list += Quoted(text);
  }
  return list + "]";
}

std::string InvalidField(std::string_view path, std::string_view value, std::string_view detail) {
  return Text(path, "Invalid value", value, detail);
}

std::string RequiredField(std::string_view path, std::string_view detail) {
  return Text(path, "Required value", "", detail);
}

std::string ForbiddenField(std::string_view path, std::string_view detail) {
  return Text(path, "Forbidden", "", detail);
}

std::string DuplicateField(std::string_view path, std::string_view value) {
  return Text(path, "Duplicate value", value, "");
}

std::string UnsupportedField(std::string_view path, std::string_view value,
                             std::span<const std::string_view> supported) {
  std::string detail = "supported values: ";
  for (size_t i = 0; i < supported.size(); ++i) {
    if (i > 0) detail += ", ";
    detail += Quoted(supported[i]);
  }
  return Text(path, "Unsupported value", value, supported.empty() ? "" : detail);
}

std::optional<Error> AggregateProblems(std::span<const std::string> problems) {
  std::vector<std::string_view> unique;
  absl::flat_hash_set<std::string_view> known;
  for (const std::string& problem : problems) {
    if (known.insert(problem).second) unique.push_back(problem);
  }
  if (unique.empty()) return std::nullopt;
  if (unique.size() == 1) return Error{std::string(unique.front())};
  std::string text = "[";
  for (size_t i = 0; i < unique.size(); ++i) {
    if (i > 0) text += ", ";
    text += unique[i];
  }
  return Error{text + "]"};
}

std::vector<std::string> LabelKeyProblems(std::string_view key) {
  std::vector<std::string> problems;
  const size_t slashes = static_cast<size_t>(std::count(key.begin(), key.end(), '/'));
  if (slashes > 1) {
    problems.push_back("a valid label key " + NameProblem() +
                       " with an optional DNS subdomain prefix and '/' (e.g. "
                       "'example.com/MyName')");
    return problems;
  }
  std::string_view name = key;
  if (slashes == 1) {
    const size_t slash = key.find('/');
    CheckPrefix(key.substr(0, slash), problems);
    name = key.substr(slash + 1);
  }
  if (name.empty()) {
    problems.push_back("name part must be non-empty");
  } else if (name.size() > kMaxName) {
    problems.push_back("name part " + TooLong(kMaxName));
  }
  if (!IsName(name)) problems.push_back("name part " + NameProblem());
  return problems;
}

std::vector<std::string> LabelValueProblems(std::string_view value) {
  std::vector<std::string> problems;
  if (value.size() > kMaxName) problems.push_back(TooLong(kMaxName));
  if (!value.empty() && !IsName(value)) {
    problems.push_back(
        FormatProblem("a valid label must be an empty string or consist of "
                      "alphanumeric characters, '-', '_' or '.', and must start and "
                      "end with an alphanumeric character",
                      "(" + std::string(kNameFormat) + ")?", {"MyValue", "my_value", "12345"}));
  }
  return problems;
}

}  // namespace berth
