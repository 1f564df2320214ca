// SPDX-License-Identifier: Apache-2.0
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "src/documents/parse.h"
#include "src/documents/yaml_builder.h"

namespace berth::documents {
namespace {

// Where a character stands that YAML does not allow; npos: nowhere.
size_t FindControlCharacter(std::string_view text) {
  const auto is_control = [](char c) {
    return c == '\x7F' || (c >= 0 && c < ' ' && c != '\t' && c != '\n' && c != '\r');
  };
  const auto found = std::find_if(text.begin(), text.end(), is_control);
  return found == text.end() ? text.npos : static_cast<size_t>(found - text.begin());
}

}  // namespace

Result<void> ForEachYamlDocument(std::string_view text, std::string_view file_name,
                                 const YamlVisitor& visit, const YamlProgress& progress,
                                 const YamlOptions& options) {
  if (const size_t at = FindControlCharacter(text); at != text.npos) {
    const auto line = options.first_line +
                      std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n');
    return Fail(YamlBuilder::At(file_name, static_cast<int>(line)) +
                "yaml: control characters are not allowed");
  }
  YamlBuilder builder(visit, progress, options);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (!builder.done() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::ParserException& error) {
    // The parser looks ahead.
    if (builder.done()) return builder.Finish(file_name);
    return Fail(YamlBuilder::At(file_name, builder.LineOf(error.mark)) + "yaml: " + error.msg);
  } catch (const std::exception& error) {
    return Fail(std::string(file_name) + ": yaml: " + error.what());
  }
  return builder.Finish(file_name);
}

Result<std::vector<ConfigValue>> ParseYaml(std::string_view text, std::string_view file_name) {
  std::vector<ConfigValue> documents;
  const auto collect = [&documents](ConfigValue&& document, size_t) -> Result<void> {
    documents.push_back(std::move(document));
    return {};
  };
  if (auto read = ForEachYamlDocument(text, file_name, collect); !read) return Fail(read.error());
  return documents;
}

Result<ConfigValue> ParseFirstYaml(std::string_view text, std::string_view file_name) {
  ConfigValue first;
  const auto keep = [&first](ConfigValue&& document, size_t) -> Result<void> {
    first = std::move(document);
    return {};
  };
  auto read = ForEachYamlDocument(text, file_name, keep, nullptr, {.first_only = true});
  if (!read) return Fail(read.error());
  return first;
}

}  // namespace berth::documents
