// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "src/app/flags/flag_values.h"

namespace berth::app {

// The flags of one command, read as kube-scheduler reads its own (the rules of Go's pflag):
//  - '_' in a flag's name counts as '-';
//  - a value follows after '=' (it may be empty) or as the next argument, whatever it begins with;
//  - a switch takes a value after '=' only, and is true without one;
//  - the last of repeated values counts, but for lists;
//  - "--" ends the flags;
//  - switches of one letter may stand together with what follows them: "-hv4".
// Errors are worded as there: `unknown flag: --x`, `invalid argument "1.5" for "--x" flag: ...`,
// and with Words::kOwn without the names of Go's functions, and with the flag that was probably
// meant.
//
// Thread safety: one owner.
class FlagSet {
 public:
  // What a flag takes; a function gets each value that is given and says what is wrong with it.
  using Setter = std::function<Result<void>(const std::string& value)>;
  // What a flag stands at, as text.
  using Shown = std::function<std::string()>;

  enum class Words { kKubeScheduler, kOwn };

  // `program` and `description` open the help text.
  FlagSet(const std::string& program, const std::string& description,
          Words words = Words::kKubeScheduler);
  ~FlagSet();
  FlagSet(const FlagSet&) = delete;
  FlagSet& operator=(const FlagSet&) = delete;

  // Flags declared from now on stand under this heading.
  void Group(std::string heading) { group_ = std::move(heading); }

  // A flag whose values go to `set` in the order given. `kind` is shown in the help text, and
  // `show` says what the flag stands at; without it, that is the last value given, or "".
  void Add(const std::string& name, std::string_view kind, const std::string& help, Setter set,
           Shown show = {});
  // A text that must not be empty, and one that may be.
  void AddText(const std::string& name, std::string_view kind, const std::string& help,
               std::string& out);
  void AddAnyText(const std::string& name, std::string_view kind, const std::string& help,
                  std::string& out);
  // A flag whose value is what `read(text)` makes of the text.
  template <typename Read, typename T>
  void AddRead(const std::string& name, std::string_view kind, const std::string& help, Read read,
               T& out, Shown show = {}) {
    const auto set = [&out, read](const std::string& text) -> Result<void> {
      auto value = read(text);
      if (!value) return Fail(value.error());
      out = *std::move(value);
      return {};
    };
    Add(name, kind, help, set, std::move(show));
  }
  // A switch: `set` gets "true" where no value is given.
  void AddSwitch(const std::string& name, const std::string& help, Setter set, Shown show = {});

  // A flag of a type that ReadFlagValue knows; `out` may be an optional, for which `otherwise` says
  // what holds where the flag is not given. Repeated lists add up; the first one given replaces
  // what `out` held before.
  template <typename T>
  void Value(const std::string& name, const std::string& help, T& out,
             const std::string& otherwise = "") {
    using Plain = FlagType<T>;
    const auto show = [&out, otherwise] {
      if constexpr (std::is_same_v<T, Plain>) {
        return WriteFlagValue(out);
      } else {
        return out ? WriteFlagValue(*out) : otherwise;
      }
    };
    const auto set = [&out, given = false,
                      words = words_](const std::string& text) mutable -> Result<void> {
      auto value = ReadFlagValue<Plain>(text);
      if (!value && words == Words::kOwn) return Fail(std::string(ValueRule<Plain>()));
      if (!value) return Fail(value.error());
      if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        if (given) value->insert(value->begin(), out.begin(), out.end());
      }
      given = true;
      out = std::move(*value);
      return {};
    };
    if constexpr (std::is_same_v<Plain, bool>) {
      AddSwitch(name, help, set, show);
    } else {
      Add(name, FlagKind<Plain>(), help, set, show);
    }
  }

  // Calls the setters; returns the arguments that are no flags. Errors: the first problem.
  // "-v4" and "-v=4" stand for "--v=4", "-h" for "--help", "-o" for "--output", "-n" for
  // "--namespace", "-A" for "--all-namespaces", where such a flag was added.
  Result<std::vector<std::string>> Parse(const std::vector<std::string>& arguments);

  // Whether Parse() saw the flag.
  bool Given(std::string_view name) const;

  // What each flag stands at, given or not, by name. What the flags write to must still be there.
  std::map<std::string, std::string> Values() const;

  // All flags with their help, by heading, fitted to the terminal that standard output goes to.
  std::string Usage() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  const Words words_;
  std::string group_;
};

}  // namespace berth::app
