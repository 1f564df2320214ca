// SPDX-License-Identifier: Apache-2.0
// The classes of this room that are called from several threads, with real ones. What they do
// alone is proved elsewhere; this is for ThreadSanitizer and for what only races show.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/base/clock.h"
#include "src/base/executor.h"
#include "src/base/inbox.h"
#include "src/base/thread.h"
#include "src/binding/binder.h"
#include "src/binding/event_recorder.h"
#include "src/binding/pod_status.h"
#include "tests/support/builders.h"

namespace berth::binding {
namespace {

// Runs tasks on a thread of its own until destroyed. Timers never fall due.
class ThreadExecutor final : public base::Executor {
 public:
  ThreadExecutor()
      : thread_("executor", [this] {
          std::vector<Task> tasks;
          for (bool stop = false; !stop;) {
            inbox_.Drain(tasks, std::nullopt);
            for (Task& task : tasks) {
              if (task) task();
              stop = stop || !task;
            }
          }
        }) {}
  ~ThreadExecutor() override { inbox_.Push(nullptr); }

  void Post(Task task) override { inbox_.Push(std::move(task)); }
  TimerId PostAfter(Duration, Task) override { return 1; }
  void Cancel(TimerId) override {}
  // Runs `task` there and waits for it.
  void RunAndWait(Task task) {
    Post([&] {
      task();
      waited_for_.Push(1);
    });
    std::vector<int> got;
    while (got.empty()) waited_for_.Drain(got, std::nullopt);
  }

 private:
  base::Inbox<Task> inbox_;
  base::Inbox<int> waited_for_;
  base::NamedThread thread_;
};

// Says 200 to everything.
class WillingApi final : public client::ApiClient {
 public:
  std::shared_ptr<client::Call> Send(client::Request, client::OnResponse done) override {
    ++requests;
    executor_.Post([done = std::move(done)] { done(client::Response{200, "", "{}"}); });
    return nullptr;
  }
  std::shared_ptr<client::Call> Stream(client::Request, Duration,
                                       std::shared_ptr<client::StreamHandler>) override {
    return nullptr;
  }
  base::Executor& executor() override { return executor_; }

  std::atomic<int> requests = 0;
  ThreadExecutor executor_;
};

// Answers from a thread of its own; a cancelled call with an error.
class ElsewherePreBind final : public PreBindPlugin {
 public:
  explicit ElsewherePreBind(ThreadExecutor& thread) : thread_(thread) {}
  Status PreBindPreFlight(CycleState&, const PodInfo&, std::string_view) override {
    return Status::Success();
  }
  bool AllowParallel() const override { return true; }
  void PreBind(CycleState&, const PodInfo&, std::string_view, Cancellation& cancellation,
               AsyncDone done) override {
    const auto called = std::make_shared<std::atomic<bool>>(false);
    const auto finish = [called, done = std::move(done)](AsyncStatus status) {
      if (!called->exchange(true)) done(std::move(status));
    };
    cancellation.OnCancel([finish] { finish({Code::kError, "cancelled"}); });
    thread_.Post([finish] { finish({}); });
  }

 private:
  ThreadExecutor& thread_;
};

// What the DefaultBinder does.
class BindByApi final : public BindPlugin {
 public:
  void Bind(CycleState&, const PodInfo& pod, std::string_view node_name, Cancellation& cancellation,
            AsyncDone done) override {
    binder->BindPod(pod.pod, node_name, cancellation, std::move(done));
  }

  Binder* binder = nullptr;
};

TEST(BindingThreadsTest, EveryCycleEndsOnceAndAnAcceptedCancelKeepsThePodUnbound) {
  constexpr int kPods = 400;
  base::RealClock clock;
  WillingApi api;
  ThreadExecutor plugin_thread;
  ElsewherePreBind first(plugin_thread), second(plugin_thread);
  BindByApi bind;
  base::Inbox<BindOutcome> outcomes;
  auto binder = std::make_unique<Binder>(api, clock, 1, BinderCallbacks{[&](BindOutcome outcome) {
                                           outcomes.Push(std::move(outcome));
                                         }});
  bind.binder = binder.get();

  std::map<std::string, bool> cancelled;
  for (int i = 0; i < kPods; ++i) {
    const std::string name = "pod-" + std::to_string(i);
    auto info = std::make_shared<PodInfo>();
    info->pod = test::PodBuilder().Name(name).Uid(name).Ptr();
    BindingCycle cycle;
    cycle.pod = info;
    cycle.node_name = "node-1";
    cycle.pre_bind = {{.plugin = &first, .name = "First"}, {.plugin = &second, .name = "Second"}};
    cycle.bind = {{.plugin = &bind, .name = "BindByApi"}};
    binder->Start(std::move(cycle));
    if (i % 2 == 0) cancelled[name] = binder->CancelPreBind(name, "preempted");
  }
  std::map<std::string, bool> bound;
  std::vector<BindOutcome> batch;
  while (bound.size() < kPods) {
    outcomes.Drain(batch, std::nullopt);
    for (const BindOutcome& outcome : batch) {
      EXPECT_TRUE(bound.emplace(outcome.pod_uid, outcome.status.ok()).second) << "ended twice";
    }
  }
  int refused = 0;
  for (const auto& [name, ok] : bound) {
    refused += ok ? 0 : 1;
    EXPECT_EQ(ok, !cancelled[name]) << name;
  }
  EXPECT_EQ(api.requests.load(), kPods - refused);
  api.executor_.RunAndWait([&] { binder.reset(); });
}

TEST(BindingThreadsTest, EventsAndPatchesMayComeFromAnyThread) {
  constexpr int kEach = 100;
  base::RealClock clock;
  WillingApi api;
  auto recorder = std::make_unique<EventRecorder>(api, clock, 1, "host");
  auto patcher = std::make_unique<PodStatusPatcher>(api, clock, 1);
  base::Inbox<int> patched;
  {
    std::vector<base::NamedThread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back("sender", [&, t] {
        for (int i = 0; i < kEach; ++i) {
          const std::string name = std::to_string(t) + "-" + std::to_string(i);
          const auto pod = test::PodBuilder().Name(name).Uid(name).Ptr();
          EventRecord record;
          record.regarding = ReferenceTo(*pod);
          recorder->Record(std::move(record));
          api::PodStatusChange change;
          change.nominated_node_name = "node-1";
          patcher->Patch(pod, std::move(change), [&](const auto&) { patched.Push(1); });
        }
      });
    }
  }
  size_t done = 0;
  std::vector<int> batch;
  while (done < 3 * kEach) {
    patched.Drain(batch, std::nullopt);
    done += batch.size();
  }
  EXPECT_EQ(patcher->counts().sent, 3u * kEach);
  const EventRecorder::Counts counts = recorder->counts();
  EXPECT_EQ(counts.recorded, 3u * kEach);
  EXPECT_EQ(counts.dropped, 0u);
  api.executor_.RunAndWait([&] {
    recorder.reset();
    patcher.reset();
  });
}

}  // namespace
}  // namespace berth::binding
