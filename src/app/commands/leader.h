// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "berth/time.h"
#include "src/app/commands/daemon_client.h"
#include "src/client/api_client.h"
#include "src/client/kubeconfig.h"

namespace berth::app {

// The Lease of the default installation, deploy/base.
inline constexpr const char* kDefaultLease = "berth-system/berth";

// The replica that leads: a pod.
struct Leader {
  std::string namespace_;
  std::string pod;
  int port = 10259;  // of its endpoints
  // The ConfigMap that its pod mounts and the key of the configuration in it; "" where it has none.
  std::string config_map;
  std::string config_key;
  std::vector<std::string> feature_gates;  // values of its --feature-gates

  std::string Key() const { return namespace_ + "/" + pod; }
};

// Finds it by its Lease, "namespace/name", whose holder is named after the pod. Errors: as the API
// server answers (404: there is no such Lease), or nothing holds the Lease (code 404, too).
tl::expected<Leader, client::ApiError> FindLeader(const client::ServerConfig& server,
                                                  const std::string& lease, Duration timeout);

// The configuration of a leader with a config_map. Errors: as FindLeader().
tl::expected<std::string, client::ApiError> ConfigurationOf(const Leader& leader,
                                                            const client::ServerConfig& server,
                                                            Duration timeout);

// How kubectl finds the cluster; either may be "".
struct KubectlFlags {
  std::string kubeconfig;
  std::string context;
};

// A port of this machine that leads to the leader's, by `kubectl port-forward`, as long as the
// object lives: through the API server and the kubelet, with the rights of the user.
//
// Thread safety: one owner.
class PortForward {
 public:
  // Errors: there is no kubectl; what it says; nothing within `patience`.
  static Result<std::unique_ptr<PortForward>> Open(const Leader& leader, const KubectlFlags& flags,
                                                   Duration patience);
  ~PortForward();
  PortForward(const PortForward&) = delete;
  PortForward& operator=(const PortForward&) = delete;

  // "https://127.0.0.1:41234".
  const std::string& url() const { return url_; }

 private:
  PortForward(int pid, int output) : pid_(pid), output_(output) {}
  Result<void> AwaitPort(Duration patience);

  int pid_;
  int output_;  // what kubectl prints
  std::string url_;
};

// The leader as a daemon that is asked, at the other end of the port; else as the flags say.
DaemonFlags DaemonBehind(const PortForward& forward, DaemonFlags flags);

}  // namespace berth::app
