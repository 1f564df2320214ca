// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/result.h"

// Structured logs in klog's form, on standard error:
//   I1121 17:05:47.123456    4242 binder.cc:61] "Pod bound" pod="default/web" node="node-1"
// or, as JSON (errors have no "v"; in both a pod is "namespace/name" in code):
//   {"ts":1763744747123.456,"caller":"binding/binder.cc:61","msg":"Pod bound","v":0,
//    "pod":{"name":"web","namespace":"default"},"node":"node-1"}
//
// Thread safety: any thread.
namespace berth::base {

enum class LogFormat { kText, kJson };

// The verbosity of the source files that a pattern names: a shell pattern for the file's name
// without its extension ("bind*"), or for its path where it holds a slash.
struct VModule {
  std::string pattern;
  int verbosity = 0;
};

struct LogOptions {
  int verbosity = 0;  // --v; -1: only warnings and errors
  LogFormat format = LogFormat::kText;
  std::vector<VModule> vmodule = {};  // the first that matches counts where it allows more
  bool split_stream = false;          // what is no error goes to standard output
};
// Takes effect at once, also when called again, but for `vmodule`: that only before other threads
// log.
void SetUpLogging(const LogOptions& options);
// Of later messages; --vmodule keeps its say.
void SetLogVerbosity(int verbosity);
// The most verbose that any file is.
int LogVerbosity();
// What was set last, without --vmodule.
int LogVerbositySet();
// Writes out what is buffered.
void FlushLogs();

struct LogField {
  std::string_view key;
  std::string value;
  bool is_text = true;  // else a number or a boolean, and not quoted
  // Of an error that is made of others: these, which JSON has behind it.
  std::vector<std::string> causes{};

  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  LogField(std::string_view k, std::string v) : key(k), value(std::move(v)) {}
  LogField(std::string_view k, std::string v, std::vector<std::string> made_of)
      : key(k), value(std::move(v)), causes(std::move(made_of)) {}
  LogField(std::string_view k, bool v) : key(k), value(v ? "true" : "false"), is_text(false) {}
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  LogField(std::string_view k, Number v) : key(k), value(std::to_string(v)), is_text(false) {}
};

void LogInfo(std::string_view message, std::initializer_list<LogField> fields = {},
             std::source_location where = std::source_location::current());
void LogWarning(std::string_view message, std::initializer_list<LogField> fields = {},
                std::source_location where = std::source_location::current());
void LogError(std::string_view message, std::initializer_list<LogField> fields = {},
              std::source_location where = std::source_location::current());
// Only where --v, or --vmodule for the calling file, is at least `verbosity`. Guard costly fields
// with LogVerbosity().
void LogV(int verbosity, std::string_view message, std::initializer_list<LogField> fields = {},
          std::source_location where = std::source_location::current());
// The same for a line that has no fields and that people search for as it stands: in text it comes
// without quotes.
void LogLineV(int verbosity, std::string_view line,
              std::source_location where = std::source_location::current());

}  // namespace berth::base
