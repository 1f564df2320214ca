// SPDX-License-Identifier: Apache-2.0
#include "src/base/logging.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>

#include "berth/field_errors.h"

namespace berth::base {
namespace {

std::atomic<int> verbosity{0};
std::atomic<LogFormat> format{LogFormat::kText};

spdlog::logger& Sink() {
  static const auto logger = [] {
    auto made = std::make_shared<spdlog::logger>("berth",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    made->set_level(spdlog::level::trace);
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *logger;
}

std::string_view FileName(const std::source_location& where) {
  const std::string_view path = where.file_name();
  return path.substr(path.rfind('/') + 1);
}

void Write(char severity, int level, std::string_view message,
           std::initializer_list<LogField> fields, const std::source_location& where) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  std::string line;
  if (format.load(std::memory_order_relaxed) == LogFormat::kJson) {
    fmt::format_to(std::back_inserter(line),
                   "{{\"ts\":{}.{:03},\"caller\":\"{}:{}\",\"msg\":", micros / 1000, micros % 1000,
                   FileName(where), where.line());
    line += Quoted(message);
    if (severity == 'I') line += ",\"v\":" + std::to_string(level);
    for (const LogField& field : fields) {
      line += ',';
      line += Quoted(field.key);
      line += ':';
      line += Quoted(field.value);
    }
    line += '}';
  } else {
    const std::time_t seconds = static_cast<std::time_t>(micros / 1'000'000);
    std::tm tm{};
    localtime_r(&seconds, &tm);
    fmt::format_to(std::back_inserter(line), "{}{:02}{:02} {:02}:{:02}:{:02}.{:06} {:7} {}:{}] ",
                   severity, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
                   micros % 1'000'000, getpid(), FileName(where), where.line());
    line += Quoted(message);
    for (const LogField& field : fields) {
      line += ' ';
      line += field.key;
      line += '=';
      line += Quoted(field.value);
    }
  }
  Sink().info("{}", line);
}

}  // namespace

void SetUpLogging(const LogOptions& options) {
  verbosity = options.verbosity;
  format = options.format;
}

int LogVerbosity() { return verbosity.load(std::memory_order_relaxed); }

void FlushLogs() { Sink().flush(); }

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
  if (LogVerbosity() >= level) Write('I', level, message, fields, where);
}

}  // namespace berth::base
