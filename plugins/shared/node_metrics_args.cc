// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/node_metrics_args.h"

#include <utility>

#include "berth/field_errors.h"
#include "plugins/shared/args_reader.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kMetricProvider = "metricProvider";
constexpr std::string_view kWatcherAddress = "watcherAddress";
constexpr std::string_view kType = "type";
constexpr std::string_view kAddress = "address";
constexpr std::string_view kToken = "token";
constexpr std::string_view kInsecureSkipVerify = "insecureSkipVerify";
constexpr std::string_view kMetricsServer = "KubernetesMetricsServer";
constexpr std::string_view kPrometheus = "Prometheus";
constexpr std::string_view kSignalFx = "SignalFx";
constexpr std::string_view kProviders[] = {kMetricsServer, kPrometheus};
// load-watcher's.
constexpr std::string_view kDefaultPrometheus = "http://prometheus-k8s:9090";

bool HasWatcher(const NodeMetricsArgs& args) {
  return args.watcher_address && !args.watcher_address->empty();
}

// A watcherAddress that is there, though empty, leaves the type without a default.
std::string TypeOf(const NodeMetricsArgs& args) {
  return args.type.empty() && !args.watcher_address ? std::string(kMetricsServer) : args.type;
}

void CheckMetricsAddress(const std::string& address, const std::string& path,
                         std::vector<std::string>& problems) {
  const bool is_http = address.starts_with("http://") || address.starts_with("https://");
  if (!is_http) {
    problems.push_back(InvalidField(path, Quoted(address), "must begin with http:// or https://"));
  } else if (address.find('@') != std::string::npos) {
    // It would be in logs.
    problems.push_back(InvalidField(path, "\"...\"", "must not hold a user name"));
  }
}

}  // namespace

NodeMetricsArgs ReadNodeMetricsArgs(FieldReader& fields) {
  NodeMetricsArgs args;
  ReadNested(fields, kMetricProvider, [&](FieldReader& provider) {
    provider.Read(kType, args.type);
    provider.Read(kAddress, args.address);
    provider.Read(kToken, args.token);
    bool insecure = false;
    if (provider.Read(kInsecureSkipVerify, insecure)) args.insecure_skip_verify = insecure;
  });
  std::string watcher;
  if (fields.Read(kWatcherAddress, watcher)) args.watcher_address = std::move(watcher);
  return args;
}

std::vector<std::string> NodeMetricsProblems(const NodeMetricsArgs& args,
                                             const std::string& parent) {
  std::vector<std::string> problems;
  if (HasWatcher(args)) {
    CheckMetricsAddress(*args.watcher_address, FieldPath(parent, kWatcherAddress), problems);
    return problems;
  }
  const std::string provider = FieldPath(parent, kMetricProvider);
  const std::string type = TypeOf(args);
  if (type == kSignalFx) {
    problems.push_back(InvalidField(FieldPath(provider, kType), Quoted(type),
                                    "Berth does not read SignalFx; a load-watcher that does may be "
                                    "named in watcherAddress"));
  } else if (type != kMetricsServer && type != kPrometheus) {
    problems.push_back(UnsupportedField(FieldPath(provider, kType), Quoted(type), kProviders));
  } else if (type == kPrometheus && !args.address.empty()) {
    CheckMetricsAddress(args.address, FieldPath(provider, kAddress), problems);
  }
  return problems;
}

NodeMetricsSource SourceOf(const NodeMetricsArgs& args) {
  using Type = NodeMetricsSource::Type;
  const auto without_slash = [](std::string address) {
    while (address.ends_with('/')) address.pop_back();
    return address;
  };
  if (HasWatcher(args)) {
    return {.type = Type::kLoadWatcher, .address = without_slash(*args.watcher_address)};
  }
  if (TypeOf(args) != kPrometheus) return {};
  return {.type = Type::kPrometheus,
          .address =
              without_slash(args.address.empty() ? std::string(kDefaultPrometheus) : args.address),
          .token = args.token,
          .insecure_skip_verify = args.insecure_skip_verify.value_or(true)};
}

ConfigValue NodeMetricsArgsWithDefaults(const ConfigValue& args) {
  const ConfigValue* given = args.Find(kMetricProvider);
  ConfigValue provider = given == nullptr ? ConfigValue(ConfigValue::Map{}) : *given;
  if (provider.map() == nullptr) return args;  // which is a problem of its own
  const auto is_empty = [](const ConfigValue* value) {
    return value == nullptr || (value->string() != nullptr && value->string()->empty());
  };
  if (is_empty(provider.Find(kType)) && args.Find(kWatcherAddress) == nullptr) {
    provider = WithField(provider, kType, ConfigValue(std::string(kMetricsServer)));
  }
  const ConfigValue* type = provider.Find(kType);
  if (type != nullptr && type->string() != nullptr && *type->string() == kPrometheus) {
    provider = WithDefault(provider, kInsecureSkipVerify, ConfigValue(true));
  }
  return WithField(args, kMetricProvider, provider);
}

}  // namespace berth::plugins
