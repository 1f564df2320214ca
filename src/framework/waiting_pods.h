// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/handle.h"

namespace berth::framework {

// How the wait of a pod at Permit ended.
struct PermitOutcome {
  std::string uid;
  Code code = Code::kSuccess;  // kSuccess, kUnschedulable (rejected, timed out), kError (preempted)
  std::string plugin;          // who rejected it
  std::string message;
  Duration waited{};
};

// The pods that Permit holds back. Outcomes are collected and handed out by TakeOutcomes, so that
// a plugin may allow or reject pods from within a cycle without re-entering the scheduler.
//
// Thread safety: the scheduling thread only.
class WaitingPods {
 public:
  struct PluginTimeout {
    std::string plugin;
    Duration timeout{};
  };

  WaitingPods();
  ~WaitingPods();

  // `pod` waits for every plugin named, each at most its timeout.
  void Add(PodInfoPtr pod, std::string node_name, std::vector<PluginTimeout> plugins, Time now);
  // nullptr: it does not wait, or not any more.
  WaitingPod* Find(std::string_view uid);
  // Of a pod that waits: the plugins that still object, in profile order.
  std::vector<std::string> Objectors(std::string_view uid) const;
  void ForEach(const std::function<void(WaitingPod&)>& visit);
  size_t size() const { return pods_.size(); }

  // Rejects what waited too long.
  void Expire(Time now);
  // When Expire next has something to do.
  std::optional<Time> NextExpiry() const;

  // The pods whose wait has ended since the last call, in that order; they wait no more.
  std::vector<PermitOutcome> TakeOutcomes(Time now);

 private:
  class Waiter;
  void End(Waiter& waiter, Code code, std::string_view plugin, std::string_view message);

  std::map<std::string, std::unique_ptr<Waiter>, std::less<>> pods_;  // by UID
  std::vector<PermitOutcome> outcomes_;
};

}  // namespace berth::framework
