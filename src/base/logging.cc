// SPDX-License-Identifier: Apache-2.0
#include "src/base/logging.h"

#include <fnmatch.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>

#include "berth/field_errors.h"
#include "src/base/json.h"

namespace berth::base {
namespace {

std::atomic<int> verbosity{0};
std::atomic<LogFormat> format{LogFormat::kText};
std::atomic<bool> split_stream{false};
// The highest of `VModules()`; below 0 where there is none.
std::atomic<int> vmodule_verbosity{-1};

// Never destroyed: threads may log until the very end.
std::vector<VModule>& VModules() {
  static auto& modules = *new std::vector<VModule>;
  return modules;
}

template <typename SinkType>
std::shared_ptr<spdlog::logger> MakeLogger() {
  auto made = std::make_shared<spdlog::logger>("berth", std::make_shared<SinkType>());
  made->set_pattern("%v");
  made->set_level(spdlog::level::trace);
  made->flush_on(spdlog::level::trace);
  return made;
}

spdlog::logger& StandardError() {
  static const auto logger = MakeLogger<spdlog::sinks::stderr_sink_mt>();
  return *logger;
}

spdlog::logger& StandardOutput() {
  static const auto logger = MakeLogger<spdlog::sinks::stdout_sink_mt>();
  return *logger;
}

// "binding/binder.cc", or with depth 0 "binder.cc".
std::string_view Tail(std::string_view path, int depth) {
  size_t slash = path.rfind('/');
  for (; depth > 0 && slash != std::string_view::npos && slash > 0; --depth) {
    const size_t next = path.rfind('/', slash - 1);
    slash = next;
  }
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool AllowedByVModule(int level, const std::source_location& where) {
  std::string path = where.file_name();
  path.resize(std::min(path.size(), path.rfind('.')));
  const std::string name(Tail(path, 0));
  for (const VModule& module : VModules()) {
    const bool by_path = module.pattern.find('/') != std::string::npos;
    const std::string& subject = by_path ? path : name;
    if (fnmatch(module.pattern.c_str(), subject.c_str(), by_path ? FNM_PATHNAME : 0) == 0) {
      return module.verbosity >= level;
    }
  }
  return false;
}

bool IsLogged(int level, const std::source_location& where) {
  if (LogVerbosity() < level) return false;
  return verbosity.load(std::memory_order_relaxed) >= level || AllowedByVModule(level, where);
}

// A pod's key as klog prints a reference to an object.
void AppendReference(std::string_view key, std::string& out) {
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos) return AppendJson(key, out);
  JsonObject object(out);
  object.Add("name", key.substr(slash + 1));
  object.Add("namespace", key.substr(0, slash));
}

// As the log of kube-scheduler has them: "errCauses":[{"error":"a"},{"error":"b"}].
void AddCauses(const LogField& field, JsonObject& line) {
  if (field.causes.empty()) return;
  JsonList causes(line.Key(std::string(field.key) + "Causes"));
  for (const std::string& cause : field.causes) JsonObject(causes.Next()).Add("error", cause);
}

std::string JsonLine(char severity, int level, std::string_view message,
                     std::initializer_list<LogField> fields, const std::source_location& where,
                     int64_t micros) {
  std::string text;
  JsonObject line(text);
  fmt::format_to(std::back_inserter(line.Key("ts")), "{}.{:03}", micros / 1000, micros % 1000);
  line.Add("caller", fmt::format("{}:{}", Tail(where.file_name(), 1), where.line()));
  line.Add("msg", message);
  if (severity != 'E') line.Add("v", level);
  for (const LogField& field : fields) {
    if (!field.is_text) {
      line.Key(field.key) += field.value;
    } else if (field.key == "pod") {
      AppendReference(field.value, line.Key(field.key));
    } else {
      line.Add(field.key, field.value);
    }
    AddCauses(field, line);
  }
  line.Close();
  return text;
}

// Text of several lines stays readable: each line indented, between "=<" and " >".
void AppendLines(std::string_view text, std::string& line) {
  line += "=<";
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    line.append("\n\t").append(text.substr(begin, end - begin));
    begin = end + 1;
  }
  line += "\n >";
}

// `message` comes as it is to be written.
std::string TextLine(char severity, std::string_view message,
                     std::initializer_list<LogField> fields, const std::source_location& where,
                     int64_t micros) {
  const std::time_t seconds = static_cast<std::time_t>(micros / 1'000'000);
  std::tm tm{};
  localtime_r(&seconds, &tm);
  std::string line;
  fmt::format_to(std::back_inserter(line), "{}{:02}{:02} {:02}:{:02}:{:02}.{:06} {:7} {}:{}] {}",
                 severity, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
                 micros % 1'000'000, getpid(), Tail(where.file_name(), 0), where.line(), message);
  for (const LogField& field : fields) {
    line.append(" ").append(field.key);
    if (!field.is_text) {
      line.append("=").append(field.value);
    } else if (field.value.find('\n') == std::string::npos) {
      line.append("=").append(Quoted(field.value));
    } else {
      AppendLines(field.value, line);
    }
  }
  return line;
}

enum class Quotes { kAround, kNone };  // a message in text

void Write(char severity, int level, std::string_view message,
           std::initializer_list<LogField> fields, const std::source_location& where,
           Quotes quotes = Quotes::kAround) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t micros = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  const std::string shown = quotes == Quotes::kAround ? Quoted(message) : std::string(message);
  const std::string line = format.load(std::memory_order_relaxed) == LogFormat::kJson
                               ? JsonLine(severity, level, message, fields, where, micros)
                               : TextLine(severity, shown, fields, where, micros);
  const bool to_output = severity == 'I' && split_stream.load(std::memory_order_relaxed);
  (to_output ? StandardOutput() : StandardError()).info("{}", line);
}

}  // namespace

void SetUpLogging(const LogOptions& options) {
  VModules() = options.vmodule;
  int highest = -1;
  for (const VModule& module : options.vmodule) highest = std::max(highest, module.verbosity);
  vmodule_verbosity = highest;
  verbosity = options.verbosity;
  format = options.format;
  split_stream = options.split_stream;
}

void SetLogVerbosity(int level) { verbosity = level; }

int LogVerbosity() {
  return std::max(verbosity.load(std::memory_order_relaxed),
                  vmodule_verbosity.load(std::memory_order_relaxed));
}

int LogVerbositySet() { return verbosity.load(std::memory_order_relaxed); }

void FlushLogs() {
  StandardError().flush();
  StandardOutput().flush();
}

void LogInfo(std::string_view message, std::initializer_list<LogField> fields,
             std::source_location where) {
  LogV(0, message, fields, where);
}

void LogWarning(std::string_view message, std::initializer_list<LogField> fields,
                std::source_location where) {
  Write('W', 0, message, fields, where);
}

void LogError(std::string_view message, std::initializer_list<LogField> fields,
              std::source_location where) {
  Write('E', 0, message, fields, where);
}

void LogV(int level, std::string_view message, std::initializer_list<LogField> fields,
          std::source_location where) {
  if (IsLogged(level, where)) Write('I', level, message, fields, where);
}

void LogLineV(int level, std::string_view line, std::source_location where) {
  if (IsLogged(level, where)) Write('I', level, line, {}, where, Quotes::kNone);
}

}  // namespace berth::base
