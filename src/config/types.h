// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/extension_points.h"
#include "berth/time.h"

// KubeSchedulerConfiguration kubescheduler.config.k8s.io/v1, field by field. A default-constructed
// struct holds the defaults, but for `profiles` (load.h). What the fields are called is in
// tables.h.
namespace berth::config {

struct PluginRef {
  std::string name;
  // Used by Score and PlacementScore; 0 means not set.
  int32_t weight = 0;

  friend bool operator==(const PluginRef&, const PluginRef&) = default;
};

// What one extension point switches on and off, in file order. A disabled "*" means all defaults.
struct PluginSet {
  std::vector<PluginRef> enabled;
  std::vector<PluginRef> disabled;

  friend bool operator==(const PluginSet&, const PluginSet&) = default;
};

// One set for each extension point, and `multi_point`, which stands for all of them.
struct Plugins {
#define BERTH_PLUGIN_SET(Name, member, ...) PluginSet member;
  BERTH_EXTENSION_POINTS(BERTH_PLUGIN_SET)
  BERTH_POD_GROUP_POINTS(BERTH_PLUGIN_SET)
#undef BERTH_PLUGIN_SET
  PluginSet multi_point;

  friend bool operator==(const Plugins&, const Plugins&) = default;
};

// The args of one plugin, as written: the plugin reads, defaults and validates them.
struct PluginConfig {
  std::string name;
  ConfigValue args;  // null when absent
};

struct Profile {
  std::string scheduler_name;
  // Unset: the configuration's own.
  std::optional<int32_t> percentage_of_nodes_to_score;
  Plugins plugins;
  std::vector<PluginConfig> plugin_config;
};

// How to reach the API server.
struct ClientConnection {
  std::string kubeconfig;  // a path; "" means in-cluster
  std::string accept_content_types;
  std::string content_type = "application/vnd.kubernetes.protobuf";
  float qps = 50;  // negative: no limit
  int32_t burst = 100;

  bool writes_json() const { return content_type == "application/json"; }
  // Whether objects are to be answered in JSON and nothing else.
  bool reads_json() const {
    return accept_content_types.empty()
               ? writes_json()
               : accept_content_types.find("protobuf") == std::string::npos;
  }
};

struct LeaderElection {
  bool leader_elect = true;
  Duration lease_duration = std::chrono::seconds(15);
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry_period = std::chrono::seconds(2);
  std::string resource_lock = "leases";
  std::string resource_name = "kube-scheduler";
  std::string resource_namespace = "kube-system";
};

// A resource that an extender, not the scheduler, keeps the books of.
struct ExtenderManagedResource {
  std::string name;
  // NodeResourcesFit does not look at it either.
  bool ignored_by_scheduler = false;
};

// How to speak TLS with an extender. Data wins over the file of the same thing.
struct ExtenderTlsConfig {
  bool insecure = false;  // no check of the server's certificate
  std::string server_name;
  std::string cert_file;
  std::string key_file;
  std::string ca_file;
  std::string cert_data;  // decoded
  std::string key_data;
  std::string ca_data;
};

// An HTTP extender. An empty verb is one that it does not have.
struct Extender {
  std::string url_prefix;
  std::string filter_verb;
  std::string preempt_verb;
  std::string prioritize_verb;
  int64_t weight = 0;  // of its scores
  std::string bind_verb;
  bool enable_https = false;
  std::optional<ExtenderTlsConfig> tls_config;
  Duration http_timeout = std::chrono::seconds(5);  // of one call
  bool node_cache_capable = false;                  // wants the names of nodes only
  std::vector<ExtenderManagedResource> managed_resources;
  bool ignorable = false;  // scheduling goes on without it where it fails
};

struct SchedulerConfiguration {
  int32_t parallelism = 16;
  LeaderElection leader_election;
  ClientConnection client_connection;
  bool enable_profiling = true;
  bool enable_contention_profiling = true;
  // 0: all nodes, except where an extender filters or prioritises.
  int32_t percentage_of_nodes_to_score = 0;
  int64_t pod_initial_backoff_seconds = 1;
  int64_t pod_max_backoff_seconds = 10;
  std::vector<Profile> profiles;
  std::vector<Extender> extenders;
  bool delay_cache_until_active = false;
};

}  // namespace berth::config
