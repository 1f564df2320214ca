// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/node_metrics.h"

// The part that the args of Trimaran's plugins have in common: metricProvider and watcherAddress.
namespace berth::plugins {

// As the file has it; empty where it says nothing.
struct NodeMetricsArgs {
  std::string type;
  std::string address;
  std::string token;
  std::optional<bool> insecure_skip_verify;
  std::optional<std::string> watcher_address;
};

// Takes the two fields.
NodeMetricsArgs ReadNodeMetricsArgs(FieldReader& fields);

// What is wrong with args whose defaults are set: a type that there is not, or SignalFx, which
// Berth does not read; an address that is no URL. `parent` is the path of the args. With a
// watcherAddress what metricProvider says is of no effect, and so not looked at.
std::vector<std::string> NodeMetricsProblems(const NodeMetricsArgs& args,
                                             const std::string& parent);

// What valid args name, the defaults included.
NodeMetricsSource SourceOf(const NodeMetricsArgs& args);

// `args` with scheduler-plugins' defaults of the two fields: KubernetesMetricsServer without a
// watcherAddress, and certificates of Prometheus that are not verified.
ConfigValue NodeMetricsArgsWithDefaults(const ConfigValue& args);

}  // namespace berth::plugins
