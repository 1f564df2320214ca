// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plugins/in_tree_registry.h"
#include "src/base/virtual_time.h"
#include "src/config/load.h"
#include "src/metrics/registry.h"
#include "src/queue/scheduling_queue.h"
#include "src/scheduler/binding_cycles.h"
#include "src/scheduler/scheduler.h"
#include "src/simulator/memory_api.h"
#include "tests/support/builders.h"
#include "tests/support/fake_api.h"

namespace berth::test {

// A scheduler with the in-tree plugins over an API server in memory, run turn by turn. What the
// watch would tell of, the test tells itself.
class SchedulerFixture : public testing::Test {
 protected:
  SchedulerFixture();
  ~SchedulerFixture() override;

  // Begins again with options_.
  void Restart();
  scheduler::Scheduler& scheduler() { return *scheduler_; }
  Time Now() const { return clock_.Now(); }
  base::VirtualClock& clock() { return clock_; }

  // Runs the loop and the I/O until neither has anything left to do at this time.
  void Turn();
  // Lets time pass in steps of 100 ms, running both.
  void Advance(Duration by);

  // What the informers would say.
  void Synced();
  void AddNode(std::shared_ptr<const api::Node> node);
  void AddNode(const NodeBuilder& node) { AddNode(node.Ptr()); }
  void UpdateNode(std::shared_ptr<const api::Node> old_node, std::shared_ptr<const api::Node> node);
  void AddPod(std::shared_ptr<const api::Pod> pod);
  void AddPod(const PodBuilder& pod) { AddPod(pod.Ptr()); }
  void UpdatePod(std::shared_ptr<const api::Pod> old_pod, std::shared_ptr<const api::Pod> pod);
  void DeletePod(std::shared_ptr<const api::Pod> pod);
  // Changes the server's object of any kind and tells the scheduler.
  void PostEvent(informers::EventType type, informers::Kind kind, api::ObjectPtr old_object,
                 api::ObjectPtr new_object);
  void PostUndecodable(const std::string& key, const std::string& node_name);

  // How binds of "namespace/name" end; by default at once, with success.
  void RefuseBind(const std::string& key, int code, const std::string& message);
  void NeverAnswerBind(const std::string& key) { never_.insert(key); }
  // Reads of a pod, which confirm a bind, stay open by default.
  void AnswerReads() { answer_reads_ = true; }
  void AcceptBind(const std::string& key);
  void ReleaseOneBind();
  // The API server answers the oldest open bind with 422.
  void RefuseOneBind();

  // "namespace/name -> node" of every POST to pods/binding, in order.
  std::vector<std::string> Bindings() const { return bindings_; }
  // "namespace/name" of every pod that was deleted, in order.
  std::vector<std::string> Deletions() const { return server_->evicted(); }
  // The notes of events with that reason.
  std::vector<std::string> Events(std::string_view reason) const;
  // What else they are about: "apiVersion kind namespace/name uid", "" where nothing is named.
  std::vector<std::string> RelatedTo(std::string_view reason) const;
  // What /metrics would show, once all has been published, and what it shows now.
  std::string Metrics();
  std::string PublishedMetrics() { return metrics_->Exposition(); }
  // Bodies of the patches of that pod's status, and of that pod group's.
  std::vector<std::string> StatusPatches(const std::string& name) const;
  std::vector<std::string> GroupStatusPatches(const std::string& name) const;

  scheduler::SchedulerOptions options_;
  std::vector<PluginRegistration> plugins_ = plugins::InTreeRegistry();
  bool hold_binds_ = false;
  // Patches of pod statuses are made but not answered.
  bool hold_status_patches_ = false;
  // So many evictions fail.
  int refuse_deletions_ = 0;
  base::VirtualClock clock_;

 private:
  std::optional<client::ResponseResult> Answer(const client::Request& request);
  std::optional<client::ResponseResult> AnswerBind(const client::Request& request);
  std::unique_ptr<base::VirtualExecutor> executor_;
  std::unique_ptr<FakeApi> api_;
  std::unique_ptr<simulator::MemoryApi> server_;
  std::unique_ptr<metrics::Registry> metrics_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;

  std::vector<std::string> bindings_;
  std::vector<std::pair<std::string, std::string>> patches_;  // path, body
  std::map<std::string, std::pair<int, std::string>> refusals_;
  std::set<std::string> never_;
  bool answer_reads_ = false;
  std::deque<size_t> held_;  // indices of open binds in the fake API
};

}  // namespace berth::test
