// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/config_value.h"
#include "berth/result.h"

// Where the API server is and who we are to it: a kubeconfig file, or the service account of the
// pod that we run in. Unknown fields are skipped, as kubectl does.
namespace berth::client {

// A program that prints credentials (client.authentication.k8s.io).
struct ExecConfig {
  std::string command;  // a path, or a name to be found in PATH
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string api_version;  // client.authentication.k8s.io/v1 or /v1beta1
  std::string install_hint;
  std::string interactive_mode;  // Never, IfAvailable or Always
  bool provide_cluster_info = false;
};

struct ClusterConfig {
  std::string server;           // "https://host:port/prefix"
  std::string tls_server_name;  // "" means the server's host
  bool insecure_skip_tls_verify = false;
  std::string ca_file;  // absolute
  std::string ca_data;  // PEM; goes before ca_file
  std::string proxy_url;
  bool disable_compression = false;
  // extensions[client.authentication.k8s.io/exec], for exec plugins; null when absent.
  ConfigValue exec_extension;
};

struct UserConfig {
  std::string client_certificate_file;  // absolute
  std::string client_certificate_data;  // PEM; goes before the file
  std::string client_key_file;          // absolute
  std::string client_key_data;          // PEM; goes before the file
  std::string token;
  std::string token_file;  // absolute; goes before `token` once it could be read
  std::string username;
  std::string password;
  std::string impersonate_user;
  std::string impersonate_uid;
  std::vector<std::string> impersonate_groups;
  std::vector<std::pair<std::string, std::vector<std::string>>> impersonate_extra;
  std::optional<ExecConfig> exec;
};

struct ServerConfig {
  ClusterConfig cluster;
  UserConfig user;
  std::string default_namespace;  // of the context, or of the service account; may be ""
};

struct KubeconfigOptions {
  std::string path;
  // Files that are read after it, as kubectl reads those that KUBECONFIG lists: the first that
  // names a cluster, a user, a context or the current context counts, and of all the files those
  // that are not there are left out, as long as one is.
  std::vector<std::string> others = {};
  std::string context = {};  // "" means current-context
  std::string master = {};   // overrides the cluster's server
};

// Errors name the file and the field: `F: users["admin"].user.client-key-data: not base64`.
Result<ServerConfig> LoadKubeconfig(const KubeconfigOptions& options);
// The same from the text of options.path alone; relative paths are taken from its folder.
Result<ServerConfig> ParseKubeconfig(std::string_view text, const KubeconfigOptions& options);

struct InClusterOptions {
  std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  // "" means the environment's KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT.
  std::string host;
  std::string port;
};
Result<ServerConfig> InClusterConfig(const InClusterOptions& options = {});

// As kube-scheduler finds its server: the kubeconfig if one is named, else `master` alone, else
// the service account.
Result<ServerConfig> FindServer(const std::string& kubeconfig, const std::string& master);

// A server's address taken apart.
struct ServerAddress {
  std::string scheme;  // http or https
  std::string host;    // IPv6 without brackets
  std::string port;
  std::string path;         // "" or "/prefix", without a slash at its end
  std::string authority{};  // host and, where one was given, port, as they were given

  bool tls() const { return scheme == "https"; }
  // "host:port", with brackets around IPv6.
  std::string HostPort() const;
};
// Without a scheme https is meant, but for a bare "host:port" of `tls_configured` false: http.
Result<ServerAddress> ParseServerAddress(const std::string& server, bool tls_configured);

}  // namespace berth::client
