// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/engine/questions_story.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <utility>

#include "src/app/in_tree_plugins.h"
#include "src/base/clock.h"
#include "src/base/thread.h"
#include "src/config/load.h"
#include "src/documents/parse.h"
#include "src/mirror/answers.h"
#include "tests/support/builders.h"

namespace berth::bench {
namespace {

using std::chrono::duration;

// Makes simulations; there is nothing to follow.
class StillCluster final : public mirror::LiveCluster {
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
  void Follow(informers::EventSink /*sink*/) override {}
  void Unfollow() override {}
  void CollectDecided(std::vector<mirror::DecidedPod> /*before*/,
                      std::function<void(std::vector<mirror::DecidedPod>)> done) override {
    done({});
  }
};

double Seconds(Duration time) { return duration<double>(time).count(); }

// CPU time of the thread that it takes.
Duration Take(const std::function<void()>& work) {
  const Duration before = base::ThreadCpuTime();
  work();
  return base::ThreadCpuTime() - before;
}

void Put(api::ObjectPtr object, mirror::Mirror& mirror) {
  informers::InformerEvent event;
  event.kind = simulator::KindOf(object);
  event.new_object = std::move(object);
  mirror.Take(event);
}

void Fill(const QuestionSizes& sizes, mirror::Mirror& mirror) {
  for (size_t i = 0; i < sizes.nodes; ++i) {
    Put(test::MakeNode("node-" + std::to_string(i))
            .Label("topology.kubernetes.io/zone", "zone-" + std::to_string(i % 3))
            .Allocatable({{"cpu", "16"}, {"memory", "64Gi"}, {"pods", "110"}})
            .Ptr(),
        mirror);
  }
  for (size_t i = 0; i < sizes.pods; ++i) {
    Put(test::MakePod()
            .Name("pod-" + std::to_string(i))
            .SchedulerName("default-scheduler")
            .Req({{"cpu", "1"}, {"memory", "1Gi"}})
            .OnNode("node-" + std::to_string(i % sizes.nodes))
            .Ptr(),
        mirror);
  }
  mirror.simulation().RunDue();
}

// `i`: pods are alike in shape, and no two in their requests.
std::string Question(size_t i, size_t cpu) {
  return R"({"pods":[{"metadata":{"name":"asked","labels":{"app":"asked"}},"spec":{"containers":[)"
         R"({"name":"c","resources":{"requests":{"cpu":")" +
         std::to_string(cpu * 1000 + i) + R"(m","memory":"1Gi"}}}]}}]})";
}

// As the endpoint answers one; how long each took.
std::vector<Duration> Judge(const QuestionSizes& sizes, size_t cpu, mirror::Mirror& mirror) {
  std::vector<Duration> times;
  for (size_t i = 0; i < sizes.questions; ++i) {
    const std::string text = Question(i, cpu);
    times.push_back(Take([&] {
      const auto pods = mirror::ParsePods(*documents::ParseJson(text, ""));
      const auto reply = mirror::JudgePods(*pods, mirror, [] { return false; });
      if (reply.code != 200) std::exit(2);
    }));
  }
  std::ranges::sort(times);
  return times;
}

}  // namespace

std::vector<Figure> Questions(const QuestionSizes& sizes) {
  StillCluster cluster;
  auto made = cluster.MakeSimulation();
  if (!made) {
    std::cerr << made.error().message << '\n';
    std::exit(2);
  }
  mirror::Mirror mirror(*std::move(made));
  std::vector<Figure> figures;
  const auto add = [&figures](const std::string& what, double value, const std::string& unit) {
    figures.push_back({"Questions", what, value, unit});
  };
  add("the mirror is made in", Seconds(Take([&] { Fill(sizes, mirror); })) * 1000, "ms");
  for (const auto& [name, cpu] : {std::pair("fits", size_t{1}), {"fits nowhere", size_t{20}}}) {
    const std::vector<Duration> times = Judge(sizes, cpu, mirror);
    Duration sum{};
    for (const Duration time : times) sum += time;
    const std::string which = std::string("a pod that ") + name;
    add(which, static_cast<double>(times.size()) / Seconds(sum), "1/s");
    add(which + ", p99", Seconds(times[times.size() * 99 / 100]) * 1e6, "us");
  }
  const auto question = what_if::ParseQuestion(std::string_view(
      R"({"drain":["node-1"],"fill":{"pod":{"metadata":{"name":"more"},"spec":{"containers":[)"
      R"({"name":"c","resources":{"requests":{"cpu":"1"}}}]}},"most":1000}})"));
  const Duration large = Take([&] {
    const auto reply =
        mirror::AnswerWhatIf(*question, mirror::Form::kJson, cluster, mirror, [] { return false; });
    if (reply.code != 200) std::exit(2);
  });
  add("a drain, and 1,000 more pods", Seconds(large) * 1000, "ms");
  return figures;
}

}  // namespace berth::bench
