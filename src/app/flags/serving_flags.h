// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/app/flags/flag_set.h"
#include "src/app/flags/flags.h"

// The flags about the HTTPS endpoints: who may call them, and what /metrics shows.
namespace berth::app {

void AddSecureServing(FlagSet& flags, SecureServingFlags& out);
void AddAuthentication(FlagSet& flags, AuthenticationFlags& out);
void AddAuthorization(FlagSet& flags, AuthorizationFlags& out);
void AddMetrics(FlagSet& flags, MetricsFlags& out);

// What is wrong with values that could be read, in kube-scheduler's words and order.
std::vector<std::string> ServingFlagProblems(const RunFlags& flags);

}  // namespace berth::app
