// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <utility>

#include "src/base/mutex.h"
#include "src/framework/loadable/worker_pool.h"
#include "tests/support/builders.h"
#include "tests/support/plain_snapshot.h"
#include "tests/unit/loadable/loaded.h"

namespace berth::framework {
namespace {

using test::MakeNode;
using test::MakePod;
using test::PlainSnapshot;

// Takes the one answer of asynchronous work, from whatever thread.
class Answer {
 public:
  AsyncDone Done() {
    return [this](AsyncStatus status) {
      base::MutexLock lock(mutex_);
      ++count_;
      status_ = std::move(status);
      there_.NotifyAll();
    };
  }
  AsyncStatus Wait() {
    base::MutexLock lock(mutex_);
    while (count_ == 0) there_.Wait(mutex_);
    return status_;
  }
  int count() {
    base::MutexLock lock(mutex_);
    return count_;
  }

 private:
  base::Mutex mutex_;
  base::CondVar there_;
  int count_ BERTH_GUARDED_BY(mutex_) = 0;
  AsyncStatus status_ BERTH_GUARDED_BY(mutex_);
};

class LoadedBindingTest : public test::LoadedFixture {
 protected:
  PodInfoPtr Info(const api::Pod& pod) {
    return PodInfo::Make(std::make_shared<const api::Pod>(pod), handle_.names);
  }

  CycleState state_;
  test::FakeCancellation cancellation_;
};

TEST_F(LoadedBindingTest, PreBindHasTheStateThatPreFilterWrote) {
  const Plugin& points = MakePlugin("Everywhere");
  PreBindPlugin& plugin = *points.pre_bind;
  const PlainSnapshot snapshot(handle_.names, {MakeNode("a")});
  const auto pod = Info(MakePod());
  Answer without;
  plugin.PreBind(state_, *pod, "a", cancellation_, without.Done());
  EXPECT_EQ(without.Wait().message, "no state");
  ASSERT_TRUE(points.pre_filter->PreFilter(state_, *pod, snapshot).status.ok());
  Answer with;
  plugin.PreBind(state_, *pod, "a", cancellation_, with.Done());
  EXPECT_TRUE(with.Wait().ok());
  EXPECT_EQ(plugin.PreBindPreFlight(state_, *pod, "a").code(), Code::kSuccess);
  EXPECT_TRUE(plugin.PreBindPreFlight(state_, *Info(MakePod().Label("prepared", "")), "a").skip());
}

TEST_F(LoadedBindingTest, ACancelledPreBindHearsOfIt) {
  auto& plugin = Make<PreBindPlugin>("Everywhere");
  const auto pod = Info(MakePod().Label("lingers", ""));
  Answer answer;
  plugin.PreBind(state_, *pod, "a", cancellation_, answer.Done());
  EXPECT_EQ(answer.count(), 0);
  cancellation_.Cancel();
  EXPECT_EQ(answer.count(), 1);
  EXPECT_EQ(answer.Wait().message, "cancelled");
}

TEST_F(LoadedBindingTest, BindSkipsDelegatesOrEndsAsAnErrorWhenForgotten) {
  auto& plugin = Make<BindPlugin>("Everywhere");
  Answer skipped;
  plugin.Bind(state_, *Info(MakePod().Label("foreign", "")), "a", cancellation_, skipped.Done());
  EXPECT_EQ(skipped.Wait().code, Code::kSkip);
  Answer forgotten;
  plugin.Bind(state_, *Info(MakePod().Label("forgotten", "")), "a", cancellation_,
              forgotten.Done());
  EXPECT_EQ(forgotten.Wait().message, "the plugin ended without a verdict");
  Answer delegated;
  plugin.Bind(state_, *Info(MakePod().Name("web")), "a", cancellation_, delegated.Done());
  ASSERT_EQ(handle_.binds.size(), 1u);
  EXPECT_EQ(handle_.binds.front().pod.pod->metadata.name, "web");
  EXPECT_EQ(handle_.binds.front().node_name, "a");
  handle_.binds.front().done({});
  EXPECT_TRUE(delegated.Wait().ok());
}

TEST_F(LoadedBindingTest, AThrowEndsTheWorkAsAnError) {
  const auto pod = Info(MakePod());
  Answer pre_bind;
  Make<PreBindPlugin>("Everywhere", "PreBind")
      .PreBind(state_, *pod, "a", cancellation_, pre_bind.Done());
  EXPECT_EQ(pre_bind.Wait().code, Code::kError);
  Answer blocking;
  Make<PreBindPlugin>("Blocking", "PreBind")
      .PreBind(state_, *pod, "a", cancellation_, blocking.Done());
  EXPECT_EQ(blocking.Wait().message, "plugin threw: no PreBind today");
}

TEST_F(LoadedBindingTest, APluginThatBlocksWorksOnThreadsOfItsOwn) {
  auto& plugin = Make<BindPlugin>("Blocking");
  const auto pod = Info(MakePod().Name("web"));
  Answer bind;
  plugin.Bind(state_, *pod, "a", cancellation_, bind.Done());
  const AsyncStatus status = bind.Wait();
  EXPECT_EQ(status.code, Code::kUnschedulable);
  EXPECT_EQ(status.message, "web may not");
  cancellation_.Cancel();
  Answer late;
  plugin.Bind(state_, *pod, "a", cancellation_, late.Done());
  EXPECT_EQ(late.Wait().code, Code::kError);
}

TEST_F(LoadedBindingTest, PostBindOfAPluginThatBlocksOutlivesThePod) {
  {
    CycleState state;
    const auto pod = Info(MakePod());
    auto& plugin = Make<PostBindPlugin>("Blocking");
    for (int i = 0; i < 20; ++i) plugin.PostBind(state, *pod, "a");
  }
  plugins_.clear();  // waits for what is under way
  EXPECT_EQ(handle_.own_metrics.Value("berth_plugin_blocking_bound_total", {}), 20);
}

TEST(WorkerPoolTest, RunsAllWorkWithNoMoreThreadsThanAllowed) {
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
  std::atomic<int> done = 0;
  {
    loadable::WorkerPool pool("test", 3);
    for (int i = 0; i < 200; ++i) {
      pool.Run([&] {
        const int running = ++now;
        int seen = most;
        while (running > seen && !most.compare_exchange_weak(seen, running)) {
        }
        --now;
        ++done;
      });
    }
  }
  EXPECT_EQ(done, 200);
  EXPECT_LE(most, 3);
}

}  // namespace
}  // namespace berth::framework
