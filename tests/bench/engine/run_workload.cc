// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/engine/run_workload.h"

#ifdef BERTH_JEMALLOC
#include <jemalloc/jemalloc.h>
#else
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "src/app/daemon/in_tree_plugins.h"
#include "src/base/clock.h"
#include "src/informers/kinds.h"
#include "src/recording/recorder.h"
#include "src/simulator/simulation.h"
#include "tests/scenarios/runner/objects.h"

namespace berth::bench {
namespace {

// Pods that come at once, and so stand in the queue together.
constexpr size_t kBatch = 1000;

double Seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

double HeapBytes() {
#ifdef BERTH_JEMALLOC
  // The figures are those of the last epoch that was begun.
  uint64_t epoch = 1;
  size_t size = sizeof(epoch);
  mallctl("epoch", &epoch, &size, &epoch, size);
  size_t allocated = 0;
  size = sizeof(allocated);
  mallctl("stats.allocated", &allocated, &size, nullptr, 0);
  return static_cast<double>(allocated);
#else
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
#endif
}

double Percentile(std::vector<float>& values, double rank) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(rank * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return static_cast<double>(values[static_cast<size_t>(at)]);
}

class Run {
 public:
  Run(const Workload& workload, const Size& size, const RunOptions& options)
      : workload_(workload), size_(size), options_(options) {}

  Result<Measurement> Go() {
    if (auto made = MakeSimulation(); !made) return Fail(made.error());
    for (const WorkloadStep& step : workload_.steps) {
      if (step.measured) {
        Measure(step);
      } else {
        Create(step);
        if (step.node_metrics.empty()) continue;
        measured_before_ = NodesOf(step.node_metrics);
        TellUse(measured_before_);
      }
    }
    return std::move(result_);
  }

 private:
  // Every decision considers all nodes, and the API in memory answers at once.
  Result<void> MakeSimulation() {
    const auto plugins = app::FindInTreePlugins();
    simulator::SimulationOptions options;
    options.keep_events = false;
    options.scheduler.configuration = workload_.configuration;
    options.scheduler.features = workload_.feature_gates.Resolve();
    options.scheduler.seed = 1;
    if (options_.plain) options.scheduler.max_kept_bytes = 0;
    // Not by the thread's CPU time, which takes a system call: two of them are a tenth of a pod.
    options.scheduler.stopwatch = [this] { return Duration(machine_.Now().time_since_epoch()); };
    options.scheduler.on_cycle = [this](const scheduler::CycleOutcome& outcome) { Note(outcome); };
    if (!options_.record.empty()) {
      base::VirtualClock clock(options.start);
      auto recorder = recording::Record(options_.record, {.folder_bytes = uint64_t{64} << 30},
                                        "bench", clock, base::RandomSeed(), options.scheduler);
      if (!recorder) return Fail(recorder.error());
      recorder_ = std::move(*recorder);
    }
    auto made = simulator::Simulation::Make(std::move(options), plugins.registry);
    if (!made) return Fail(made.error().Within("config"));
    sim_ = *std::move(made);
    sim_->Start();
    sim_->RunDue();
    return {};
  }

  void Note(const scheduler::CycleOutcome& outcome) {
    if (outcome.code == Code::kSuccess) ++decided_;
    if (!measuring_) return;
    const double took = Seconds(outcome.took);
    result_.deciding += took;
    decisions_.push_back(static_cast<float>(took));
  }

  std::string NextUid() {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "00000000-0000-4000-8000-%012zu", ++last_uid_);
    return text.data();
  }

  std::vector<NodeMetrics> NodesOf(const std::vector<MeasuredCrowd>& crowds) const {
    std::vector<NodeMetrics> nodes;
    for (const MeasuredCrowd& crowd : crowds) {
      const ConfigValue name(crowd.pattern.name);
      for (size_t i = 0; i < CountOf(crowd.count, size_); ++i) {
        nodes.push_back(crowd.pattern);
        nodes.back().name = *scenarios::WithIndex(name, i).string();
      }
    }
    return nodes;
  }

