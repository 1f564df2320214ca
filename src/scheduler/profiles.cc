// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/profiles.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "absl/strings/str_join.h"
#include "berth/check.h"
#include "berth/config_value.h"
#include "berth/field_errors.h"
#include "src/binding/claim_writes.h"
#include "src/config/load.h"
#include "src/config/plugin_features.h"
#include "src/engine/dry_run.h"
#include "src/extender/extender.h"
#include "src/scheduler/moves_trial.h"
#include "src/scheduler/watched_events.h"

namespace berth::scheduler {
namespace {

// One profile's Handle; see berth/in_tree/handle.h for the threads.
class ProfileHandle final : public Handle {
 public:
  // `state` must outlive the handle.
  ProfileHandle(SchedulerState& state, std::string scheduler_name, Random random)
      : state_(state), scheduler_name_(std::move(scheduler_name)), random_(random) {}

  const Clock& clock() const override { return state_.step_clock; }
  Random& random() override { return random_; }
  const Features& features() const override { return state_.features; }
  std::string_view scheduler_name() const override { return scheduler_name_; }
  const Snapshot& snapshot() const override { return state_.cluster.cache; }
  const Listers& listers() const override { return state_.cluster.objects; }
  AssumedVolumes& assumed_volumes() override { return state_.cluster.assumed_volumes; }
  ClaimTracker& claims() override { return state_.cluster.claims; }
  const MeasuredNodes& WatchNodeMetrics(const NodeMetricsSource& source) override {
    node_metrics_sources_.push_back(source);
    return state_.cluster.node_metrics.Watch(source, state_.step_clock.WallNow());
  }
  // What the profile's plugins have asked for.
  const std::vector<NodeMetricsSource>& node_metrics_sources() const {
    return node_metrics_sources_;
  }
  const PodGroupStates& pod_groups() const override { return state_.cluster.pod_groups; }
  const PodGroupForest& pod_group_forest() const override {
    return state_.cluster.pod_group_forest;
  }
  ClaimWriter& claim_writer() override { return state_.writers.claim_writes; }
  ResourceNames& resource_names() override { return state_.cluster.cache.mutable_resource_names(); }
  ReasonTable& reasons() override { return state_.reasons; }

  WaitingPod* FindWaitingPod(std::string_view uid) override {
    return state_.waiting_pods.Find(uid);
  }
  void ForEachWaitingPod(const std::function<void(WaitingPod&)>& visit) override {
    state_.waiting_pods.ForEach(visit);
  }
  void Activate(const std::vector<std::string>& pod_keys) override {
    // What a function changes is in a recording only as a message.
    if (state_.in_query) return state_.Post(PodsActivated{pod_keys});
    state_.Activate(pod_keys);
  }

  std::unique_ptr<DryRun> StartDryRun(CycleState& state, const PodInfo& pod) override;
  std::unique_ptr<MovesTrial> StartMovesTrial(CycleState& state) override {
    return std::make_unique<CacheMovesTrial>(state_, state.budget());
  }
  Result<std::vector<PreemptionCandidate>> ProcessPreemption(
      const PodInfo& pod, std::vector<PreemptionCandidate> candidates) override {
    return state_.extenders.ProcessPreemption(*pod.pod, state_.cluster.cache,
                                              std::move(candidates));
  }
  void ForEachNominatedPod(const std::function<void(const PodInfoPtr&)>& visit) override;
  void ForEachNominatedPod(std::string_view node_name,
                           const std::function<void(const PodInfoPtr&)>& visit) override;
  void ClearNominatedNode(const PodInfo& pod) override;
  std::shared_ptr<const api::Pod> FindPendingPod(std::string_view namespace_,
                                                 std::string_view name) const override;

  void EvictPod(std::shared_ptr<const api::Pod> pod, std::string message, AsyncDone done) override {
    state_.writers.evictor.Evict(std::move(pod), std::move(message), std::move(done));
  }
  void AskForEviction(std::shared_ptr<const api::Pod> pod, AsyncDone done) override {
    state_.writers.evictor.Ask(std::move(pod), std::move(done));
  }
  void HoldPlace(std::shared_ptr<const api::Pod> leaving, std::string_view node_name) override {
    state_.held_places.Hold(std::move(leaving), node_name, state_.step_clock.Now());
  }
  void GiveBackPlace(std::string_view leaving_uid) override {
    state_.held_places.GiveBack(leaving_uid);
  }
  bool CancelPreBind(std::string_view uid, std::string cause) override;
  void RecordEvent(const api::Pod& pod, PodEventType type, std::string_view reason,
                   std::string_view action, std::string note,
                   api::Boxed<api::ObjectReference> related) override;
  void WriteAssumed(const api::PersistentVolume& volume, Cancellation& cancellation,
                    AsyncDone done) override {
    binding::WriteAssumed(state_.api, volume, cancellation, std::move(done));
  }
  void WriteAssumed(const api::PersistentVolumeClaim& claim, Cancellation& cancellation,
                    AsyncDone done) override {
    binding::WriteAssumed(state_.api, claim, cancellation, std::move(done));
  }
  void WaitFor(ObjectWait wait, Cancellation& cancellation, AsyncDone done) override;
  void Post(PluginMessage message) override {
    std::visit([this](auto& one) { state_.Post(std::move(one)); }, message);
  }
  void RunLater(std::function<void()> work) override;

