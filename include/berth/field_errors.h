// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"

// Texts of validation errors as Kubernetes prints them: `<path>: <kind>: <value>: <detail>`.
namespace berth {

// `text` in double quotes, special characters escaped.
std::string Quoted(std::string_view text);
// The texts as a JSON list; "null" when there is none.
std::string QuotedList(std::span<const std::string> texts);

// "path[index]".
std::string IndexedPath(std::string_view path, size_t index);

// `value` comes formatted: a number as is, a string Quoted().
std::string InvalidField(std::string_view path, std::string_view value, std::string_view detail);
std::string RequiredField(std::string_view path, std::string_view detail);
std::string ForbiddenField(std::string_view path, std::string_view detail);
std::string DuplicateField(std::string_view path, std::string_view value);
std::string UnsupportedField(std::string_view path, std::string_view value,
                             std::span<const std::string_view> supported);

// One problem as it is, several as "[a, b]", each text once; nullopt when there is none.
std::optional<Error> AggregateProblems(std::span<const std::string> problems);

// Why `key` is no valid label key (also: qualified name), in Kubernetes' words; empty when it is.
std::vector<std::string> LabelKeyProblems(std::string_view key);
std::vector<std::string> LabelValueProblems(std::string_view value);

}  // namespace berth
