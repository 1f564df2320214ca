// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/virtual_time.h"
#include "src/metrics/registry.h"
#include "src/queue/scheduling_queue.h"
#include "src/scheduler/attempt.h"
#include "src/scheduler/options.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/state.h"
#include "tests/support/builders.h"
#include "tests/support/fake_api.h"

namespace berth::test {

// What the parts of a scheduler work on, for tests that call one of them by itself: the state, the
// in-tree plugins' default profile and the queue. What is written to the API server is kept and
// not answered.
class PartsFixture : public testing::Test {
 protected:
  PartsFixture();
  ~PartsFixture() override;

  // Begins again with options_ and plugins_.
  void Restart();
  scheduler::SchedulerState& state() { return *state_; }
  scheduler::Profiles& profiles() { return *profiles_; }
  queue::SchedulingQueue& queue() { return *queue_; }
  Time Now() const { return clock_.Now(); }

  NodeRow AddNode(const NodeBuilder& node) { return state_->cluster.cache.SetNode(node.Ptr()); }
  // A pod of ours, as the informers would tell of it.
  void AddPod(const std::shared_ptr<const api::Pod>& pod);
  void AddPod(const PodBuilder& pod) { AddPod(pod.Ptr()); }
  // The next pod of the queue, popped for an attempt.
  scheduler::Attempt Pop();

  // Sends what waits to be sent.
  void RunExecutor() { executor_.RunDue(); }
  // The requests made so far: "POST /api/v1/..." and their bodies.
  struct Written {
    std::string request;
    std::string body;
  };
  std::vector<Written> Requests();
  // The notes of the events with that reason.
  std::vector<std::string> Events(std::string_view reason);
  // The bodies of patches of that pod's status.
  std::vector<std::string> StatusPatches(std::string_view pod_name);
  // What /metrics shows.
  std::string Metrics();

  scheduler::SchedulerOptions options_;
  std::vector<PluginRegistration> plugins_;

 private:
  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  std::unique_ptr<FakeApi> api_;
  std::unique_ptr<metrics::Registry> metrics_;
  std::unique_ptr<scheduler::SchedulerState> state_;
  std::optional<scheduler::Profiles> profiles_;
  std::unique_ptr<queue::SchedulingQueue> queue_;
};

}  // namespace berth::test
