// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "src/base/logging.h"
#include "src/scheduler/watched_events.h"

namespace berth::scheduler {
namespace {

using metrics::Metric;

constexpr Duration kPublishInterval = std::chrono::seconds(1);
// Kept answers of a class go when none of its pods was decided for ten of these.
constexpr Duration kAgeInterval = std::chrono::minutes(1);
// Decided pods that may await the answer to their Bind, however small the burst.
constexpr size_t kMinBindLimit = 64;

cache::Cache::Options CacheOptions(const Features& features) {
  cache::Cache::Options options;
  options.pod_info = {.pod_level = features.pod_level_resources,
                      .pod_level_status = features.in_place_pod_level_resources_vertical_scaling};
  return options;
}

// The nominator as the engine wants to see it.
class NominatorView final : public engine::NominatedPods {
 public:
  explicit NominatorView(const queue::Nominator& nominator) : nominator_(nominator) {}
  bool empty() const override { return nominator_.empty(); }
  void ForEach(const std::function<void(std::string_view, const PodInfo&)>& visit) const override {
    nominator_.ForEach(
        [&visit](std::string_view node, const PodInfoPtr& pod) { visit(node, *pod); });
  }
  bool GoesBefore(const PodInfo& pod, const PodInfo& other) const override {
    return nominator_.GoesBefore(pod.pod->metadata.uid, other.pod->metadata.uid);
  }

