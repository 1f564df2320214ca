// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "berth/check.h"
#include "berth/handle.h"
#include "tests/support/fake_clock.h"
#include "tests/support/plain_listers.h"
#include "tests/support/plain_resource_names.h"

namespace berth::test {

// A cancellation that is pulled by hand.
class FakeCancellation final : public Cancellation {
 public:
  bool cancelled() const override { return cancelled_; }
  void OnCancel(std::function<void()> hook) override {
    if (cancelled_) {
      hook();
    } else {
      hooks_.push_back(std::move(hook));
    }
  }
  void Cancel() {
    cancelled_ = true;
    for (auto& hook : std::exchange(hooks_, {})) hook();
  }

 private:
  bool cancelled_ = false;
  std::vector<std::function<void()>> hooks_;
};

// A Handle for plugin tests: a clock that stands still, seed 1, default features; what plugins ask
// for is recorded in the public members. Thread safety: one owner.
class FakeHandle final : public Handle {
 public:
  struct Bind {
    PodInfo pod;
    std::string node_name;
    AsyncDone done;
  };

  const Clock& clock() const override { return fake_clock; }
  Random& random() override { return seeded_random; }
  const Features& features() const override { return gates; }
  std::string_view scheduler_name() const override { return "default-scheduler"; }
  const Snapshot& snapshot() const override {
    BERTH_CHECK(current_snapshot != nullptr, "the test set no snapshot");
    return *current_snapshot;
  }
  const Listers& listers() const override { return plain_listers; }
  ResourceNames& resource_names() override { return names; }
  ReasonTable& reasons() override { return reason_table; }

  WaitingPod* FindWaitingPod(std::string_view uid) override {
    for (WaitingPod* pod : waiting_pods) {
      if (pod->pod().pod->metadata.uid == uid) return pod;
    }
    return nullptr;
  }
  void ForEachWaitingPod(const std::function<void(WaitingPod&)>& visit) override {
    for (WaitingPod* pod : waiting_pods) visit(*pod);
  }
  void Activate(const std::vector<std::string>& pod_keys) override {
    activated.insert(activated.end(), pod_keys.begin(), pod_keys.end());
  }
  // The test calls `done` of the recorded bind.
  void BindPod(const PodInfo& pod, std::string_view node_name, Cancellation& cancellation,
               AsyncDone done) override {
    (void)cancellation;
    binds.push_back({pod, std::string(node_name), std::move(done)});
  }

  FakeClock fake_clock;
  Random seeded_random{1};
  Features gates;
  const Snapshot* current_snapshot = nullptr;
  PlainListers plain_listers;
  PlainResourceNames names;
  ReasonTable reason_table;
  std::vector<WaitingPod*> waiting_pods;
  std::vector<std::string> activated;
  std::vector<Bind> binds;
};

}  // namespace berth::test
