// SPDX-License-Identifier: Apache-2.0
#include "src/config/write.h"

#include <absl/strings/escaping.h>

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "src/config/extension_points.h"
#include "src/config/load.h"
#include "src/config/v1_schema.h"
#include "src/documents/write.h"

namespace berth::config {
namespace {

using List = ConfigValue::List;
using Map = ConfigValue::Map;

ConfigValue Text(std::string_view text) { return ConfigValue(std::string(text)); }
ConfigValue Number(int64_t number) { return ConfigValue(number); }

ConfigValue ToValue(const std::vector<PluginRef>& plugins) {
  List list;
  for (const PluginRef& plugin : plugins) {
    list.emplace_back(Map{{"name", Text(plugin.name)}, {"weight", Number(plugin.weight)}});
  }
  return ConfigValue(std::move(list));
}

ConfigValue ToValue(const Plugins& plugins) {
  Map points;
  for (const ExtensionPoint& point : kExtensionPoints) {
    const PluginSet& set = plugins.*point.set;
    Map lists;
    if (!set.enabled.empty()) lists.emplace_back("enabled", ToValue(set.enabled));
    if (!set.disabled.empty()) lists.emplace_back("disabled", ToValue(set.disabled));
    points.emplace_back(std::string(point.field), ConfigValue(std::move(lists)));
  }
  return ConfigValue(std::move(points));
}

// Args as a kind: with apiVersion and kind, all fields in one form.
ConfigValue PrintedArgs(const PluginConfig& config) {
  const Schema* schema = ArgsSchema(config.name);
  if (schema == nullptr) return config.args;
  Map fields;
  if (config.args.map() != nullptr) fields = *config.args.map();
  fields.emplace_back("apiVersion", Text(kApiVersion));
  fields.emplace_back("kind", Text(config.name + "Args"));
  return AsPrinted(*schema, ConfigValue(std::move(fields)));
}

// The args of the plugins that are enabled, sorted by name.
List ToValue(const std::vector<PluginConfig>& configs, const Plugins& plugins) {
  std::map<std::string_view, const PluginConfig*> shown;
  for (const PluginConfig& config : configs) {
    if (IsEnabled(plugins, config.name) && !config.args.is_null()) shown[config.name] = &config;
  }
  List list;
  for (const auto& [name, config] : shown) {
    list.emplace_back(Map{{"name", Text(name)}, {"args", PrintedArgs(*config)}});
  }
  return list;
}

ConfigValue ToValue(const Profile& profile) {
  Map fields{{"schedulerName", Text(profile.scheduler_name)},
             {"plugins", ToValue(profile.plugins)}};
  if (profile.percentage_of_nodes_to_score) {
    fields.emplace_back("percentageOfNodesToScore", Number(*profile.percentage_of_nodes_to_score));
  }
  List configs = ToValue(profile.plugin_config, profile.plugins);
  if (!configs.empty()) fields.emplace_back("pluginConfig", ConfigValue(std::move(configs)));
  return ConfigValue(std::move(fields));
}

ConfigValue ToValue(const LeaderElection& election) {
  return ConfigValue(Map{{"leaderElect", ConfigValue(election.leader_elect)},
                         {"leaseDuration", Text(FormatGoDuration(election.lease_duration))},
                         {"renewDeadline", Text(FormatGoDuration(election.renew_deadline))},
                         {"retryPeriod", Text(FormatGoDuration(election.retry_period))},
                         {"resourceLock", Text(election.resource_lock)},
                         {"resourceName", Text(election.resource_name)},
                         {"resourceNamespace", Text(election.resource_namespace)}});
}

ConfigValue ToValue(const ClientConnection& connection) {
  return ConfigValue(Map{{"acceptContentTypes", Text(connection.accept_content_types)},
                         {"burst", Number(connection.burst)},
                         {"contentType", Text(connection.content_type)},
                         {"kubeconfig", Text(connection.kubeconfig)},
                         {"qps", ConfigValue(static_cast<double>(connection.qps))}});
}

ConfigValue ToValue(const ExtenderTlsConfig& tls) {
  return ConfigValue(Map{{"insecure", ConfigValue(tls.insecure)},
                         {"serverName", Text(tls.server_name)},
                         {"certFile", Text(tls.cert_file)},
                         {"keyFile", Text(tls.key_file)},
                         {"caFile", Text(tls.ca_file)},
                         {"certData", Text(absl::Base64Escape(tls.cert_data))},
                         {"keyData", Text(absl::Base64Escape(tls.key_data))},
                         {"caData", Text(absl::Base64Escape(tls.ca_data))}});
}

ConfigValue ToValue(const Extender& extender) {
  List resources;
  for (const ExtenderManagedResource& resource : extender.managed_resources) {
    resources.emplace_back(Map{{"name", Text(resource.name)},
                               {"ignoredByScheduler", ConfigValue(resource.ignored_by_scheduler)}});
  }
  Map fields{{"urlPrefix", Text(extender.url_prefix)},
             {"filterVerb", Text(extender.filter_verb)},
             {"preemptVerb", Text(extender.preempt_verb)},
             {"prioritizeVerb", Text(extender.prioritize_verb)},
             {"weight", Number(extender.weight)},
             {"bindVerb", Text(extender.bind_verb)},
             {"enableHTTPS", ConfigValue(extender.enable_https)},
             {"httpTimeout", Text(FormatGoDuration(extender.http_timeout))},
             {"nodeCacheCapable", ConfigValue(extender.node_cache_capable)},
             {"managedResources", ConfigValue(std::move(resources))},
             {"ignorable", ConfigValue(extender.ignorable)}};
  if (extender.tls_config) fields.emplace_back("tlsConfig", ToValue(*extender.tls_config));
  return ConfigValue(std::move(fields));
}

template <typename T>
ConfigValue ToList(const std::vector<T>& values) {
  List list;
  for (const T& value : values) list.push_back(ToValue(value));
  return ConfigValue(std::move(list));
}

}  // namespace

ConfigValue ToDocument(const SchedulerConfiguration& config) {
  const ConfigValue all(Map{
      {"apiVersion", Text(kApiVersion)},
      {"kind", Text(kKind)},
      {"clientConnection", ToValue(config.client_connection)},
      {"enableProfiling", ConfigValue(config.enable_profiling)},
      {"enableContentionProfiling", ConfigValue(config.enable_contention_profiling)},
      {"leaderElection", ToValue(config.leader_election)},
      {"parallelism", Number(config.parallelism)},
      {"percentageOfNodesToScore", Number(config.percentage_of_nodes_to_score)},
      {"podInitialBackoffSeconds", Number(config.pod_initial_backoff_seconds)},
      {"podMaxBackoffSeconds", Number(config.pod_max_backoff_seconds)},
      {"profiles", ToList(config.profiles)},
      {"extenders", ToList(config.extenders)},
      {"delayCacheUntilActive", ConfigValue(config.delay_cache_until_active)},
  });
  return AsPrinted(ConfigurationSchema(), all);
}

SchedulerConfiguration WithoutSecrets(SchedulerConfiguration config) {
  for (Extender& extender : config.extenders) {
    if (!extender.tls_config || extender.tls_config->key_data.empty()) continue;
    extender.tls_config->key_data = "REDACTED";
  }
  return config;
}

std::string ToYaml(const SchedulerConfiguration& config) {
  return documents::ToYaml(ToDocument(config));
}

}  // namespace berth::config