  // What the metrics server says now; nothing where there are no nodes.
  void TellUse(std::vector<NodeMetrics> nodes) {
    if (nodes.empty()) return;
    const auto now = std::chrono::floor<std::chrono::seconds>(sim_->now().time_since_epoch());
    sim_->scheduler().Post(NodesMeasured{.source = NodeMetricsSource().Name(),
                                         .window_end = now.count(),
                                         .nodes = std::move(nodes)});
    sim_->RunDue();
  }

  void Progress(size_t done, size_t of) {
    if (options_.progress) options_.progress(measuring_ ? "measuring" : "creating", done, of);
  }

  void Create(const WorkloadStep& step) {
    for (const Crowd& crowd : step.create) {
      const size_t count = CountOf(crowd.count, size_);
      const double before = HeapBytes();
      for (size_t i = 0; i < count; ++i) {
        sim_->Apply(crowd.object.Copy(i, NextUid()));
        if (i % kBatch != kBatch - 1) continue;
        sim_->RunDue();
        Progress(i, count);
      }
      sim_->RunDue();
      if (crowd.object.kind() == informers::Kind::kNode) {
        node_bytes_ += HeapBytes() - before;
        result_.nodes += count;
        result_.bytes_per_node = node_bytes_ / static_cast<double>(result_.nodes);
      }
    }
  }

  void Measure(const WorkloadStep& step) {
    const Crowd& crowd = step.create.front();
    const size_t all = CountOf(crowd.count, size_);
    const size_t count = options_.limit == 0 ? all : std::min(all, options_.limit);
    result_.measured = count;
    result_.there = decided_;
    decisions_.reserve(2 * count);
    measuring_ = true;
    const double before = HeapBytes();
    const Duration thread_before = sim_->scheduler_time();
    Duration loop{};
    std::vector<api::ObjectPtr> objects;
    for (size_t begin = 0; begin < count;) {
      const size_t end = EndOfBatch(step, begin, count);
      for (size_t i = begin; i < end; ++i) {
        for (const ObjectTemplate& object : step.before) {
          objects.push_back(object.Copy(i, NextUid()));
        }
        objects.push_back(crowd.object.Copy(i, NextUid()));
      }
      const std::vector<api::ObjectPtr> others = ObjectsMeanwhile(step, begin);
      std::vector<NodeMetrics> measured = NodesMeasuredMeanwhile(step, begin);
      const Duration start = base::ThreadCpuTime();
      ActMeanwhile(step, begin, others);
      TellUse(std::move(measured));
      for (api::ObjectPtr& object : objects) sim_->Apply(std::move(object));
      sim_->RunDue();
      if (end == count) sim_->RunUntilQuiet(std::chrono::hours(1));
      loop += base::ThreadCpuTime() - start;
      objects.clear();
      begin = end;
      Progress(end, count);
    }
    measuring_ = false;
    result_.loop = Seconds(loop);
    result_.thread = Seconds(sim_->scheduler_time() - thread_before);
    result_.bytes_per_pod = (HeapBytes() - before) / static_cast<double>(count);
    result_.decisions = decisions_.size();
    result_.p50 = Percentile(decisions_, 0.5);
    result_.p99 = Percentile(decisions_, 0.99);
    for (size_t i = 0; i < count; ++i) {
      const auto pod = sim_->FindPod(crowd.object.KeyOfCopy(i));
      if (pod == nullptr || pod->spec.node_name.empty()) continue;
      ++result_.bound;
      AddToFingerprint(pod->metadata.name);
      AddToFingerprint(pod->spec.node_name);
    }
  }

  // FNV-1a.
  void AddToFingerprint(std::string_view text) {
    for (char c : text) {
      result_.fingerprint =
          (result_.fingerprint ^ static_cast<unsigned char>(c)) * uint64_t{1099511628211U};
    }
  }

  // What comes meanwhile cuts batches short.
  static size_t EndOfBatch(const WorkloadStep& step, size_t begin, size_t count) {
    size_t end = std::min(count, begin + kBatch);
    for (const Meanwhile& meanwhile : step.meanwhile) {
      end = std::min(end, (begin / meanwhile.every + 1) * meanwhile.every);
    }
    return end;
  }

