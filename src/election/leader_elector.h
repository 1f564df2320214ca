// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "berth/result.h"
#include "berth/time.h"
#include "src/client/api_client.h"
#include "src/config/types.h"
#include "src/metrics/registry.h"

namespace berth::election {

// "<hostname>_<uuid>": who holds a lease. Never the same twice, also for one hostname and one seed,
// so the caller draws both words from the operating system.
std::string MakeIdentity(const std::string& hostname, uint64_t high, uint64_t low);

// What validation of the configuration leaves to the elector: renewDeadline must exceed
// 1.2 * retryPeriod.
Result<void> CheckTimes(const config::LeaderElection& config);

struct ElectionOptions {
  config::LeaderElection config;  // as CheckTimes() accepts it
  std::string identity;
  std::string component;  // the source of its events
  uint64_t seed = 0;
};

// All are called on the executor's thread.
struct ElectionCallbacks {
  // Whether this process does its work. While it does not, the lease is neither acquired nor
  // renewed. May be empty.
  std::function<bool()> healthy;
  // What to note on the lease with the next renewal, for the leader after this one; "": nothing.
  // May be empty.
  std::function<std::string()> unfinished_pods;
  // The lease is ours; what the leader before noted on it. Once, at most.
  std::function<void(const std::string& unfinished_pods)> started_leading;
  // It was ours and is not any more. Once, at most; never after Stop().
  std::function<void()> lost;
};

// Holds a Lease (coordination.k8s.io/v1), as k8s.io/client-go/tools/leaderelection does.
//
//             free, expired: PUT; absent: POST                 not renewed for renewDeadline,
//   acquiring ---------------------------------> leading ----> or held by another ------> lost
//    ^     | held by another, errors              ^    |
//    +-----+ retryPeriod * (1..2.2)               +----+ PUT each retryPeriod
//                                                 Stop(): the lease is given up, then ended
//
// Clocks of other machines are never compared: a lease has expired when this process has seen no
// change of it for leaseDuration by its own clock, which counts the time that the machine was
// suspended (Clock::Now()). A renewal PUTs what the last answer left; when
// that fails, the lease is read first. Leases are never patched.
//
// A leader notes on the lease which pods it is long at, so that the next one, should it end over
// them, knows: it reads the lease anyway before it takes it, and no further object or right is
// needed.
//
// Unlike client-go, a leader that reads another holder in the lease has lost it at once, and the
// lease is not renewed while `healthy` says no.
//
// Thread safety: any thread; the work is done on the executor's. No thread of its own.
class LeaderElector {
 public:
  // All references must outlive the elector.
  LeaderElector(client::ApiClient& api, const Clock& clock, metrics::Registry& metrics,
                ElectionOptions options, ElectionCallbacks callbacks);
  // Calls nothing back any more; the lease is not given up. On the executor's thread, or once that
  // has stopped.
  ~LeaderElector();
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  // Begins to try for the lease.
  void Start();
  // Ends. A leader first gives the lease up, so that another can have it at once; that takes at
  // most renewDeadline. `done` is called on the executor's thread.
  void Stop(std::function<void()> done);

  bool leading() const;
  // Whether a write that is sent now arrives while no other process can hold the lease: this one
  // leads, and its last renewal is not older, by its own clock, than the middle between
  // renewDeadline and leaseDuration. What other checks have overslept, this one notices.
  bool MayWrite() const;
  // For health checks: what is wrong, if this process leads and has not renewed for leaseDuration
  // and `tolerance`.
  std::optional<std::string> Check(Duration tolerance) const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::election
