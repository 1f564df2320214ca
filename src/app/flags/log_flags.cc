// SPDX-License-Identifier: Apache-2.0
#include "src/app/flags/log_flags.h"

#include <string_view>
#include <utility>

#include "berth/api/quantity.h"
#include "berth/config_value.h"
#include "berth/field_errors.h"

namespace berth::app {
namespace {

// As Go's ParseUint with 31 bits.
Result<int> ReadLevel(const std::string& text) {
  const auto level = ReadFlagValue<uint64_t>(text);
  if (!level) return Fail(level.error());
  if (*level > 0x7fffffff) {
    return Fail("strconv.ParseUint: parsing " + Quoted(text) + ": value out of range");
  }
  return static_cast<int>(*level);
}

// "pattern=N,pattern=N".
Result<std::vector<base::VModule>> ReadVModule(const std::string& text) {
  std::vector<base::VModule> modules;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string pair(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == pair.size() ||
        pair.find('=', equals + 1) != std::string::npos) {
      return Fail(Quoted(pair) + " does not have the pattern=N format");
    }
    const auto level = ReadLevel(pair.substr(equals + 1));
    if (!level) {
      return Fail("parsing verbosity in " + Quoted(pair) + ": " + level.error().message);
    }
    modules.push_back({pair.substr(0, equals), *level});
  }
  return modules;
}

std::string WriteVModule(const std::vector<base::VModule>& modules) {
  std::string text;
  for (const base::VModule& module : modules) {
    text += (text.empty() ? "" : ",") + module.pattern + "=" + std::to_string(module.verbosity);
  }
  return text;
}

FlagSet::Setter SetsBuffer(bool& out) {
  return [&out](const std::string& text) -> Result<void> {
    const auto size = api::Quantity::Parse(text);
    if (!size) return Fail(size.error());
    out = size->Value() != 0;
    return {};
  };
}

}  // namespace

void AddLogs(FlagSet& flags, LogFlags& out) {
  flags.Group("Logs flags");
  flags.Value("log-flush-frequency", "Each line is written at once, whatever this says (5s).",
              out.flush_frequency);
  flags.Add("log-json-info-buffer-size", "quantity",
            "Accepted with the feature gate LoggingAlphaOptions; nothing is buffered (0).",
            SetsBuffer(out.json_info_buffer));
  flags.Value("log-json-split-stream",
              "JSON: errors on standard error, all else on standard output. Needs the feature gate "
              "LoggingAlphaOptions (false).",
              out.json_split_stream);
  flags.Add("log-text-info-buffer-size", "quantity",
            "Accepted with the feature gate LoggingAlphaOptions; nothing is buffered (0).",
            SetsBuffer(out.text_info_buffer));
  flags.Value("log-text-split-stream",
              "Text: errors on standard error, all else on standard output. Needs the feature gate "
              "LoggingAlphaOptions (false).",
              out.text_split_stream);
  flags.Value("logging-format", "Form of the log: text or json (text).", out.format);
  flags.Add(
      "v", "Level", "Verbosity of the log (0).",
      [&out](const std::string& text) -> Result<void> {
        const auto level = ReadLevel(text);
        if (!level) return Fail(level.error());
        out.options.verbosity = *level;
        return {};
      },
      [&out] { return std::to_string(out.options.verbosity); });
  flags.Add(
      "vmodule", "pattern=N,...",
      "Verbosity of source files by name, without extension; for text logs only.",
      [&out](const std::string& text) -> Result<void> {
        auto modules = ReadVModule(text);
        if (!modules) return Fail(modules.error());
        out.options.vmodule.insert(out.options.vmodule.end(), modules->begin(), modules->end());
        return {};
      },
      [&out] { return WriteVModule(out.options.vmodule); });
}

Result<void> FinishLogFlags(LogFlags& flags, const LogGates& gates) {
  std::vector<std::string> problems;
  if (flags.flush_frequency <= Duration::zero()) {
    problems.push_back(InvalidField("flushFrequency",
                                    Quoted(FormatGoDuration(flags.flush_frequency)),
                                    "Must be greater than zero"));
  }
  if (flags.format != "text" && flags.format != "json") {
    problems.push_back(InvalidField("format", Quoted(flags.format), "Unsupported log format"));
  } else if (flags.format == "json" && !gates.beta_options) {
    problems.push_back(
        ForbiddenField("format", "Log format json is disabled, see LoggingBetaOptions feature"));
  }
  if (!flags.options.vmodule.empty() && !flags.format.empty() && flags.format != "text") {
    problems.push_back(ForbiddenField("vmodule", "Only supported for text log format"));
  }
  const struct {
    bool given;
    std::string_view field;
  } alpha[] = {{flags.text_split_stream, "options.text.splitStream"},
               {flags.text_info_buffer, "options.text.infoBufferSize"},
               {flags.json_split_stream, "options.json.splitStream"},
               {flags.json_info_buffer, "options.json.infoBufferSize"}};
  for (const auto& [given, field] : alpha) {
    if (!given || gates.alpha_options) continue;
    problems.push_back(ForbiddenField(field, "Feature LoggingAlphaOptions is disabled"));
  }
  if (auto error = AggregateProblems(problems)) return Fail(std::move(*error));
  flags.options.format = flags.format == "json" ? base::LogFormat::kJson : base::LogFormat::kText;
  flags.options.split_stream =
      flags.format == "json" ? flags.json_split_stream : flags.text_split_stream;
  return {};
}

}  // namespace berth::app