  // Made while the clock stands.
  std::vector<api::ObjectPtr> ObjectsMeanwhile(const WorkloadStep& step, size_t begin) {
    std::vector<api::ObjectPtr> objects;
    for (const Meanwhile& meanwhile : step.meanwhile) {
      if (begin % meanwhile.every != 0) continue;
      const size_t time = begin / meanwhile.every;
      for (const ObjectTemplate& object : meanwhile.create) {
        objects.push_back(object.Copy(time, NextUid()));
      }
      if (time % 2 != 0) continue;
      for (const ObjectTemplate& object : meanwhile.recreate) {
        objects.push_back(object.Copy(time, NextUid()));
      }
    }
    return objects;
  }

  std::vector<NodeMetrics> NodesMeasuredMeanwhile(const WorkloadStep& step, size_t begin) const {
    for (const Meanwhile& meanwhile : step.meanwhile) {
      if (meanwhile.node_metrics.empty() || begin % meanwhile.every != 0) continue;
      const bool as_before = begin / meanwhile.every % 2 == 1;
      return as_before ? measured_before_ : NodesOf(meanwhile.node_metrics);
    }
    return {};
  }

  void ActMeanwhile(const WorkloadStep& step, size_t begin,
                    const std::vector<api::ObjectPtr>& objects) {
    for (const Meanwhile& meanwhile : step.meanwhile) {
      if (begin % meanwhile.every != 0) continue;
      const size_t time = begin / meanwhile.every;
      if (meanwhile.advance > Duration::zero()) sim_->Advance(meanwhile.advance);
      if (time % 2 == 1) {
        for (const ObjectTemplate& object : meanwhile.recreate) {
          sim_->Delete(object.kind(), object.KeyOfCopy(time - 1));
        }
      }
      if (meanwhile.delete_pod) {
        const ConfigValue key = scenarios::WithIndex(ConfigValue(*meanwhile.delete_pod), time);
        sim_->Delete(informers::Kind::kPod, *key.string());
      }
    }
    for (const api::ObjectPtr& object : objects) sim_->Apply(object);
  }

  const Workload& workload_;
  const Size& size_;
  const RunOptions& options_;
  base::RealClock machine_;
  Measurement result_{.fingerprint = uint64_t{14695981039346656037U}};
  std::unique_ptr<recording::Recorder> recorder_;
  std::unique_ptr<simulator::Simulation> sim_;
  std::vector<float> decisions_;  // seconds
  std::vector<NodeMetrics> measured_before_;
  size_t decided_ = 0;
  size_t last_uid_ = 0;
  double node_bytes_ = 0;
  bool measuring_ = false;
};

double CostOfPod(const Measurement& measurement) {
  return measurement.bound == 0 ? 0 : measurement.loop / static_cast<double>(measurement.bound);
}

}  // namespace

double Pair::cost() const {
  const double of_peer = CostOfPod(peer);
  return of_peer == 0 ? 0 : CostOfPod(measured) / of_peer;
}

Result<Pair> RunPair(const Workload& workload, const Workload& peer, const Size& size,
                     const RunOptions& options) {
  constexpr int kRounds = 5;
  std::optional<Pair> best;
  for (int round = 0; round < kRounds; ++round) {
    auto of_peer = RunWorkload(peer, size, options);
    if (!of_peer) return Fail(of_peer.error());
    auto measured = RunWorkload(workload, size, options);
    if (!measured) return Fail(measured.error());
    if (!best) best = Pair{*measured, *of_peer};
    if (CostOfPod(*measured) < CostOfPod(best->measured)) best->measured = *measured;
    if (CostOfPod(*of_peer) < CostOfPod(best->peer)) best->peer = *of_peer;
  }
  return *std::move(best);
}

Result<Measurement> RunWorkload(const Workload& workload, const Size& size,
                                const RunOptions& options) {
  return Run(workload, size, options).Go();
}

}  // namespace berth::bench
