// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "berth/api/quantity.h"
#include "berth/time.h"
#include "src/app/flags/flag_set.h"
#include "src/app/flags/flags.h"
#include "src/base/logging.h"

namespace berth::app {

// The flags about the HTTPS endpoints: who may call them, and what /metrics shows.

void AddSecureServing(FlagSet& flags, SecureServingFlags& out);
void AddAuthentication(FlagSet& flags, AuthenticationFlags& out);
void AddAuthorization(FlagSet& flags, AuthorizationFlags& out);
void AddMetrics(FlagSet& flags, MetricsFlags& out);

// Whether it is "metric,label", both as Prometheus names them.
bool IsMetricAndLabel(std::string_view key);

// What is wrong with values that could be read, in kube-scheduler's words and order. `uid_headers`:
// whether the gate RemoteRequestHeaderUID is on.
std::vector<std::string> ServingFlagProblems(const RunFlags& flags, bool uid_headers);
// What is allowed and hardly meant.
std::vector<std::string> ServingFlagWarnings(const RunFlags& flags);

// The flags about the log, as given.
struct LogFlags {
  base::LogOptions options;
  std::string format = "text";
  Duration flush_frequency = std::chrono::seconds(5);  // each line is written at once anyway
  bool text_split_stream = false;
  bool json_split_stream = false;
  api::Quantity text_info_buffer;
  api::Quantity json_info_buffer;
};

void AddLogs(FlagSet& flags, LogFlags& out);

// The feature gates about the log.
struct LogGates {
  bool alpha_options = false;  // LoggingAlphaOptions
  bool beta_options = true;    // LoggingBetaOptions
};

// Fills in `flags.options` from the rest. Errors, in kube-scheduler's words: an unknown format, an
// option of another format, one whose feature gate is off.
Result<void> FinishLogFlags(LogFlags& flags, const LogGates& gates);

}  // namespace berth::app
