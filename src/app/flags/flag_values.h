// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "berth/time.h"

namespace berth::app {

// The value of a flag from its text, as Go reads it. Errors are Go's words, such as
// `strconv.ParseInt: parsing "x": invalid syntax`.
template <typename T>
Result<T> ReadFlagValue(const std::string& text);
template <>
Result<std::string> ReadFlagValue(const std::string& text);
template <>
Result<bool> ReadFlagValue(const std::string& text);
template <>
Result<int32_t> ReadFlagValue(const std::string& text);
template <>
Result<int64_t> ReadFlagValue(const std::string& text);
template <>
Result<uint64_t> ReadFlagValue(const std::string& text);
template <>
Result<float> ReadFlagValue(const std::string& text);
template <>
Result<Duration> ReadFlagValue(const std::string& text);
// One line of CSV: values between commas, in double quotes where they hold commas or quotes.
template <>
Result<std::vector<std::string>> ReadFlagValue(const std::string& text);

// The value as Go's pflag prints it: "1m0s", "[a,b]". ReadFlagValue reads it back, but for lists,
// which it knows without brackets.
std::string WriteFlagValue(const std::string& value);
std::string WriteFlagValue(bool value);
std::string WriteFlagValue(int32_t value);
std::string WriteFlagValue(int64_t value);
std::string WriteFlagValue(uint64_t value);
std::string WriteFlagValue(float value);
std::string WriteFlagValue(Duration value);
std::string WriteFlagValue(const std::vector<std::string>& values);

// T, or what an optional holds.
template <typename T>
struct FlagTypeOf {
  using Type = T;
};
template <typename T>
struct FlagTypeOf<std::optional<T>> {
  using Type = T;
};
template <typename T>
using FlagType = typename FlagTypeOf<T>::Type;

// What the help text calls a value of this type.
template <typename T>
constexpr std::string_view FlagKind() {
  if constexpr (std::is_same_v<T, std::string>) return "string";
  if constexpr (std::is_same_v<T, int32_t>) return "int";
  if constexpr (std::is_same_v<T, int64_t>) return "int";
  if constexpr (std::is_same_v<T, uint64_t>) return "uint";
  if constexpr (std::is_same_v<T, float>) return "float32";
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return "strings";
  if constexpr (std::is_same_v<T, Duration>) return "duration";
  return "";
}

// What is wrong with a value of this type that cannot be read, in words that need no Go.
template <typename T>
constexpr std::string_view ValueRule() {
  if constexpr (std::is_same_v<T, bool>) return "must be true or false";
  if constexpr (std::is_same_v<T, int32_t>) return "must be a whole number";
  if constexpr (std::is_same_v<T, uint64_t>) return "must be a whole number, 0 or more";
  if constexpr (std::is_same_v<T, float>) return "must be a number";
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return "must be values between commas";
  if constexpr (std::is_same_v<T, Duration>)
    return "must be a time with its unit, such as 90s or 2m";
  return "cannot be read";
}

}  // namespace berth::app
