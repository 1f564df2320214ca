// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "berth/config_value.h"
#include "berth/result.h"

// Files into document trees.
//
// Thread safety: any thread.
namespace berth::documents {

// Every document of a YAML stream, empty ones left out. Plain scalars, keys, anchors and merges
// mean what they mean to sigs.k8s.io/yaml: `yes` is true, 010 is 8, a number with no fraction is an
// integer however it was written; tests/unit/documents/testdata/yaml_cases.json has the known
// differences. Errors: bad syntax, a key that stands twice in a map, a value that JSON does not
// have; with the file and the line. `file_name` may be "".
Result<std::vector<ConfigValue>> ParseYaml(std::string_view text, std::string_view file_name);

// The first document alone, null where it is empty: what follows it is not looked at, and may be no
// YAML. Errors: as ParseYaml's.
Result<ConfigValue> ParseFirstYaml(std::string_view text, std::string_view file_name);

// Takes one document over; they are numbered from 1, empty ones too. A failure ends the parsing.
using YamlVisitor = std::function<Result<void>(ConfigValue&& document, size_t number)>;
// Called now and then with the number of characters that have been read.
using YamlProgress = std::function<void(size_t characters)>;

// How a stream is read.
struct YamlOptions {
  // Where there is one, a key may stand twice in a map, as kubectl reads files: the last one
  // counts, one that << merges included. Called for the second of two that were both written there.
  // What is !!binary, as no field that is read, is then kept as it was written.
  std::function<void(int line, std::string_view key)> on_repeated_key = nullptr;
  // Where the text begins in its file.
  int first_line = 1;
  size_t first_document = 1;
  // Nothing behind the first document matters.
  bool first_only = false;
};

// The same, document by document; a document with an error is not visited, nor is any after it.
// Errors: also what `visit` says, as it is.
Result<void> ForEachYamlDocument(std::string_view text, std::string_view file_name,
                                 const YamlVisitor& visit, const YamlProgress& progress = nullptr,
                                 const YamlOptions& options = {});

// One JSON value; its parts have no line. Errors: bad syntax, with file and line; a member that
// stands twice in an object.
Result<ConfigValue> ParseJson(std::string_view text, std::string_view file_name);
// The same, but of members of one key the last one counts; `on_repeated_key` gets each other
// one.
Result<ConfigValue> ParseJson(std::string_view text, std::string_view file_name,
                              const std::function<void(std::string_view key)>& on_repeated_key);

}  // namespace berth::documents
