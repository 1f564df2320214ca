// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/app/flags/flag_set.h"
#include "src/app/flags/flags.h"

// The flags about the HTTPS endpoints: who may call them, and what /metrics shows.
namespace berth::app {

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

}  // namespace berth::app
