// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <tuple>

#include "berth/in_tree/extension_points.h"
#include "src/config/field_tables.h"
#include "src/config/types.h"

// The tables of KubeSchedulerConfiguration v1. Names of Go types are those of its messages.
namespace berth::config {

template <>
struct TableOf<PluginRef> {
  static constexpr std::string_view kGoType = "v1.Plugin";
  static constexpr std::string_view kGoList = "[]v1.Plugin";
  static constexpr std::tuple kFields{Held<&PluginRef::name>{"name", Print::kAlways},
                                      Held<&PluginRef::weight>{"weight", Print::kIfGiven}};
};

template <>
struct TableOf<PluginSet> {
  static constexpr std::string_view kGoType = "v1.PluginSet";
  static constexpr std::tuple kFields{Held<&PluginSet::enabled>{"enabled"},
                                      Held<&PluginSet::disabled>{"disabled"}};
};

template <>
struct TableOf<Plugins> {
  static constexpr std::string_view kGoType = "v1.Plugins";
#define BERTH_CONFIG_SET(Name, member, field, ...) \
  , std::tuple {                                   \
    Held<&Plugins::member> { #field }              \
  }
  static constexpr auto kFields = std::tuple_cat(
      std::tuple<>() BERTH_EXTENSION_POINTS(BERTH_CONFIG_SET), std::tuple {
        Held<&Plugins::multi_point>{"multiPoint"}
      } BERTH_POD_GROUP_POINTS(BERTH_CONFIG_SET));
#undef BERTH_CONFIG_SET
};

template <>
struct TableOf<PluginConfig> {
  static constexpr std::string_view kGoType = "v1.PluginConfig";
  static constexpr std::string_view kGoList = "[]v1.PluginConfig";
  static constexpr std::tuple kFields{Held<&PluginConfig::name>{"name", Print::kAlways},
                                      Held<&PluginConfig::args>{"args", Print::kAlways}};
};

template <>
struct TableOf<Profile> {
  static constexpr std::string_view kGoType = "v1.KubeSchedulerProfile";
  static constexpr std::string_view kGoList = "[]v1.KubeSchedulerProfile";
  static constexpr std::tuple kFields{
      Held<&Profile::scheduler_name>{"schedulerName", Print::kIfGiven},
      Held<&Profile::percentage_of_nodes_to_score>{"percentageOfNodesToScore", Print::kIfGiven},
      Held<&Profile::plugins>{"plugins", Print::kIfGiven},
      Held<&Profile::plugin_config>{"pluginConfig"}};
};

template <>
struct TableOf<ClientConnection> {
  using T = ClientConnection;
  static constexpr std::string_view kGoType = "v1alpha1.ClientConnectionConfiguration";
  static constexpr std::tuple kFields{
      Held<&T::kubeconfig>{"kubeconfig", Print::kAlways},
      Held<&T::accept_content_types>{"acceptContentTypes", Print::kAlways},
      Held<&T::content_type>{"contentType", Print::kAlways, ZeroIs::kDefault},
      Held<&T::qps>{"qps", Print::kAlways, ZeroIs::kDefault},
      Held<&T::burst>{"burst", Print::kAlways, ZeroIs::kDefault}};
};

template <>
struct TableOf<LeaderElection> {
  using T = LeaderElection;
  static constexpr std::string_view kGoType = "v1alpha1.LeaderElectionConfiguration";
  static constexpr std::tuple kFields{
      Held<&T::leader_elect>{"leaderElect", Print::kAlways},
      Held<&T::lease_duration>{"leaseDuration", Print::kAlways, ZeroIs::kDefault},
      Held<&T::renew_deadline>{"renewDeadline", Print::kAlways, ZeroIs::kDefault},
      Held<&T::retry_period>{"retryPeriod", Print::kAlways, ZeroIs::kDefault},
      Held<&T::resource_lock>{"resourceLock", Print::kAlways, ZeroIs::kDefault},
      Held<&T::resource_name>{"resourceName", Print::kAlways, ZeroIs::kDefault},
      Held<&T::resource_namespace>{"resourceNamespace", Print::kAlways, ZeroIs::kDefault}};
};

template <>
struct TableOf<ExtenderManagedResource> {
  using T = ExtenderManagedResource;
  static constexpr std::string_view kGoType = "v1.ExtenderManagedResource";
  static constexpr std::string_view kGoList = "[]v1.ExtenderManagedResource";
  static constexpr std::tuple kFields{Held<&T::name>{"name", Print::kAlways},
                                      Held<&T::ignored_by_scheduler>{"ignoredByScheduler"}};
};

template <>
struct TableOf<ExtenderTlsConfig> {
  using T = ExtenderTlsConfig;
  static constexpr std::string_view kGoType = "v1.ExtenderTLSConfig";
  static constexpr std::tuple kFields{
      Held<&T::insecure>{"insecure"},    Held<&T::server_name>{"serverName"},
      Held<&T::cert_file>{"certFile"},   Held<&T::key_file>{"keyFile"},
      Held<&T::ca_file>{"caFile"},       HeldData<&T::cert_data>{"certData"},
      HeldData<&T::key_data>{"keyData"}, HeldData<&T::ca_data>{"caData"}};
};

template <>
struct TableOf<Extender> {
  using T = Extender;
  static constexpr std::string_view kGoType = "v1.Extender";
  static constexpr std::string_view kGoList = "[]v1.Extender";
  static constexpr std::tuple kFields{
      Held<&T::url_prefix>{"urlPrefix", Print::kAlways},
      Held<&T::filter_verb>{"filterVerb"},
      Held<&T::preempt_verb>{"preemptVerb"},
      Held<&T::prioritize_verb>{"prioritizeVerb"},
      Held<&T::weight>{"weight"},
      Held<&T::bind_verb>{"bindVerb"},
      Held<&T::enable_https>{"enableHTTPS"},
      Held<&T::tls_config>{"tlsConfig", Print::kIfGiven},
      Held<&T::http_timeout>{"httpTimeout", Print::kAlways, ZeroIs::kDefault},
      Held<&T::node_cache_capable>{"nodeCacheCapable"},
      Held<&T::managed_resources>{"managedResources"},
      Held<&T::ignorable>{"ignorable"}};
};

template <>
struct TableOf<SchedulerConfiguration> {
  using T = SchedulerConfiguration;
  static constexpr std::string_view kGoType = "v1.KubeSchedulerConfiguration";
  static constexpr std::string_view kDebugging = "DebuggingConfiguration";
  static constexpr std::tuple kFields{
      NotHeld{"apiVersion", "TypeMeta"},
      NotHeld{"kind", "TypeMeta"},
      Held<&T::parallelism>{"parallelism", Print::kIfGiven},
      Held<&T::leader_election>{"leaderElection", Print::kAlways},
      Held<&T::client_connection>{"clientConnection", Print::kAlways},
      Held<&T::enable_profiling>{"enableProfiling", Print::kIfGiven, ZeroIs::kItself, kDebugging},
      Held<&T::enable_contention_profiling>{"enableContentionProfiling", Print::kIfGiven,
                                            ZeroIs::kItself, kDebugging},
      Held<&T::percentage_of_nodes_to_score>{"percentageOfNodesToScore", Print::kIfGiven},
      Held<&T::pod_initial_backoff_seconds>{"podInitialBackoffSeconds", Print::kIfGiven},
      Held<&T::pod_max_backoff_seconds>{"podMaxBackoffSeconds", Print::kIfGiven},
      Held<&T::profiles>{"profiles"},
      Held<&T::extenders>{"extenders"},
      Held<&T::delay_cache_until_active>{"delayCacheUntilActive"}};
};

}  // namespace berth::config
