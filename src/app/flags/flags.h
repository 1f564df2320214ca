// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "berth/time.h"
#include "src/base/logging.h"
#include "src/config/feature_gates.h"

namespace berth::app {

// The flags of kube-scheduler that are accepted and checked, so that its command lines keep
// working, but change nothing here; sorted by name. A flag that gets an effect leaves the list.
std::span<const std::string_view> FlagsWithoutEffect();

class FlagSet;

// A certificate and its key, with the names it is for ("" matches the certificate's own).
struct SniCertificate {
  std::string cert_file;
  std::string key_file;
  std::vector<std::string> names;
};

struct SecureServingFlags {
  std::string bind_address = "0.0.0.0";
  int64_t secure_port = 10259;  // 0: no server
  // Empty: a self-signed certificate in memory, unless a certificate file is named.
  std::string cert_dir;
  std::string tls_cert_file;
  std::string tls_private_key_file;
  std::vector<SniCertificate> tls_sni_cert_key;
  std::string tls_min_version;                 // "VersionTLS12" and so on; "" means 1.2
  std::vector<std::string> tls_cipher_suites;  // Go's names; empty: the library's choice
  std::vector<int32_t> tls_curve_preferences;  // Go's CurveIDs; empty: the library's choice
  int64_t http2_max_streams_per_connection = 0;
  bool disable_http2_serving = false;
  bool permit_port_sharing = false;
  bool permit_address_sharing = false;
};

struct AuthenticationFlags {
  std::string kubeconfig;
  bool skip_lookup = false;
  bool tolerate_lookup_failure = true;
  Duration token_webhook_cache_ttl = std::chrono::seconds(10);
  std::string client_ca_file;
  std::string requestheader_client_ca_file;
  std::vector<std::string> requestheader_allowed_names;
  std::vector<std::string> requestheader_username_headers = {"x-remote-user"};
  std::vector<std::string> requestheader_group_headers = {"x-remote-group"};
  std::vector<std::string> requestheader_uid_headers;
  std::vector<std::string> requestheader_extra_headers_prefix = {"x-remote-extra-"};
};

struct AuthorizationFlags {
  std::string kubeconfig;
  // A trailing '*' stands for any rest.
  std::vector<std::string> always_allow_paths = {"/healthz", "/readyz", "/livez"};
  Duration webhook_cache_authorized_ttl = std::chrono::seconds(10);
  Duration webhook_cache_unauthorized_ttl = std::chrono::seconds(10);
};

struct MetricsFlags {
  std::string show_hidden_metrics_for_version;
  std::vector<std::string> disabled_metrics;
  // Allowed values, separated by commas, by "metric,label".
  std::map<std::string, std::string> allow_metric_labels;
  std::string allow_metric_labels_manifest;
};

// The flags of `berth run`: kube-scheduler's names and defaults, and --seed. An optional is empty
// when the flag was not given.
struct RunFlags {
  std::string config;
  std::string write_config_to;
  std::string master;

  // Without effect when there is a configuration file, as in kube-scheduler.
  std::optional<std::string> kubeconfig;
  std::optional<std::string> kube_api_content_type;
  std::optional<float> kube_api_qps;
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

  SecureServingFlags secure_serving;
  AuthenticationFlags authentication;
  AuthorizationFlags authorization;
  MetricsFlags metrics;

  std::vector<std::string> feature_gates;
  std::vector<std::string> emulated_version;
  std::vector<std::string> min_compatibility_version;
  config::GateVersions gate_versions;  // what the two flags mean
  base::LogOptions log;
  bool reload_config = false;
  // Folders of plugin libraries, in the order given.
  std::vector<std::string> plugin_dirs;
  // Of every draw; from the operating system when not given.
  std::optional<uint64_t> seed;

  // Where to record to; "": nowhere.
  std::string record;
  uint64_t record_max_mib = 1024;

  // Decide beside another scheduler, and write nothing.
  bool shadow = false;
  std::string shadow_report;  // where to write what it came to, as JSON; "": nowhere

  // Flags that were given and change nothing yet, in the order of the help text.
  std::vector<std::string> without_effect;

  // What every flag stands at, by name, as /flagz shows it.
  std::map<std::string, std::string> values;

  // What to print instead of running: the help text or the version.
  std::string print_and_exit;
};

// RunFlags::values once the server runs: a certificate of its own in --cert-dir stands where one is
// not given, as in kube-scheduler.
std::map<std::string, std::string> ServedValues(const RunFlags& flags);

// What to tell someone who typed it wrong, and how: as kube-scheduler, which has set up its log for
// some mistakes and not for others.
struct FlagError {
  enum class Form { kError, kPlain, kLogged };

  std::string message;
  std::string usage = "";  // printed before the message; may be ""
  Form form = Form::kError;
  base::LogOptions log = {};             // where it is logged
  std::vector<std::string> causes = {};  // what it is made of, one by one; may be empty
};

// Reads the arguments that follow the command and checks their values. '_' stands for '-' in flag
// names; a value follows its flag after '=' or as the next argument, but for switches, which take
// '=' only. `program` is the command's name for messages.
tl::expected<RunFlags, FlagError> ParseRunFlags(const std::vector<std::string>& arguments,
                                                const std::string& program);

// --record and --record-max-size, which several commands have.
void AddRecord(FlagSet& flags, RunFlags& out);
// --plugin-dir, which several commands have.
void AddPluginDir(FlagSet& flags, RunFlags& out,
                  std::string_view what_for = "Profiles enable what they have.");
// --feature-gates of commands in whose messages a gate that was probably meant is named.
void AddFeatureGates(FlagSet& flags, std::vector<std::string>& out,
                     const std::string& help = "Feature gates; may be repeated.");
// --v of commands that log nothing but warnings without it.
void AddQuietVerbosity(FlagSet& flags, RunFlags& out);

}  // namespace berth::app
