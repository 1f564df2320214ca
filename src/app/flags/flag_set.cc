// SPDX-License-Identifier: Apache-2.0
#include "src/app/flags/flag_set.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "berth/field_errors.h"
#include "src/app/commands/terminal.h"
#include "src/base/suggestion.h"

namespace berth::app {

// CLI11 keeps the declarations and prints them. It does not parse: `--x=` (an empty value),
// `--x -1` and `--switch false` mean something else to it than to kube-scheduler.
struct FlagSet::Impl {
  struct Flag {
    Setter set;
    Shown show;
    std::string last;  // value given
    bool is_switch = false;
    bool given = false;
  };

  const Flag* Find(std::string_view name) const {
    const auto it = flags.find(name);
    return it == flags.end() ? nullptr : &it->second;
  }
  Flag* Find(std::string_view name) {
    const auto it = flags.find(name);
    return it == flags.end() ? nullptr : &it->second;
  }
  // "-v4" and "-v=4" as "--v=4", "-h" as "--help"; `rest` takes what follows a switch, "-v4" of
  // "-hv4". Errors: no flag has that letter.
  Result<std::string> LongForm(const std::string& argument, std::string& rest) const;
  // The flag that was probably meant; "": none.
  std::string Meant(std::string_view name) const {
    base::Suggestion suggestion(name);
    for (const auto& [known, flag] : flags) suggestion.Try(known);
    return suggestion.word();
  }

  CLI::App app;
  std::map<std::string, Flag, std::less<>> flags;
};

namespace {

// The flags with a short form.
constexpr std::pair<char, std::string_view> kShortForms[] = {
    {'v', "v"}, {'h', "help"}, {'o', "output"}, {'n', "namespace"}, {'A', "all-namespaces"}};

// "-o,--output" with `between` after the comma, or "--seed" where there is no short form.
std::string WithShortForm(const std::string& name, std::string_view between) {
  for (const auto& [letter, long_form] : kShortForms) {
    if (long_form == name) {
      return std::string("-") + letter + "," + std::string(between) + "--" + name;
    }
  }
  return "--" + name;
}

// How a flag is shown in messages, as pflag does.
std::string InMessages(const std::string& name) { return WithShortForm(name, " "); }

// The same where it got no value: "--config", or "'v' in -v".
std::string AsGiven(const std::string& argument) {
  if (argument.starts_with("--")) return argument;
  return "'" + argument.substr(1, 1) + "' in " + argument;
}

}  // namespace

Result<std::string> FlagSet::Impl::LongForm(const std::string& argument, std::string& rest) const {
  for (const auto& [letter, name] : kShortForms) {
    const Flag* flag = Find(name);
    if (letter != argument[1] || flag == nullptr) continue;
    std::string long_form = "--" + std::string(name);
    if (argument.size() == 2) return long_form;
    if (flag->is_switch && argument[2] != '=') {
      rest = "-" + argument.substr(2);
      return long_form;
    }
    return long_form + "=" + argument.substr(argument[2] == '=' ? 3 : 2);
  }
  return Fail("unknown shorthand flag: '" + argument.substr(1, 1) + "' in " + argument);
}

FlagSet::FlagSet(const std::string& program, const std::string& description, Words words)
    : impl_(std::make_unique<Impl>()), words_(words) {
  impl_->app.name(program);
  impl_->app.description(description);
  impl_->app.set_help_flag();
}

FlagSet::~FlagSet() = default;

void FlagSet::Add(const std::string& name, std::string_view kind, const std::string& help,
                  Setter set, Shown show) {
  const std::string declared = WithShortForm(name, "");
  impl_->app.add_option(
                declared, [](const CLI::results_t&) { return true; }, help)
      ->type_name(std::string(kind))
      ->group(group_);
  impl_->flags[name] = {std::move(set), std::move(show), "", false, false};
}

void FlagSet::AddText(const std::string& name, std::string_view kind, const std::string& help,
                      std::string& out) {
  Add(name, kind, help, [&out](const std::string& value) -> Result<void> {
    if (value.empty()) return Fail("must not be empty");
    out = value;
    return {};
  });
}

void FlagSet::AddAnyText(const std::string& name, std::string_view kind, const std::string& help,
                         std::string& out) {
  Add(name, kind, help, [&out](const std::string& value) -> Result<void> {
    out = value;
    return {};
  });
}

void FlagSet::AddSwitch(const std::string& name, const std::string& help, Setter set, Shown show) {
  Add(name, "", help, std::move(set), std::move(show));
  impl_->flags[name].is_switch = true;
}

Result<std::vector<std::string>> FlagSet::Parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> others;
  std::vector<std::string> given = arguments;
  const auto behind = [&given](size_t i) {
    return given.begin() + static_cast<std::ptrdiff_t>(i) + 1;
  };
  for (size_t i = 0; i < given.size(); ++i) {
    std::string argument = given[i];
    if (argument == "--") {
      others.insert(others.end(), behind(i), given.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      others.push_back(argument);
      continue;
    }
    if (argument[1] != '-') {
      std::string rest;
      auto long_form = impl_->LongForm(argument, rest);
      if (!long_form) return Fail(long_form.error());
      argument = *long_form;
      if (!rest.empty()) given.insert(behind(i), std::move(rest));
    }
    if (argument[2] == '-' || argument[2] == '=') return Fail("bad flag syntax: " + argument);
    const size_t equals = argument.find('=');
    const std::string written =
        argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::string name = written;
    std::replace(name.begin(), name.end(), '_', '-');
    Impl::Flag* flag = impl_->Find(name);
    if (flag == nullptr) {
      const std::string meant = words_ == Words::kOwn ? impl_->Meant(name) : "";
      return Fail("unknown flag: --" + written +
                  (meant.empty() ? "" : "; did you mean --" + meant + "?"));
    }

    std::string value = "true";
    if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else if (!flag->is_switch) {
      if (i + 1 == given.size()) {
        return Fail("flag needs an argument: " +
                    (words_ == Words::kOwn ? InMessages(name) : AsGiven(given[i])));
      }
      value = given[++i];
    }
    if (auto set = flag->set(value); !set) {
      return Fail("invalid argument " + Quoted(value) + " for " + Quoted(InMessages(name)) +
                  " flag: " + set.error().message);
    }
    flag->given = true;
    flag->last = std::move(value);
  }
  return others;
}

bool FlagSet::Given(std::string_view name) const {
  const Impl::Flag* flag = impl_->Find(name);
  return flag != nullptr && flag->given;
}

std::map<std::string, std::string> FlagSet::Values() const {
  std::map<std::string, std::string> values;
  for (const auto& [name, flag] : impl_->flags) values[name] = flag.show ? flag.show() : flag.last;
  return values;
}

std::string FlagSet::Usage() const { return FittedHelp(impl_->app.help(), TerminalWidth()); }

}  // namespace berth::app
