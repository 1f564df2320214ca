// SPDX-License-Identifier: Apache-2.0
#include "src/config/decode.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/config/extension_points.h"
#include "src/config/load.h"

namespace berth::config {
namespace {

constexpr std::string_view kGroup = "kubescheduler.config.k8s.io";

// The plugins whose args are a kind of their own, <name>Args.
constexpr std::array<std::string_view, 8> kPluginsWithArgsKind = {
    "DefaultPreemption", "DynamicResources", "InterPodAffinity",
    "NodeAffinity",      "NodeResourcesFit", "NodeResourcesBalancedAllocation",
    "PodTopologySpread", "VolumeBinding"};

std::string Indexed(const std::string& path, size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

// Calls `read` with a reader of each element of a list and what it is to fill.
template <typename T, typename Read>
void ReadList(FieldReader& parent, std::string_view field, std::vector<T>& out, Read read) {
  const ConfigValue::List& values = parent.GetList(field);
  for (size_t i = 0; i < values.size(); ++i) {
    FieldReader fields(values[i], Indexed(parent.PathOf(field), i));
    read(fields, out.emplace_back());
    parent.Merge(fields);
  }
}

// Calls `read` with a reader of a nested map, if there is one.
template <typename Read>
void ReadMap(FieldReader& parent, std::string_view field, Read read) {
  const ConfigValue* value = parent.Get(field);
  if (value == nullptr) return;
  FieldReader fields(*value, parent.PathOf(field));
  read(fields);
  parent.Merge(fields);
}

// An empty text or a zero stands for the default, as where Kubernetes' own types cannot tell it
// from an absent field.
template <typename T>
void ReadUnlessZero(FieldReader& fields, std::string_view field, T& out) {
  T value{};
  if (fields.Read(field, value) && value != T{}) out = std::move(value);
}

void ReadLeaderElection(FieldReader& fields, LeaderElection& out) {
  fields.Read("leaderElect", out.leader_elect);
  ReadUnlessZero(fields, "leaseDuration", out.lease_duration);
  ReadUnlessZero(fields, "renewDeadline", out.renew_deadline);
  ReadUnlessZero(fields, "retryPeriod", out.retry_period);
  ReadUnlessZero(fields, "resourceLock", out.resource_lock);
  ReadUnlessZero(fields, "resourceName", out.resource_name);
  ReadUnlessZero(fields, "resourceNamespace", out.resource_namespace);
}

void ReadClientConnection(FieldReader& fields, ClientConnection& out) {
  fields.Read("kubeconfig", out.kubeconfig);
  fields.Read("acceptContentTypes", out.accept_content_types);
  ReadUnlessZero(fields, "contentType", out.content_type);
  double qps = out.qps;
  ReadUnlessZero(fields, "qps", qps);
  out.qps = static_cast<float>(qps);
  ReadUnlessZero(fields, "burst", out.burst);
}

void ReadPlugins(FieldReader& fields, Plugins& out) {
  const auto read_plugin = [](FieldReader& entry, PluginRef& plugin) {
    entry.Read("name", plugin.name);
    entry.Read("weight", plugin.weight);
  };
  for (const ExtensionPoint& point : kExtensionPoints) {
    PluginSet& set = out.*point.set;
    ReadMap(fields, point.field, [&](FieldReader& lists) {
      ReadList(lists, "enabled", set.enabled, read_plugin);
      ReadList(lists, "disabled", set.disabled, read_plugin);
    });
  }
}

std::string StringAt(const ConfigValue& map, std::string_view key) {
  const ConfigValue* value = map.Find(key);
  return value != nullptr && value->string() != nullptr ? *value->string() : "";
}

// What is wrong with apiVersion and kind of the args of `plugin`, both of which may be absent.
std::optional<std::string> ArgsTypeProblem(const ConfigValue& args, const std::string& plugin) {
  std::string api_version = StringAt(args, "apiVersion");
  std::string kind = StringAt(args, "kind");
  if (api_version.empty()) api_version = kApiVersion;
  if (kind.empty()) kind = plugin + "Args";
  const auto owner =
      std::find_if(kPluginsWithArgsKind.begin(), kPluginsWithArgsKind.end(),
                   [&](std::string_view name) { return kind == std::string(name) + "Args"; });
  if (api_version != kApiVersion || (owner == kPluginsWithArgsKind.end() && kind != kKind)) {
    return "decoding args for plugin " + plugin + ": no kind \"" + kind +
           "\" is registered for version \"" + api_version + "\"";
  }
  if (kind != plugin + "Args") {
    const std::string group(kGroup);
    return "args for plugin " + plugin + " were not of type " + plugin + "Args." + group +
           ", got " + kind + "." + group;
  }
  return std::nullopt;
}

ConfigValue WithoutTypeMeta(const ConfigValue& args) {
  ConfigValue::Map fields;
  for (const auto& [key, value] : *args.map()) {
    if (key != "apiVersion" && key != "kind") fields.emplace_back(key, value);
  }
  return ConfigValue(std::move(fields), args.line());
}

void ReadPluginConfig(FieldReader& fields, const std::string& path, PluginConfig& out) {
  fields.Read("name", out.name);
  const ConfigValue* args = fields.Get("args");
  if (args == nullptr) return;
  out.args = *args;
  // The args of foreign plugins are nobody's business but theirs.
  if (std::find(kPluginsWithArgsKind.begin(), kPluginsWithArgsKind.end(), out.name) ==
      kPluginsWithArgsKind.end()) {
    return;
  }
  const std::string where = "decoding ." + path + ": ";
  if (args->map() == nullptr) {
    fields.Problem(where + "decoding args for plugin " + out.name + ": must be a map, not " +
                   std::string(args->TypeName()));
  } else if (const auto problem = ArgsTypeProblem(*args, out.name)) {
    fields.Problem(where + *problem);
  } else {
    out.args = WithoutTypeMeta(*args);
  }
}

void ReadProfile(FieldReader& fields, Profile& out) {
  fields.Read("schedulerName", out.scheduler_name);
  int32_t percentage = 0;
  if (fields.Read("percentageOfNodesToScore", percentage)) {
    out.percentage_of_nodes_to_score = percentage;
  }
  ReadMap(fields, "plugins", [&](FieldReader& plugins) { ReadPlugins(plugins, out.plugins); });
  ReadList(fields, "pluginConfig", out.plugin_config,
           [&](FieldReader& entry, PluginConfig& config) {
             const size_t index = out.plugin_config.size() - 1;
             ReadPluginConfig(entry, Indexed(fields.PathOf("pluginConfig"), index), config);
           });
}

void ReadExtender(FieldReader& fields, Extender& out) {
  fields.Read("urlPrefix", out.url_prefix);
  fields.Read("filterVerb", out.filter_verb);
  fields.Read("preemptVerb", out.preempt_verb);
  fields.Read("prioritizeVerb", out.prioritize_verb);
  fields.Read("weight", out.weight);
  fields.Read("bindVerb", out.bind_verb);
  fields.Read("enableHTTPS", out.enable_https);
  ReadMap(fields, "tlsConfig", [&out](FieldReader& nested) {
    ExtenderTlsConfig& tls = out.tls_config.emplace();
    nested.Read("insecure", tls.insecure);
    nested.Read("serverName", tls.server_name);
    nested.Read("certFile", tls.cert_file);
    nested.Read("keyFile", tls.key_file);
    nested.Read("caFile", tls.ca_file);
    nested.Read("certData", tls.cert_data);
    nested.Read("keyData", tls.key_data);
    nested.Read("caData", tls.ca_data);
  });
  fields.Read("httpTimeout", out.http_timeout);
  fields.Read("nodeCacheCapable", out.node_cache_capable);
  ReadList(fields, "managedResources", out.managed_resources,
           [](FieldReader& entry, ExtenderManagedResource& resource) {
             entry.Read("name", resource.name);
             entry.Read("ignoredByScheduler", resource.ignored_by_scheduler);
           });
  fields.Read("ignorable", out.ignorable);
}

}  // namespace

Result<SchedulerConfiguration> DecodeFields(const ConfigValue& document) {
  FieldReader fields(document, "");
  SchedulerConfiguration config;
  fields.Get("apiVersion");
  fields.Get("kind");
  fields.Read("parallelism", config.parallelism);
  ReadMap(fields, "leaderElection",
          [&](FieldReader& nested) { ReadLeaderElection(nested, config.leader_election); });
  ReadMap(fields, "clientConnection",
          [&](FieldReader& nested) { ReadClientConnection(nested, config.client_connection); });
  fields.Read("enableProfiling", config.enable_profiling);
  config.enable_contention_profiling = config.enable_profiling;
  fields.Read("enableContentionProfiling", config.enable_contention_profiling);
  fields.Read("percentageOfNodesToScore", config.percentage_of_nodes_to_score);
  fields.Read("podInitialBackoffSeconds", config.pod_initial_backoff_seconds);
  fields.Read("podMaxBackoffSeconds", config.pod_max_backoff_seconds);
  ReadList(fields, "profiles", config.profiles, ReadProfile);
  ReadList(fields, "extenders", config.extenders, ReadExtender);
  fields.Read("delayCacheUntilActive", config.delay_cache_until_active);
  if (auto error = fields.Finish()) return Fail(error->Within("strict decoding error"));

  // Only a single profile may leave its name out.
  if (config.profiles.empty()) config.profiles.emplace_back();
  const ConfigValue::List* profiles = nullptr;
  if (const ConfigValue* value = document.Find("profiles")) profiles = value->list();
  const bool named = profiles != nullptr && !profiles->empty() &&
                     profiles->front().Find("schedulerName") != nullptr;
  if (config.profiles.size() == 1 && !named) {
    config.profiles.front().scheduler_name = "default-scheduler";
  }
  return config;
}

}  // namespace berth::config
