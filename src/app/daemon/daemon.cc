// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/daemon.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "src/app/daemon/server_release.h"
#include "src/app/version.h"
#include "src/config/plugin_features.h"
#include "src/extender/http_extender.h"
#include "src/scheduler/debugger.h"
#include "src/scheduler/unfinished_pods.h"

namespace berth::app {
namespace {

// What kube-scheduler's health check forgives after the end of a lease.
constexpr Duration kOverdueTolerance = std::chrono::seconds(20);

// What events have, at most, before the process ends: with a long line of them, those that have not
// had their turn by then are given up.
constexpr Duration kEventsPatience = std::chrono::seconds(1);

// What a rate of zero stands for, as to client-go.
constexpr float kQpsForZero = 5;

std::string Hostname() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

// What extenders are to get whole.
informers::KeptText TextForExtenders(const std::vector<config::Extender>& extenders) {
  informers::KeptText kept;
  for (const config::Extender& extender : extenders) {
    const bool asked_about_nodes =
        !extender.filter_verb.empty() || !extender.prioritize_verb.empty();
    const bool preempts = !extender.preempt_verb.empty();
    kept.pending_pods |= asked_about_nodes || preempts;
    kept.nodes |= asked_about_nodes && !extender.node_cache_capable;
    kept.placed_pods |= preempts && !extender.node_cache_capable;
  }
  return kept;
}

}  // namespace

Daemon::Daemon(metrics::RegistryOptions metrics)
    : metrics_([&metrics, this] {
        metrics.clock = &clock_;
        return std::move(metrics);
      }()) {}

Result<std::unique_ptr<Daemon>> Daemon::Make(DaemonOptions options,
                                             const std::vector<PluginRegistration>& registry) {
  const config::ClientConnection& connection = options.configuration.client_connection;
  auto server = client::FindServer(connection.kubeconfig, options.master);
  if (!server) return Fail(server.error());

  std::unique_ptr<Daemon> daemon(new Daemon(std::move(options.metrics)));
  Random seeds(options.seed);
  client::ClientOptions client_options;
  client_options.server = std::move(*server);
  client_options.qps = connection.qps == 0 ? kQpsForZero : connection.qps;
  client_options.burst = connection.burst;
  client_options.user_agent = client::UserAgent(kVersion, kKubernetesVersion, "scheduler");
  client_options.seed = seeds.Next();
  client_options.writes_json = connection.writes_json();
  client_options.observer = &daemon->request_metrics_;
  const config::LeaderElection election = options.configuration.leader_election;
  if (election.leader_elect) {
    if (auto checked = election::CheckTimes(election); !checked) return Fail(checked.error());
    client_options.may_write = [self = daemon.get()] { return self->elector_->MayWrite(); };
  }
  // Twice withheld: by a client that answers in the API server's place, and here.
  if (options.shadow) client_options.may_write = [] { return false; };
  auto client = client::CurlClient::Make(std::move(client_options), daemon->clock_);
  if (!client) return Fail(client.error());
  daemon->client_ = std::move(*client);

  scheduler::SchedulerOptions scheduler_options;
  auto extenders =
      extender::MakeExtenders(options.configuration.extenders, daemon->clock_, daemon->metrics_);
  if (!extenders) {
    const Error error = extenders.error().Within("couldn't build extenders");
    return Fail(options.config_file.empty() ? error : error.Within(options.config_file));
  }
  scheduler_options.extenders = std::move(*extenders);
  const informers::KeptText kept_text = TextForExtenders(options.configuration.extenders);
  const bool json = connection.reads_json();
  scheduler_options.configuration = std::move(options.configuration);
  scheduler_options.features =
      config::WithPlugins(options.features, scheduler_options.configuration, registry);
  daemon->kinds_ = informers::WatchedKinds(scheduler_options.features);
  scheduler_options.pod_max_in_unschedulable_pods_duration =
      options.pod_max_in_unschedulable_pods_duration;
  scheduler_options.seed = seeds.Next();
  scheduler_options.hostname = Hostname();
  scheduler_options.background = &daemon->packing_;
  scheduler_options.watch_node_metrics = [self = daemon.get()](auto sources) {
    self->WatchNodeMetrics(std::move(sources));
  };
  scheduler_options.leading = !election.leader_elect;
  daemon->delay_cache_ =
      election.leader_elect && scheduler_options.configuration.delay_cache_until_active;
  std::string component = scheduler_options.configuration.profiles.front().scheduler_name;
  if (!options.record.empty()) {
    auto recorder = recording::Record(options.record, options.record_limits, kVersion,
                                      daemon->clock_, base::RandomSeed(), scheduler_options);
    if (!recorder) return Fail(recorder.error().Within("--record"));
    daemon->recorder_ = std::move(*recorder);
  }
  if (options.shadow) daemon->EnterShadow(scheduler_options);
  client::ApiClient& api =
      options.shadow ? static_cast<client::ApiClient&>(*daemon->read_only_) : *daemon->client_;
  auto scheduler = scheduler::Scheduler::Make(scheduler_options, registry, daemon->clock_, api,
                                              daemon->metrics_);
  if (!scheduler) {
    const Error error = scheduler.error().Within("initializing profiles");
    return Fail(options.config_file.empty() ? error : error.Within(options.config_file));
  }
  daemon->scheduler_ = std::move(*scheduler);

  daemon->informers_ = std::make_unique<informers::Informers>(
      *daemon->client_, daemon->clock_, seeds.Next(),
      [target = daemon->scheduler_.get()](informers::InformerEvent event) {
        target->PostFromExecutor(std::move(event));
      },
      informers::InformerOptions{json, kept_text});
  daemon->metrics_.Set(daemon->metrics_.Intern(metrics::Metric::kConfigLastReloadSuccessful), 1);
  ReadBeforeExposition(daemon->metrics_, daemon->client_->executor(), *daemon->informers_);
  daemon->MakeLoopWatch();
  if (election.leader_elect) daemon->MakeElector(election, std::move(component), seeds.Next());
  return daemon;
}

void Daemon::MakeLoopWatch() {
  loop_watch_ = std::make_shared<LoopWatch>(
      client_->executor(), clock_,
      LoopWatch::Loop{[loop = scheduler_.get()] { return loop->last_turn(); },
                      [loop = scheduler_.get()] { return loop->BusyPlugin(); },
                      [loop = scheduler_.get()] { return loop->unfinished().trying(); }});
}

void Daemon::WatchNodeMetrics(std::vector<NodeMetricsSource> sources) {
  if (!started_) {
    node_metrics_sources_ = std::move(sources);
    return;
  }
  if (node_metrics_reader_ == nullptr) {
    if (sources.empty()) return;
    node_metrics_reader_ = std::make_unique<node_metrics::ReaderThread>(
        *client_, clock_, metrics_, client::UserAgent(kVersion, kKubernetesVersion, "scheduler"),
        [scheduler = scheduler_.get()](NodesMeasured measured) {
          scheduler->Post(std::move(measured));
        });
  }
  node_metrics_reader_->Watch(std::move(sources));
}

void Daemon::EnterShadow(scheduler::SchedulerOptions& options) {
  read_only_.emplace(*client_);
  comparison_.emplace(clock_, metrics_);
  options.shadow = &*comparison_;
  options.on_cycle = [this](const scheduler::CycleOutcome& outcome) {
    comparison_->Decided(outcome);
  };
}

std::optional<shadow::Summary> Daemon::SummarizeShadow() const {
  if (!comparison_) return std::nullopt;
  return comparison_->Summarize();
}

void Daemon::MakeElector(const config::LeaderElection& election, std::string component,
                         uint64_t seed) {
  election::ElectionOptions options;
  options.config = election;
  // Not from the seed: replicas may share it.
  options.identity = election::MakeIdentity(Hostname(), base::RandomSeed(), base::RandomSeed());
  options.component = std::move(component);
  options.seed = seed;
  election::ElectionCallbacks callbacks;
  callbacks.healthy = [watch = loop_watch_] { return !watch->Problem(); };
  // What the lease says, until the scheduling thread knows of it.
  const auto found = std::make_shared<std::string>();
  callbacks.unfinished_pods = [watch = loop_watch_, scheduler = scheduler_.get(), found] {
    auto inherited = scheduler->unfinished().inherited();
    return inherited ? watch->Note(*std::move(inherited)) : *found;
  };
  callbacks.started_leading = [this, found](const std::string& unfinished_pods) {
    *found = unfinished_pods;
    if (delay_cache_) informers_->Start(kinds_);
    // The leader before may have bound pods while a watch of ours was down.
    informers_->CatchUp([scheduler = scheduler_.get(), uids = ReadNote(unfinished_pods)] {
      scheduler->Post(scheduler::LeadingBegan{uids});
    });
  };
  callbacks.lost = [this] {
    lost_lease_ = true;
    ended_();
  };
  elector_ = std::make_unique<election::LeaderElector>(*client_, clock_, metrics_,
                                                       std::move(options), std::move(callbacks));
}

Daemon::~Daemon() {
  if (scheduler_ != nullptr) scheduler_->Stop(Duration::zero());
  thread_.Join();
  if (recorder_ != nullptr) recorder_->Finish();
  if (client_ == nullptr) return;
  if (node_metrics_reader_ != nullptr) node_metrics_reader_->Stop();
  if (informers_ != nullptr) informers_->Stop();
  client_->Close();
  node_metrics_reader_.reset();
  // Tasks and timers of both may still be in line on the client's thread, so both end there.
  client_->executor().Post(
      [scheduler = std::shared_ptr<scheduler::Scheduler>(std::move(scheduler_)),
       informers = std::shared_ptr<informers::Informers>(std::move(informers_)),
       loop_watch = std::move(loop_watch_),
       elector = std::shared_ptr<election::LeaderElector>(std::move(elector_))] {});
  client_.reset();
}

void Daemon::Start(std::function<void()> ended) {
  ended_ = std::move(ended);
  started_ = true;
  WatchNodeMetrics(std::exchange(node_metrics_sources_, {}));
  thread_ = base::NamedThread("berth-sched", [this] {
    scheduler_->Run();
    const auto flush = [this, scheduler = scheduler_.get()] {
      scheduler->FlushEvents(std::min(stop_by_.load() - clock_.Now(), kEventsPatience), ended_);
    };
    // Only now: nothing that a binding still writes may come after another process leads. Events
    // may, and no standby shall wait for the lease because of them.
    if (elector_ != nullptr) {
      elector_->Stop(flush);
    } else {
      flush();
    }
  });
  loop_watch_->Start();
  TellServerRelease(*client_);
  if (!delay_cache_) informers_->Start(kinds_);
  if (elector_ != nullptr) elector_->Start();
}

void Daemon::Stop(Duration patience) {
  stop_by_ = clock_.Now() + patience;
  scheduler_->Stop(patience);
}

void Daemon::LogState() {
  // Each behind the events that made what it compares with, and before those that will change it.
  // Not by way of `this`: the scheduler outlives it on that thread.
  using Log = void(const scheduler::Scheduler&, const scheduler::KnownObjects&);
  const auto compare = [this](informers::Kind kind, Log* log) {
    informers_->CollectObjects(
        kind, [log, scheduler = scheduler_.get()](scheduler::KnownObjects objects) {
          scheduler->PostFromExecutor(scheduler::Query{
              [log, scheduler, objects = std::move(objects)] { log(*scheduler, objects); }});
        });
  };
  compare(informers::Kind::kNode, scheduler::LogNodeMismatch);
  compare(informers::Kind::kPod, scheduler::LogPodMismatch);
  client_->executor().Post([scheduler = scheduler_.get()] {
    scheduler->PostFromExecutor(scheduler::Query{[scheduler] { scheduler::LogDump(*scheduler); }});
  });
}

void Daemon::Reload(config::SchedulerConfiguration next, std::function<void(Result<void>)> done) {
  scheduler_->Post(scheduler::ReloadRequested{
      std::make_shared<const config::SchedulerConfiguration>(std::move(next)), std::move(done)});
}

std::optional<std::string> Daemon::CheckLeaderElection() const {
  return elector_ == nullptr ? std::nullopt : elector_->Check(kOverdueTolerance);
}

}  // namespace berth::app
