// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/binding/bind_attempt.h"
#include "src/extender/extender.h"

namespace berth::test {

// An extender without a wire: answers what the public members say and writes down what it was
// asked. Binds are answered by the test. Thread safety: one owner.
class FakeExtender final : public extender::Extender {
 public:
  explicit FakeExtender(std::string a_name = "fake") : name(std::move(a_name)) {}

  std::string_view Name() const override { return name; }
  bool IsIgnorable() const override { return ignorable; }
  bool IsInterested(const api::Pod& pod) const override {
    return pod.metadata.name.starts_with(interested_in);
  }
  bool IsFilter() const override { return filters; }
  bool IsPrioritizer() const override { return prioritizes; }
  bool SupportsPreemption() const override { return preempts; }
  bool IsBinder() const override { return binds; }
  int64_t Weight() const override { return weight; }
  Duration Timeout() const override { return timeout; }

  Result<extender::FilterResult> Filter(const api::Pod& pod, const Snapshot& snapshot,
                                        std::span<const NodeRow> nodes) override {
    Log("filter", pod, snapshot, {nodes.begin(), nodes.end()});
    if (on_wait) on_wait();
    if (!error.empty()) return Fail(error);
    extender::FilterResult result;
    for (const NodeRow row : nodes) {
      const std::string& node = snapshot.node(row).metadata.name;
      bool left = !dropped.contains(node);
      if (const auto it = failed.find(node); it != failed.end()) {
        left = false;
        result.rejected.push_back({row, Code::kUnschedulable, it->second});
      }
      if (const auto it = unresolvable.find(node); it != unresolvable.end()) {
        left = false;
        result.rejected.push_back({row, Code::kUnschedulableAndUnresolvable, it->second});
      }
      if (left) result.nodes.push_back(row);
    }
    for (const auto& [node, reason] : unasked) {
      result.rejected.push_back(
          {snapshot.FindNode(node), Code::kUnschedulableAndUnresolvable, reason});
    }
    if (reverses) std::ranges::reverse(result.nodes);
    return result;
  }

  std::unique_ptr<extender::PendingPriorities> Prioritize(const api::Pod& pod,
                                                          const Snapshot& snapshot,
                                                          std::span<const NodeRow> nodes) override {
    Log("prioritize", pod, snapshot, {nodes.begin(), nodes.end()});
    struct Ready final : extender::PendingPriorities {
      Result<std::vector<extender::HostPriority>> Wait() override { return answer; }
      Result<std::vector<extender::HostPriority>> answer;
    };
    auto ready = std::make_unique<Ready>();
    for (const auto& [node, score] : scores) {
      ready->answer->push_back({snapshot.FindNode(node), score});
    }
    if (!error.empty()) ready->answer = Fail(error);
    return ready;
  }

  Result<std::vector<PreemptionCandidate>> ProcessPreemption(
      const api::Pod& pod, const Snapshot& snapshot,
      std::span<const PreemptionCandidate> candidates) override {
    std::vector<NodeRow> rows;
    for (const PreemptionCandidate& candidate : candidates) rows.push_back(candidate.row);
    Log("preempt", pod, snapshot, rows);
    if (!error.empty()) return Fail(error);
    std::vector<PreemptionCandidate> left(candidates.begin(), candidates.end());
    if (process_preemption) process_preemption(snapshot, left);
    return left;
  }

  std::shared_ptr<client::Call> Bind(const api::Pod& pod, std::string_view node_name,
                                     std::function<void(binding::RequestEnd)> done) override {
    calls.push_back("bind " + pod.metadata.name + ": " + std::string(node_name));
    struct Call final : client::Call {
      void Cancel() override {
        if (auto told = std::exchange(done, nullptr)) {
          told({binding::RequestEnd::Kind::kLost, "too late"});
        }
      }
      std::function<void(binding::RequestEnd)> done;
    };
    auto call = std::make_shared<Call>();
    call->done = std::move(done);
    open_binds.push_back([call](binding::RequestEnd result) {
      if (auto told = std::exchange(call->done, nullptr)) told(std::move(result));
    });
    return call;
  }

  std::string name;
  bool ignorable = false;
  bool filters = false;
  bool prioritizes = false;
  bool preempts = false;
  bool binds = false;
  int64_t weight = 1;
  Duration timeout = std::chrono::seconds(5);
  bool reverses = false;                      // the order of the nodes that it leaves
  std::function<void()> on_wait;              // called while it is asked to filter
  std::string interested_in;                  // a prefix of pods' names
  std::string error;                          // of every call but Bind
  std::map<std::string, bool> dropped;        // nodes without a word
  std::map<std::string, std::string> failed;  // nodes, with the reason
  std::map<std::string, std::string> unresolvable;
  // Nodes that it rejects for good without being asked about them.
  std::map<std::string, std::string> unasked;
  std::map<std::string, int64_t> scores;
  std::function<void(const Snapshot&, std::vector<PreemptionCandidate>&)> process_preemption;
  std::vector<std::function<void(binding::RequestEnd)>> open_binds;
  // "filter pod: n1 n2"
  std::vector<std::string> calls;

 private:
  void Log(const char* verb, const api::Pod& pod, const Snapshot& snapshot,
           const std::vector<NodeRow>& rows) {
    std::string line = std::string(verb) + " " + pod.metadata.name + ":";
    for (const NodeRow row : rows) line += " " + snapshot.node(row).metadata.name;
    calls.push_back(std::move(line));
  }
};

}  // namespace berth::test