 private:
  const queue::Nominator& nominator_;
};

}  // namespace

Scheduler::Scheduler(SchedulerOptions options, const std::vector<PluginRegistration>& plugins,
                     const Clock& clock, client::ApiClient& api, metrics::Registry& registry)
    : options_(std::move(options)),
      plugins_(plugins),
      clock_(clock),
      api_(api),
      random_(options_.seed),
      metrics_(registry),
      observer_(metrics_, clock),
      cache_(CacheOptions(options_.features)),
      binder_(api, clock, random_.Next(),
              {[this](binding::BindOutcome outcome) { PostFromExecutor(std::move(outcome)); },
               [this](std::string uid) { PostFromExecutor(PreBindDone{std::move(uid)}); },
               [this](std::string uid) { PostFromExecutor(BindSettling{std::move(uid)}); }}),
      events_(api, clock, random_.Next(), options_.hostname),
      status_patcher_(api, clock, random_.Next()),
      evictor_(api, clock, options_.seed),
      nominator_([this](const api::Pod& pod) {
        const auto known = pods_.Find(pod.metadata.Key());
        return known != nullptr && known->metadata.uid == pod.metadata.uid;
      }),
      nominated_(std::make_unique<NominatorView>(nominator_)),
      extenders_(options_.extenders, clock),
      extender_bind_(options_.extenders, api, clock, options_.seed,
                     [this](std::string uid) { PostFromExecutor(BindSettling{std::move(uid)}); }),
      engine_(random_.Fork(), cache_, options_.max_kept_bytes),
      now_(clock.Now()),
      published_(now_),
      aged_(now_) {
  const auto burst = std::max(options_.configuration.client_connection.burst, 0);
  bind_limit_ = std::max(kMinBindLimit, static_cast<size_t>(burst));
  leading_ = options_.leading;
  last_turn_ = now_;
  series_.algorithm_duration = metrics_.Series(Metric::kSchedulingAlgorithmDuration);
  series_.attempts = metrics_.Series(Metric::kPodSchedulingAttempts);
  series_.flushed = metrics_.Series(Metric::kPodScheduledAfterFlush);
  series_.reused_rejections = metrics_.Series(Metric::kReusedVerdicts, {"unschedulable"});
  series_.reused_decisions = metrics_.Series(Metric::kReusedVerdicts, {"scheduled"});
  series_.inbox_depth = metrics_.Series(Metric::kInboxDepth);
  series_.turns = metrics_.Series(Metric::kLoopTurns);
  series_.turn_duration = metrics_.Series(Metric::kLoopTurnDuration);
  series_.binding = metrics_.Series(Metric::kGoroutines, {"binding"});
  series_.nodes = metrics_.Series(Metric::kCacheSize, {"nodes"});
  series_.pods = metrics_.Series(Metric::kCacheSize, {"pods"});
  series_.assumed_pods = metrics_.Series(Metric::kCacheSize, {"assumed_pods"});
  series_.dropped_events = metrics_.Series(Metric::kDroppedEvents);
}

Scheduler::~Scheduler() = default;

Result<std::unique_ptr<Scheduler>> Scheduler::Make(SchedulerOptions options,
                                                   const std::vector<PluginRegistration>& registry,
                                                   const Clock& clock, client::ApiClient& api,
                                                   metrics::Registry& registry_of_metrics) {
  std::unique_ptr<Scheduler> scheduler(
      new Scheduler(std::move(options), registry, clock, api, registry_of_metrics));
  auto made = scheduler->MakeProfiles(scheduler->options_.configuration);
  if (!made) return Fail(made.error());
  scheduler->handles_ = std::move(made->handles);
  scheduler->profiles_ = std::move(made->profiles);
  scheduler->cache_.SetSignatureParts(made->signature_parts);
  scheduler->MakeQueue();
  return scheduler;
}

Result<Scheduler::MadeProfiles> Scheduler::MakeProfiles(
    const config::SchedulerConfiguration& configuration) {
  MadeProfiles made;
  for (const config::Profile& config : configuration.profiles) {
    made.handles.push_back(std::make_unique<ProfileHandle>(
        HandleParts{.clock = clock_,
                    .features = options_.features,
                    .cache = cache_,
                    .objects = objects_,
                    .pods = pods_,
                    .nominator = nominator_,
                    .nominated = *nominated_,
                    .extenders = extenders_,
                    .reasons = reasons_,
                    .waiting_pods = waiting_pods_,
                    .metrics = metrics_,
                    .plugin_metrics = metrics_.registry().plugin_metrics(),
                    .binder = binder_,
                    .events = events_,
                    .status_patcher = status_patcher_,
                    .evictor = evictor_,
                    .pods_to_activate = pods_to_activate_,
                    .post = [this](std::function<void()> work) { Post(Query{std::move(work)}); }},
        config.scheduler_name, random_.Fork()));
    auto profile = framework::Profile::Make(config, plugins_, *made.handles.back());
    if (!profile) {
      return Fail(
          profile.error().Within("creating profile for scheduler name " + config.scheduler_name));
    }
    made.signature_parts |= (*profile)->signature_parts();
    WarnOfUnwatchedEvents(**profile);
    made.profiles.emplace(config.scheduler_name, std::move(*profile));
  }
  return made;
}

std::vector<queue::ProfileHints> Scheduler::Hints() const {
  std::vector<queue::ProfileHints> all;
  for (const auto& [name, profile] : profiles_) {
    queue::ProfileHints& hints = all.emplace_back();
    hints.scheduler_name = name;
    for (const framework::RegisteredEvent& registered : profile->events()) {
      hints.hints.push_back({registered.plugin, registered.event, registered.declared});
    }
    if (extenders_.empty()) continue;
    for (const ClusterEventWithHint& event : AllClusterEvents()) {
      hints.hints.push_back({std::string(extender::kExtenderName), event, false});
    }
  }
  return all;
}

void Scheduler::MakeQueue() {
  queue::QueueOptions options;
  options.pod_initial_backoff =
      std::chrono::seconds(options_.configuration.pod_initial_backoff_seconds);
  options.pod_max_backoff = std::chrono::seconds(options_.configuration.pod_max_backoff_seconds);
  options.pod_max_in_unschedulable_pods_duration = options_.pod_max_in_unschedulable_pods_duration;
  options.pop_from_backoff_q = options_.features.scheduler_pop_from_backoff_q;

  queue::QueueHooks hooks;
  // All profiles have the same QueueSort; the configuration is refused otherwise.
  const auto& first = options_.configuration.profiles.front().scheduler_name;
  hooks.less = [sort = &profiles_.at(first)->queue_sort()](
                   const QueueSortKey& a, const QueueSortKey& b) { return sort->Less(a, b); };
  hooks.pre_enqueue = [this](const PodInfo& pod, std::string_view last) {
    const framework::Profile* profile = ProfileOf(pod.pod->spec.scheduler_name);
    if (profile == nullptr) return queue::PreEnqueueResult{};
    return queue::PreEnqueueResult{
        std::string(framework::RunPreEnqueue(*profile, pod, last, &observer_).plugin)};
  };
  hooks.reclass = [this](PodInfoPtr pod) { return cache_.Reclass(std::move(pod)); };
  hooks.profiles = Hints();
  queue_ = std::make_unique<queue::SchedulingQueue>(options, std::move(hooks), nominator_,
                                                    queue::QueueMetrics(&metrics_, &clock_), now_);
  handlers_ = std::make_unique<EventHandlers>(
      cache_, objects_, *queue_, waiting_pods_, pods_, status_patcher_, metrics_, clock_,
      [this](std::string_view name) { return ProfileOf(name) != nullptr; });
}

void Scheduler::PostFromExecutor(Message message) {
  if (inbox_.PushQuietly(std::move(message))) {
    api_.executor().Post([this] { inbox_.Wake(); });
  }
}

const framework::Profile* Scheduler::ProfileOf(std::string_view scheduler_name) const {
  const auto it = profiles_.find(scheduler_name);
  return it == profiles_.end() ? nullptr : it->second.get();
}

void Scheduler::Run() {
  owner_.Release();
  cache_.ReleaseThread();
  while (!stopped_) {
    const std::optional<Time> due = Turn(clock_.Now());
    if (stopped_) break;
    std::optional<Duration> timeout;
    if (due) timeout = std::max(*due - clock_.Now(), Duration::zero());
    inbox_.Drain(arrived_, timeout);
  }
  PublishMetrics(now_);
}

void Scheduler::FlushEvents(Duration patience, std::function<void()> done) {
  events_.Flush(patience, [done = std::move(done)](size_t unsent) {
    if (unsent > 0) {
      base::LogWarning("Events were given up without an answer", {{"events", unsent}});
    }
    done();
  });
}

std::optional<Time> Scheduler::Turn(Time now) {
  BERTH_ON_THREAD(owner_);
  now_ = now;
  const Time started = clock_.Now();
  last_turn_.store(now, std::memory_order_relaxed);
  if (now - aged_ >= kAgeInterval) {
    aged_ = now;
    engine_.AgeKept();
  }
  metrics_.Add(series_.turns);
  metrics_.Set(series_.inbox_depth, static_cast<double>(arrived_.size()));
  ApplyArrived();
  for (;;) {
    inbox_.Drain(arrived_, Duration::zero());
    ApplyArrived();
    queue_->Tick(now_);
    waiting_pods_.Expire(now_);
    HandlePermitOutcomes();
    if (stopped_ || !MayDecide()) break;
    ScheduleOne();
    now_ = clock_.Now();
    ShowProgress(now_);
  }
  metrics_.Observe(series_.turn_duration, clock_.Now() - started);
  ShowProgress(clock_.Now());
  return NextWakeup(now_);
}

void Scheduler::ApplyArrived() {
  for (Message& message : arrived_) {
    Apply(message);
    ShowProgress(clock_.Now());
  }
  arrived_.clear();
}

// A turn may take as long as there is work: who looks from outside sees how it goes all the same.
void Scheduler::ShowProgress(Time now) {
  last_turn_.store(now, std::memory_order_relaxed);
  has_synced_.store(handlers_->synced(), std::memory_order_relaxed);
  if (now - published_ >= kPublishInterval) PublishMetrics(now);
}

void Scheduler::Apply(Message& message) {
  Dispatch(message);
  // A label that nothing tested before may tell parked pods apart.
  if (const uint32_t epoch = cache_.class_epoch(); epoch != grouped_by_) {
    grouped_by_ = epoch;
    queue_->Regroup();
  }
}

void Scheduler::Dispatch(Message& message) {
  if (auto* event = std::get_if<informers::InformerEvent>(&message)) {
    handlers_->Handle(*event, now_);
  } else if (auto* outcome = std::get_if<binding::BindOutcome>(&message)) {
    HandleBindOutcome(*outcome);
  } else if (auto* pre_bind = std::get_if<PreBindDone>(&message)) {
    SetAwaitingBind(pre_bind->pod_uid, true);
  } else if (auto* settling = std::get_if<BindSettling>(&message)) {
    SetAwaitingBind(settling->pod_uid, false);
  } else if (auto* stop = std::get_if<StopRequested>(&message)) {
    if (stopping_) return;
    stopping_ = true;
    base::LogInfo("Stopping", {{"bindingsInHand", in_hand_.size() - waiting_pods_.size()}});
    binder_.Close(stop->patience, [this](size_t given_up) { Post(BinderClosed{given_up}); });
  } else if (auto* closed = std::get_if<BinderClosed>(&message)) {
    if (closed->given_up > 0) {
      base::LogWarning("Bindings were given up without an answer", {{"pods", closed->given_up}});
    }
    stopped_ = true;
  } else if (std::holds_alternative<LeadingBegan>(message)) {
    leading_ = true;
  } else if (auto* query = std::get_if<Query>(&message)) {
    query->run();
    ActivatePods();
  }
}

bool Scheduler::MayDecide() const {
  return leading_ && !stopping_ && handlers_->synced() && awaiting_bind_ < bind_limit_ &&
         queue_->HasReady();
}

std::optional<Time> Scheduler::NextWakeup(Time now) const {
  Time next = now + kPublishInterval;
  for (const std::optional<Time>& due : {queue_->NextWakeup(), waiting_pods_.NextExpiry()}) {
    if (due) next = std::min(next, *due);
  }
  return next;
}

void Scheduler::PublishMetrics(Time now) {
  published_ = now;
  queue_->UpdateGauges();
  metrics_.Set(series_.nodes, static_cast<double>(cache_.num_nodes()));
  metrics_.Set(series_.pods, static_cast<double>(cache_.num_pods()));
  metrics_.Set(series_.assumed_pods, static_cast<double>(cache_.num_assumed()));
  metrics_.Set(series_.binding, static_cast<double>(in_hand_.size()));
  const uint64_t dropped = events_.counts().dropped;
  metrics_.Add(series_.dropped_events, static_cast<double>(dropped - dropped_events_));
  dropped_events_ = dropped;
  metrics_.Publish();
}

}  // namespace berth::scheduler
