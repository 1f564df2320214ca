// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/result.h"
#include "berth/time.h"
#include "src/base/logging.h"

namespace berth::app {

// The flags of `berth run`: kube-scheduler's names and defaults, and --seed. An optional is empty
// when the flag was not given.
struct RunFlags {
  std::string config;
  std::string write_config_to;
  std::string master;

  // Without effect when there is a configuration file, as in kube-scheduler.
  std::optional<std::string> kubeconfig;
  std::optional<std::string> kube_api_content_type;
  std::optional<double> kube_api_qps;
  std::optional<int32_t> kube_api_burst;
  std::optional<bool> profiling;
  std::optional<bool> contention_profiling;
  Duration pod_max_in_unschedulable_pods_duration = std::chrono::minutes(5);

  // These override a configuration file.
  std::optional<bool> leader_elect;
  std::optional<Duration> leader_elect_lease_duration;
  std::optional<Duration> leader_elect_renew_deadline;
  std::optional<Duration> leader_elect_retry_period;
  std::optional<std::string> leader_elect_resource_lock;
  std::optional<std::string> leader_elect_resource_name;
  std::optional<std::string> leader_elect_resource_namespace;

  std::vector<std::string> feature_gates;
  int min_compatibility_minor = 36;
  base::LogOptions log;
  // Of every draw; from the operating system when not given.
  std::optional<uint64_t> seed;

  // Flags that were given and change nothing yet, in the order of the help text.
  std::vector<std::string> without_effect;

  // What to print instead of running: the help text or the version.
  std::string print_and_exit;
};

// What to tell someone who typed it wrong.
struct FlagError {
  std::string message;
  std::string usage;  // printed before the message; may be ""
};

// Reads the arguments that follow the command. '_' stands for '-' in flag names; a value follows
// its flag after '=' or as the next argument, but for switches, which take '=' only. `program` is
// the command's name for messages.
tl::expected<RunFlags, FlagError> ParseRunFlags(const std::vector<std::string>& arguments,
                                                const std::string& program);

}  // namespace berth::app
