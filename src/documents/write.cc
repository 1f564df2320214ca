// SPDX-License-Identifier: Apache-2.0
#include "src/documents/write.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "berth/field_errors.h"

namespace berth::documents {
namespace {

using Lines = std::vector<std::string>;
using List = ConfigValue::List;
using Map = ConfigValue::Map;

// Whether `text` reads back as a string, also with YAML 1.1's booleans, without quotes.
bool IsPlain(const std::string& text) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"y", "n", "yes", "no", "on", "off", "true", "false", "null"});
  const std::string lower = absl::AsciiStrToLower(text);
  if (text.empty() || std::find(kWords.begin(), kWords.end(), lower) != kWords.end()) return false;
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  return (is_letter(static_cast<unsigned char>(text[0])) || text[0] == '/') &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 ||
                  std::string_view("-_./").find(static_cast<char>(c)) != std::string_view::npos;
         });
}

std::string Scalar(const ConfigValue& value) {
  if (const std::string* text = value.string()) return IsPlain(*text) ? *text : Quoted(*text);
  return value.ToJson();
}

bool IsBlock(const ConfigValue& value) {
  return (value.map() != nullptr && !value.map()->empty()) ||
         (value.list() != nullptr && !value.list()->empty());
}

Lines Block(const ConfigValue& value) {
  Lines lines;
  if (!IsBlock(value)) return {Scalar(value)};
  if (const List* list = value.list()) {
    for (const ConfigValue& element : *list) {
      std::string prefix = "- ";
      for (const std::string& line : Block(element)) {
        lines.push_back(prefix + line);
        prefix = "  ";
      }
    }
    return lines;
  }
  Map entries = *value.map();
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [name, member] : entries) {
    const std::string key = IsPlain(name) ? name : Quoted(name);
    if (!IsBlock(member)) {
      lines.push_back(key + ": " + Scalar(member));
      continue;
    }
    lines.push_back(key + ":");
    const std::string indent = member.map() != nullptr ? "  " : "";
    for (const std::string& line : Block(member)) lines.push_back(indent + line);
  }
  return lines;
}

void AppendIndentedJson(const ConfigValue& value, const std::string& newline, std::string& out) {
  if (!IsBlock(value)) {
    out += value.ToJson();
    return;
  }
  const std::string deeper = newline + "  ";
  std::string before = deeper;
  if (const List* list = value.list()) {
    out += '[';
    for (const ConfigValue& element : *list) {
      out += before;
      AppendIndentedJson(element, deeper, out);
      before = "," + deeper;
    }
    out.append(newline).append("]");
    return;
  }
  out += '{';
  for (const auto& [name, member] : *value.map()) {
    out.append(before).append(ConfigValue(name).ToJson()).append(": ");
    AppendIndentedJson(member, deeper, out);
    before = "," + deeper;
  }
  out.append(newline).append("}");
}

}  // namespace

std::string ToYaml(const ConfigValue& value) {
  std::string text;
  for (const std::string& line : Block(value)) text += line + "\n";
  return text;
}

std::string ToIndentedJson(const ConfigValue& value) {
  std::string text;
  AppendIndentedJson(value, "\n", text);
  return text;
}

std::string ToCbor(const ConfigValue& value) {
  // Tag 55799, by which readers tell CBOR from all else (RFC 8949, 3.4.6); Kubernetes asks for it.
  std::string bytes = "\xd9\xd9\xf7";
  nlohmann::json::to_cbor(nlohmann::json::parse(value.ToJson()), bytes);
  return bytes;
}

}  // namespace berth::documents
