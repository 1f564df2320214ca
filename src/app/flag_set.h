// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "src/app/flag_values.h"

namespace berth::app {

// The flags of one command, read as kube-scheduler reads its own (the rules of Go's pflag):
//  - '_' in a flag's name counts as '-';
//  - a value follows after '=' (it may be empty) or as the next argument, whatever it begins with;
//  - a switch takes a value after '=' only, and is true without one;
//  - the last of repeated values counts, but for lists;
//  - "--" ends the flags.
// Errors are worded as there: `unknown flag: --x`, `invalid argument "1.5" for "--x" flag: ...`.
//
// Thread safety: one owner.
class FlagSet {
 public:
  // What a flag takes; a function gets each value that is given and says what is wrong with it.
  using Setter = std::function<Result<void>(const std::string& value)>;

  // `program` and `description` open the help text.
  FlagSet(const std::string& program, const std::string& description);
  ~FlagSet();
  FlagSet(const FlagSet&) = delete;
  FlagSet& operator=(const FlagSet&) = delete;

  // Flags declared from now on stand under this heading.
  void Group(std::string heading) { group_ = std::move(heading); }

  // A flag whose values go to `set` in the order given. `kind` is shown in the help text.
  void Add(const std::string& name, std::string_view kind, const std::string& help, Setter set);
  // A switch: `set` gets "true" where no value is given.
  void AddSwitch(const std::string& name, const std::string& help, Setter set);

  // A flag of a type that ReadFlagValue knows; `out` may be an optional. Repeated lists add up; the
  // first one given replaces what `out` held before.
  template <typename T>
  void Value(const std::string& name, const std::string& help, T& out) {
    using Plain = FlagType<T>;
    const auto set = [&out, given = false](const std::string& text) mutable -> Result<void> {
      auto value = ReadFlagValue<Plain>(text);
      if (!value) return Fail(value.error());
      if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        if (given) value->insert(value->begin(), out.begin(), out.end());
      }
      given = true;
      out = std::move(*value);
      return {};
    };
    if constexpr (std::is_same_v<Plain, bool>) {
      AddSwitch(name, help, set);
    } else {
      Add(name, FlagKind<Plain>(), help, set);
    }
  }

  // Calls the setters; returns the arguments that are no flags. Errors: the first problem.
  // "-v4" and "-v=4" stand for "--v=4", "-h" for "--help", "-o" for "--output", where such a flag
  // was added.
  Result<std::vector<std::string>> Parse(const std::vector<std::string>& arguments);

  // Whether Parse() saw the flag.
  bool Given(std::string_view name) const;

  // All flags with their help, by heading.
  std::string Usage() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string group_;
};

}  // namespace berth::app
