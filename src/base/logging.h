// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include "berth/result.h"

// Structured logs in klog's form, on standard error:
//   I1121 17:05:47.123456    4242 binder.cc:61] "Pod bound" pod="default/web" node="node-1"
//
// Thread safety: any thread.
namespace berth::base {

enum class LogFormat { kText, kJson };

struct LogOptions {
  int verbosity = 0;  // --v; -1: only warnings and errors
  LogFormat format = LogFormat::kText;
};
// Takes effect at once, also when called again.
void SetUpLogging(const LogOptions& options);
int LogVerbosity();
// Writes out what is buffered.
void FlushLogs();

struct LogField {
  std::string_view key;
  std::string value;

  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  LogField(std::string_view k, std::string v) : key(k), value(std::move(v)) {}
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  LogField(std::string_view k, Number v) : key(k), value(std::to_string(v)) {}
};

void LogInfo(std::string_view message, std::initializer_list<LogField> fields = {},
             std::source_location where = std::source_location::current());
void LogWarning(std::string_view message, std::initializer_list<LogField> fields = {},
                std::source_location where = std::source_location::current());
void LogError(std::string_view message, std::initializer_list<LogField> fields = {},
              std::source_location where = std::source_location::current());
// Only with --v at least `verbosity`. Guard costly fields with LogVerbosity().
void LogV(int verbosity, std::string_view message, std::initializer_list<LogField> fields = {},
          std::source_location where = std::source_location::current());

}  // namespace berth::base
