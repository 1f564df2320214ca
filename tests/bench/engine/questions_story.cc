// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/engine/questions_story.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <utility>

#include "src/app/daemon/in_tree_plugins.h"
#include "src/app/endpoints/live_state.h"
#include "src/base/clock.h"
#include "src/base/inbox.h"
#include "src/base/thread.h"
#include "src/config/load.h"
#include "src/documents/parse.h"
#include "src/questions/answers.h"
#include "src/questions/fixes.h"
#include "src/questions/pod_question.h"
#include "tests/support/builders.h"

namespace berth::bench {
namespace {

using std::chrono::duration;

// Makes simulations; there is nothing to follow.
class StillCluster final : public questions::LiveCluster {
 public:
  Result<std::unique_ptr<simulator::Simulation>> MakeSimulation() override {
    simulator::SimulationOptions options;
    options.scheduler.configuration = config::DefaultConfiguration(
        app::KnownTo(app::FindInTreePlugins(), config::FeatureGates()));
    options.scheduler.seed = 1;
    options.keep_events = false;
    return simulator::Simulation::Make(options, app::FindInTreePlugins().registry);
  }
  size_t num_kinds() const override { return 0; }
  void Follow(questions::ChangeSink /*sink*/) override {}
  void Unfollow() override {}
};

double Seconds(Duration time) { return duration<double>(time).count(); }

// CPU time of the thread that it takes.
Duration Take(const std::function<void()>& work) {
  const Duration before = base::ThreadCpuTime();
  work();
  return base::ThreadCpuTime() - before;
}

void Put(api::ObjectPtr object, questions::Mirror& mirror) {
  informers::InformerEvent event;
  event.kind = simulator::KindOf(object);
  event.new_object = std::move(object);
  mirror.Take(event);
}

std::unique_ptr<simulator::Simulation> Made(Result<std::unique_ptr<simulator::Simulation>> made) {
  if (made) return *std::move(made);
  std::cerr << made.error().message << '\n';
  std::exit(2);
}

std::vector<api::ObjectPtr> Objects(const QuestionSizes& sizes) {
  std::vector<api::ObjectPtr> objects;
  for (size_t i = 0; i < sizes.nodes; ++i) {
    objects.emplace_back(test::MakeNode("node-" + std::to_string(i))
                             .Label("topology.kubernetes.io/zone", "zone-" + std::to_string(i % 3))
                             .Allocatable({{"cpu", "16"}, {"memory", "64Gi"}, {"pods", "110"}})
                             .Ptr());
  }
  for (size_t i = 0; i < sizes.pods; ++i) {
    objects.emplace_back(test::MakePod()
                             .Name("pod-" + std::to_string(i))
                             .SchedulerName("default-scheduler")
                             .Req({{"cpu", "1"}, {"memory", "1Gi"}})
                             .OnNode("node-" + std::to_string(i % sizes.nodes))
                             .Ptr());
  }
  return objects;
}

void Fill(std::vector<api::ObjectPtr> objects, questions::Mirror& mirror) {
  for (api::ObjectPtr& object : objects) Put(std::move(object), mirror);
  mirror.simulation().RunDue();
}

// `i`: pods are alike in shape, and no two in their requests.
std::string Question(size_t i, size_t cpu) {
  return R"({"pods":[{"metadata":{"name":"asked","labels":{"app":"asked"}},"spec":{"containers":[)"
         R"({"name":"c","resources":{"requests":{"cpu":")" +
         std::to_string(cpu * 1000 + i) + R"(m","memory":"1Gi"}}}]}}]})";
}

// As the endpoint answers one; how long each took.
std::vector<Duration> Judge(const QuestionSizes& sizes, size_t cpu, questions::Mirror& mirror) {
  std::vector<Duration> times;
  for (size_t i = 0; i < sizes.questions; ++i) {
    const std::string text = Question(i, cpu);
    times.push_back(Take([&] {
      const auto pods = questions::ParsePods(*documents::ParseJson(text, ""));
      const auto reply = questions::JudgePods(*pods, mirror, [] { return false; });
      if (reply.code != 200) std::exit(2);
    }));
  }
  return times;
}

Duration P99(std::vector<Duration> times) {
  std::ranges::sort(times);
  return times[times.size() * 99 / 100];
}