  void CountMetric(std::string_view name, std::initializer_list<std::string_view> labels,
                   double by) override;
  void ObserveMetric(std::string_view name, std::initializer_list<std::string_view> labels,
                     double value) override;
  const Clock& stopwatch() const override { return state_.clock; }
  PluginMetrics& plugin_metrics() override { return state_.metrics.registry().plugin_metrics(); }

  void BindPod(const PodInfo& pod, std::string_view node_name, Cancellation& cancellation,
               AsyncDone done) override {
    state_.writers.binder.BindPod(pod.pod, node_name, cancellation, std::move(done));
  }

 private:
  SchedulerState& state_;
  std::string scheduler_name_;
  Random random_;
  std::vector<NodeMetricsSource> node_metrics_sources_;
};

metrics::Metric MetricNamed(std::string_view name) {
  auto metric = metrics::FindMetric("scheduler_" + std::string(name));
  if (!metric) metric = metrics::FindMetric(name);
  BERTH_CHECK(metric.has_value(), "a plugin counts in a metric that is not in the table");
  return *metric;
}

std::unique_ptr<DryRun> ProfileHandle::StartDryRun(CycleState& state, const PodInfo& pod) {
  const auto& asked = state.Read<framework::PostFilterCycle>();
  BERTH_CHECK(&asked.cycle.state == &state, "a dry run belongs to the PostFilter that asks for it");
  return std::make_unique<engine::PreemptionDryRun>(
      asked.profile, asked.cycle, pod,
      engine::ClusterState{state_.cluster.cache, state_.cluster.nominator});
}

void ProfileHandle::ForEachNominatedPod(std::string_view node_name,
                                        const std::function<void(const PodInfoPtr&)>& visit) {
  for (const PodInfoPtr& pod : state_.cluster.nominator.NominatedPodsForNode(node_name)) {
    if (!cache::IsHeldPlace(*pod->pod)) visit(pod);
  }
}

void ProfileHandle::ForEachNominatedPod(const std::function<void(const PodInfoPtr&)>& visit) {
  state_.cluster.nominator.ForEach([&visit](std::string_view, const PodInfoPtr& pod) {
    if (!cache::IsHeldPlace(*pod->pod)) visit(pod);
  });
}

void ProfileHandle::ClearNominatedNode(const PodInfo& pod) {
  api::PodStatusChange change;
  change.nominated_node_name = "";
  state_.writers.status_patcher.Patch(pod.pod, std::move(change));
}

std::shared_ptr<const api::Pod> ProfileHandle::FindPendingPod(std::string_view namespace_,
                                                              std::string_view name) const {
  return state_.cluster.pods.Find(api::NamespacedKey(namespace_, name));
}

void ProfileHandle::RecordEvent(const api::Pod& pod, PodEventType type, std::string_view reason,
                                std::string_view action, std::string note,
                                api::Boxed<api::ObjectReference> related) {
  state_.writers.events.Record({.regarding = binding::ReferenceTo(pod),
                                .related = std::move(related),
                                .controller = scheduler_name_,
                                .warning = type == PodEventType::kWarning,
                                .reason = std::string(reason),
                                .action = std::string(action),
                                .note = std::move(note),
                                // A pod is bound once.
                                .may_repeat = reason != "Scheduled"});
}

bool ProfileHandle::CancelPreBind(std::string_view uid, std::string cause) {
  const auto ask = [&] { return state_.writers.binder.CancelPreBind(uid, std::move(cause)); };
  return state_.tape == nullptr ? ask() : state_.tape->CancelPreBind(uid, ask);
}

// A replay repeats the cycle, and with it what is asked for there.
void ProfileHandle::RunLater(std::function<void()> work) {
  if (state_.step_clock.OnStep() && state_.in_cycle) {
    state_.after_cycle.push_back(std::move(work));
  } else {
    state_.Post(Query{std::move(work)});
  }
}

// `cancellation` lives until `done` is called.
void ProfileHandle::WaitFor(ObjectWait wait, Cancellation& cancellation, AsyncDone done) {
  state_.Post(Query{
      [&state = state_, wait = std::move(wait), &cancellation, done = std::move(done)]() mutable {
        if (cancellation.cancelled()) {
          done(std::move(wait.cancelled));
          return;
        }
        const auto id = state.object_waits.Add(std::move(wait), done, state.clock.Now());
        if (!id) return;
        cancellation.OnCancel([&state, id = *id] {
          state.Post(Query{[&state, id] { state.object_waits.Cancel(id); }});
        });
      }});
}

void ProfileHandle::CountMetric(std::string_view name,
                                std::initializer_list<std::string_view> labels, double by) {
  const metrics::Metric metric = MetricNamed(name);
  if (state_.step_clock.OnStep()) {
    state_.metrics.Add(state_.metrics.Series(metric, labels), by);
  } else {
    metrics::Registry& shared = state_.metrics.registry();
    shared.Add(shared.Intern(metric, labels), by);
  }
}

void ProfileHandle::ObserveMetric(std::string_view name,
                                  std::initializer_list<std::string_view> labels, double value) {
  const metrics::Metric metric = MetricNamed(name);
  if (state_.step_clock.OnStep()) {
    state_.metrics.Observe(state_.metrics.Series(metric, labels), value);
  } else {
    metrics::Registry& shared = state_.metrics.registry();
    shared.Observe(shared.Intern(metric, labels), value);
  }
}

// What the profile says about the plugin, as JSON; "" for nothing.
std::string ArgsOf(const config::SchedulerConfiguration& configuration,
                   std::string_view scheduler_name, std::string_view plugin) {
  for (const config::Profile& profile : configuration.profiles) {
    if (profile.scheduler_name != scheduler_name) continue;
    for (const config::PluginConfig& config : profile.plugin_config) {
      if (config.name == plugin) return config.args.is_null() ? "" : config.args.ToJson();
    }
  }
  return "";
}

std::string_view SortsBy(const framework::Profile& profile) {
  return profile.plugins().queue_sort.front().name;
}

// Coscheduling's order is PrioritySort's.
std::string_view OrderOf(std::string_view plugin) {
  return plugin == config::kCoscheduling ? "PrioritySort" : plugin;
}

// Errors, in kube-scheduler's words: it sorts the queue otherwise than the first profile does.
Result<void> CheckSortsAlike(const config::SchedulerConfiguration& configuration,
                             const framework::Profile& first, const framework::Profile& profile) {
  const std::string_view wanted = SortsBy(first);
  const std::string_view sort = SortsBy(profile);
  const std::string name = Quoted(profile.scheduler_name());
  if (OrderOf(sort) != OrderOf(wanted)) {
    return Fail("different queue sort plugins for profile " + name + ": " + Quoted(sort) +
                ", first: " + Quoted(wanted));
  }
  if (sort == wanted && ArgsOf(configuration, profile.scheduler_name(), sort) !=
                            ArgsOf(configuration, first.scheduler_name(), sort)) {
    return Fail("different queue sort plugin args for profile " + name);
  }
  return {};
}

// A pod whose victims are being evicted must not preempt others because the configuration changed.
void HandOverEvictions(const framework::Profile& from, const framework::Profile& to) {
  for (const auto& entry : to.plugins().post_filter) {
    PreemptionPlugin* successor = entry.instance->preemption;
    for (const auto& old : from.plugins().post_filter) {
      PreemptionPlugin* predecessor = old.instance->preemption;
      if (successor == nullptr || predecessor == nullptr) continue;
      if (entry.name == old.name) successor->TakeOver(*predecessor);
    }
  }
}

// Whether it has the plugin Coscheduling, by whose label its pods are in groups.
bool HasIt(const framework::Profile& profile) {
  return std::ranges::any_of(profile.plugins().placement_feasible,
                             [](const auto& entry) { return entry.name == config::kCoscheduling; });
}

// What the args of Coscheduling say; 0 where they say nothing.
Duration PodGroupBackoffOf(const config::Profile& profile) {
  constexpr int64_t kLongest = 365 * 24 * 60 * 60;
  for (const config::PluginConfig& config : profile.plugin_config) {
    if (config.name != config::kCoscheduling) continue;
    int64_t seconds = 0;
    FieldReader(config.args, "").Read("podGroupBackoffSeconds", seconds);
    return std::chrono::seconds(std::clamp<int64_t>(seconds, 0, kLongest));
  }
  return {};
}

// Makes the series of what its plugins evaluate, at zero: a rate needs the value before the first.
void ShowEvaluations(const framework::Profile& profile, framework::RuntimeObserver& observer) {
  using framework::ExtensionPoint;
  const auto show = [&](const auto& entries, ExtensionPoint point) {
    for (const auto& entry : entries) observer.CountEvaluations(profile, entry.name, point, 0);
  };
  const auto& plugins = profile.plugins();
  show(plugins.pre_filter, ExtensionPoint::kPreFilter);
  show(plugins.filter, ExtensionPoint::kFilter);
  show(plugins.pre_score, ExtensionPoint::kPreScore);
  show(plugins.score, ExtensionPoint::kScore);
}

bool TellsOfGates(const framework::Profile& profile, std::string_view plugin) {
  return std::ranges::any_of(profile.plugins().pre_enqueue, [plugin](const auto& entry) {
    return entry.name == plugin && dynamic_cast<const MovedGates*>(entry.plugin) != nullptr;
  });
}

}  // namespace

Result<Profiles> Profiles::Make(config::SchedulerConfiguration configuration,
                                std::vector<PluginRegistration> registry, SchedulerState& state) {
  Profiles profiles(std::move(registry), state);
  auto made = profiles.MakeAll(configuration);
  if (!made) return Fail(made.error());
  profiles.current_ = std::move(*made);
  for (const auto& [name, profile] : profiles.current_.profiles) {
    ShowEvaluations(*profile, state.observer);
  }
  profiles.configuration_ = std::move(configuration);
  return profiles;
}

Result<Profiles::Made> Profiles::MakeAll(
    const config::SchedulerConfiguration& configuration) const {
  Made made;
  for (const config::Profile& config : configuration.profiles) {
    auto handle =
        std::make_unique<ProfileHandle>(*state_, config.scheduler_name, state_->random.Fork());
    auto profile = framework::Profile::Make(config, registry_, *handle);
    const std::vector<NodeMetricsSource>& sources = handle->node_metrics_sources();
    made.node_metrics_sources.insert(made.node_metrics_sources.end(), sources.begin(),
                                     sources.end());
    made.handles.push_back(std::move(handle));
    if (!profile) {
      return Fail(
          profile.error().Within("creating profile for scheduler name " + config.scheduler_name));
    }
    WarnOfUnwatchedEvents(**profile, state_->features);
    for (const auto& entry : (*profile)->plugins().pre_enqueue) {
      if (auto* gates = dynamic_cast<MovedGates*>(entry.plugin)) made.moved_gates.push_back(gates);
    }
    const Duration backoff = HasIt(**profile) ? PodGroupBackoffOf(config) : Duration();
    if (backoff > Duration::zero()) made.pod_group_backoffs.emplace(config.scheduler_name, backoff);
    made.profiles.emplace(config.scheduler_name, std::move(*profile));
    const std::string& first = configuration.profiles.front().scheduler_name;
    if (auto checked = CheckSortsAlike(configuration, *made.profiles.at(first),
                                       *made.profiles.at(config.scheduler_name));
        !checked) {
      return Fail(checked.error());
    }
  }
  return made;
}

const framework::Profile* Profiles::Find(std::string_view scheduler_name) const {
  const auto it = current_.profiles.find(scheduler_name);
  return it == current_.profiles.end() ? nullptr : it->second.get();
}

bool Profiles::HasCoscheduling(std::string_view scheduler_name) const {
  const framework::Profile* profile = Find(scheduler_name);
  return profile != nullptr && HasIt(*profile);
}

Duration Profiles::PodGroupBackoff(std::string_view scheduler_name) const {
  const auto found = current_.pod_group_backoffs.find(scheduler_name);
  return found == current_.pod_group_backoffs.end() ? Duration() : found->second;
}

const framework::Entry<QueueSortPlugin>& Profiles::queue_sort() const {
  return current_.profiles.begin()->second->plugins().queue_sort.front();
}

PodParts Profiles::signature_parts() const {
  PodParts parts = 0;
  for (const auto& [name, profile] : current_.profiles) parts |= profile->signature_parts();
  return parts;
}

std::vector<std::string> Profiles::tested_label_keys() const {
  std::vector<std::string> keys;
  for (const auto& [name, profile] : current_.profiles) {
    const std::vector<std::string>& more = profile->tested_label_keys();
    keys.insert(keys.end(), more.begin(), more.end());
  }
  return keys;
}

std::vector<queue::ProfileHints> Profiles::Hints() const {
  std::vector<queue::ProfileHints> all;
  for (const auto& [name, profile] : current_.profiles) {
    queue::ProfileHints& hints = all.emplace_back();
    hints.scheduler_name = name;
    for (const framework::RegisteredEvent& registered : profile->events()) {
      hints.hints.push_back({registered.plugin, registered.event, registered.declared,
                             TellsOfGates(*profile, registered.plugin)});
    }
    if (state_->extenders.empty()) continue;
    for (const ClusterEventWithHint& event : AllClusterEvents(state_->features.generic_workload)) {
      hints.hints.push_back({std::string(extender::kExtenderName), event, false, false});
    }
  }
  return all;
}

void Profiles::TakeAnswer(const EvictionAnswered& answered) const {
  const auto take = [&](const Made& made) {
    const auto profile = made.profiles.find(answered.scheduler_name);
    return profile != made.profiles.end() &&
           std::ranges::any_of(profile->second->plugins().post_filter, [&](const auto& entry) {
             PreemptionPlugin* plugin = entry.instance->preemption;
             return plugin != nullptr && plugin->TakeAnswer(answered);
           });
  };
  if (!take(current_)) (void)std::any_of(retired_.rbegin(), retired_.rend(), take);
}

void Profiles::TakeMovedGates(std::vector<std::string>& pod_keys) const {
  for (MovedGates* gates : current_.moved_gates) gates->TakeMovedGates(pod_keys);
}

int32_t Profiles::PercentageOfNodesToScore(const framework::Profile& profile) const {
  return profile.percentage_of_nodes_to_score().value_or(
      configuration_.percentage_of_nodes_to_score);
}

// The order of the queue is made of comparisons by the old plugin.
Result<void> Profiles::CheckQueueSort(const Made& made,
                                      const config::SchedulerConfiguration& next) const {
  for (const auto& [name, profile] : made.profiles) {
    const std::string_view sort = SortsBy(*profile);
    if (sort != SortsBy(*current_.profiles.at(name)) ||
        ArgsOf(configuration_, name, sort) != ArgsOf(next, name, sort)) {
      return Fail("profiles: the queueSort plugin of \"" + name +
                  "\" cannot change without a restart");
    }
  }
  return {};
}

Result<bool> Profiles::Replace(config::SchedulerConfiguration next,
                               const std::function<size_t(std::string_view)>& count_pods) {
  const config::ReloadDifference difference = config::CompareForReload(configuration_, next);
  if (difference.none()) return false;
  if (!difference.fixed.empty()) {
    return Fail(absl::StrJoin(difference.fixed, ", ") + ": cannot change without a restart");
  }
  for (const std::string& name : difference.removed_profiles) {
    if (const size_t pods = count_pods(name); pods > 0) {
      return Fail("profiles: \"" + name + "\" cannot go while pods wait for it (" +
                  std::to_string(pods) + ")");
    }
  }
  auto made = MakeAll(next);
  if (!made) return Fail(made.error());
  if (auto checked = CheckQueueSort(*made, next); !checked) return Fail(checked.error());
  // Its kind is watched from the start, and pods that wait are in groups, or are not.
  for (const auto& [name, profile] : made->profiles) {
    if (HasIt(*profile) != HasIt(*current_.profiles.at(name))) {
      return Fail("profiles: whether \"" + name +
                  "\" has the plugin Coscheduling cannot change without a restart");
    }
  }
  const Features before = config::WithPlugins(Features(), configuration_);
  const Features after = config::WithPlugins(Features(), next);
  const std::pair<std::string_view, bool Features::*> watching[] = {
      {config::kNodeResourceTopologyMatch, &Features::node_resource_topologies},
      {config::kCapacityScheduling, &Features::elastic_quotas},
  };
  for (const auto& [plugin, watches] : watching) {
    if (after.*watches && !(before.*watches)) {
      return Fail("profiles: the plugin " + std::string(plugin) + " cannot come without a restart");
    }
  }
  const auto kinds_of = [this](const config::SchedulerConfiguration& configuration) {
    return config::WithPlugins(Features(), configuration, registry_).plugin_kinds;
  };
  if ((kinds_of(next) & ~state_->features.plugin_kinds) != 0) {
    return Fail("profiles: a plugin that asks for kinds of its own cannot come without a restart");
  }
  for (const auto& [name, profile] : made->profiles)
    HandOverEvictions(*current_.profiles.at(name), *profile);
  retired_.push_back(std::exchange(current_, std::move(*made)));
  for (const auto& [name, profile] : current_.profiles) ShowEvaluations(*profile, state_->observer);
  configuration_ = std::move(next);
  return true;
}

}  // namespace berth::scheduler