// The documents of /debug/explain, of pods that fit nowhere and no two of which are alike.
std::vector<Duration> ExplainAll(const QuestionSizes& sizes, questions::Mirror& mirror) {
  std::vector<Duration> times;
  for (size_t i = 0; i < sizes.questions / 10; ++i) {
    const auto pod = test::MakePod()
                         .SchedulerName("default-scheduler")
                         .Req({{"cpu", std::to_string(20'000 + i) + "m"}})
                         .Ptr();
    times.push_back(Take([&] {
      const auto answer = questions::Explain(mirror.simulation().scheduler(), pod,
                                             {.effects = scheduler::Effects::kNone});
      if (questions::ToText(answer, questions::Form::kJson).empty()) std::exit(2);
    }));
  }
  std::ranges::sort(times);
  return times;
}

// The fixes of a hundred pods that fit nowhere: replicas, or no two alike.
Duration FixAll(bool replicas, questions::Mirror& mirror) {
  constexpr size_t kPods = 100;
  const base::RealClock clock;
  questions::FixCache cache(mirror.simulation(), clock);
  return Take([&] {
    for (size_t i = 0; i < kPods; ++i) {
      const auto pod = test::MakePod()
                           .Name("waits-" + std::to_string(i))
                           .SchedulerName("default-scheduler")
                           .Req({{"cpu", std::to_string(20'000 + (replicas ? 0 : i)) + "m"}})
                           .Ptr();
      if (cache.Find(pod).fixes.empty()) std::exit(2);
    }
    if (cache.searches() != (replicas ? 1 : kPods)) std::exit(2);
  });
}

// What the scheduling thread of a daemon is held up for by a question, and by the first of them,
// of which a thousand are asked while as many pods as may be are on their way to their nodes.
struct HeldUp {
  size_t decided = 0;
  Duration telling{};   // a mirror that begins of them
  Duration position{};  // finding out where a pod stands
};

HeldUp HoldUp(const QuestionSizes& sizes, StillCluster& cluster) {
  constexpr size_t kWaiting = 1000;
  const std::unique_ptr<simulator::Simulation> simulation = Made(cluster.MakeSimulation());
  for (api::ObjectPtr& object : Objects(sizes)) simulation->Apply(std::move(object));
  simulation->Start();
  simulation->RunDue();
  std::vector<std::string> keys;
  for (size_t i = 0; i < kWaiting; ++i) {
    auto pod = test::MakePod()
                   .Name("late-" + std::to_string(i))
                   .SchedulerName("default-scheduler")
                   .Req({{"cpu", "1"}})
                   .Ptr();
    keys.push_back(pod->metadata.Key());
    simulation->Apply(std::move(pod));
  }
  scheduler::Scheduler& scheduler = simulation->scheduler();
  // Turns of the loop alone, so that no bind is answered.
  for (size_t i = 0; i < kWaiting; ++i) scheduler.Turn(simulation->now());
  std::vector<Duration> telling;
  std::vector<Duration> position;
  base::Inbox<questions::ClusterChange> feed;
  for (const std::string& key : keys) {
    telling.push_back(Take([&] {
      scheduler.WatchAssignments([&feed](const scheduler::PodAssignment& pod) { feed.Push(pod); });
    }));
    std::vector<questions::ClusterChange> told;
    feed.Drain(told, Duration::zero());
    if (told.size() != scheduler.binding_cycles().size()) std::exit(2);
    position.push_back(Take([&] {
      if (!app::PositionOf(scheduler, key)) std::exit(2);
    }));
  }
  return {scheduler.binding_cycles().size(), P99(telling), P99(position)};
}

}  // namespace

std::vector<Figure> Questions(const QuestionSizes& sizes) {
  StillCluster cluster;
  questions::Mirror mirror(Made(cluster.MakeSimulation()));
  std::vector<Figure> figures;
  const auto add = [&figures](const std::string& what, double value, const std::string& unit) {
    figures.push_back({"Questions", what, value, unit});
  };
  std::vector<api::ObjectPtr> objects = Objects(sizes);
  const Duration filling = Take([&] { Fill(std::move(objects), mirror); });
  add("the mirror is made in", Seconds(filling) * 1000, "ms");
  for (const auto& [name, cpu] : {std::pair("fits", size_t{1}), {"fits nowhere", size_t{20}}}) {
    const std::vector<Duration> times = Judge(sizes, cpu, mirror);
    Duration sum{};
    for (const Duration time : times) sum += time;
    const std::string which = std::string("a pod that ") + name;
    add(which, static_cast<double>(times.size()) / Seconds(sum), "1/s");
    add(which + ", p99", Seconds(P99(times)) * 1e6, "us");
  }
  const std::vector<Duration> verdicts = ExplainAll(sizes, mirror);
  add("a pod's verdict of all nodes, median", Seconds(verdicts[verdicts.size() / 2]) * 1000, "ms");
  add("fixes of 100 replicas", Seconds(FixAll(true, mirror)) * 1000, "ms");
  add("fixes of 100 pods, no two alike", Seconds(FixAll(false, mirror)) * 1000, "ms");
  const auto question = questions::ParseWhatIf(std::string_view(
      R"({"drain":["node-1"],"fill":{"pod":{"metadata":{"name":"more"},"spec":{"containers":[)"
      R"({"name":"c","resources":{"requests":{"cpu":"1"}}}]}},"most":1000}})"));
  const Duration large = Take([&] {
    const auto reply = questions::AnswerWhatIf(*question, questions::Form::kJson, cluster, mirror,
                                               [] { return false; });
    if (reply.code != 200) std::exit(2);
  });
  add("a drain, and 1,000 more pods", Seconds(large) * 1000, "ms");
  const HeldUp held_up = HoldUp(sizes, cluster);
  add("scheduling thread, tells of " + std::to_string(held_up.decided) + " decided pods, p99",
      Seconds(held_up.telling) * 1e6, "us");
  add("scheduling thread, where a pod stands, p99", Seconds(held_up.position) * 1e6, "us");
  return figures;
}

}  // namespace berth::bench
