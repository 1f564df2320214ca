// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "berth/random.h"
#include "tests/unit/queue/queue_fixture.h"

// The queue against a model that keeps every pod in one list, scans it whole for each event, sorts
// it for each Pop, and gives each pod in flight an event log of its own.
namespace berth::queue {
namespace {

constexpr const char* kPlugins[] = {"A", "B", "C", "D", "Mute"};
constexpr const char* kProfiles[] = {"default-scheduler", "second"};
constexpr ClusterEvent kEvents[] = {kNodeAdd,
                                    kNodeTaint,
                                    kAssignedPodDelete,
                                    {EventResource::kAssignedPod, action::kUpdatePodLabel},
                                    {EventResource::kPersistentVolume, action::kAdd},
                                    kWildcard};

// The world outside the queue, the same for queue and model: gates and hints change with `phase`.
struct World {
  bool queue_sort = false;  // a plugin orders the queue, not the queue itself
  uint64_t phase = 0;
  std::set<std::string> gated = {};  // pod names
  // Those whose gate has opened or closed; told to the queue, which then asks plugin A about no
  // others.
  mutable std::vector<std::string> moved = {};

  std::string Gate(const api::Pod& pod) const {
    return gated.count(pod.metadata.name) != 0 ? kPlugins[pod.metadata.name.size() % 2] : "";
  }
  QueueingHint Hint(const std::string& plugin, const api::Pod& pod) const {
    Random random(phase + 31 * pod.metadata.name.size() + 7 * static_cast<uint64_t>(plugin[0]) +
                  static_cast<uint64_t>(pod.metadata.name.back()));
    return random.Below(2) == 0 ? QueueingHint::kQueue : QueueingHint::kQueueSkip;
  }

  QueueHooks Hooks() const {
    QueueHooks hooks;
    if (queue_sort) hooks.less = PriorityLess;
    hooks.pre_enqueue = [this](const PodInfo& pod, std::string_view) {
      return PreEnqueueResult{Gate(*pod.pod)};
    };
    hooks.take_moved_gates = [this](std::vector<std::string>& pod_keys) {
      for (const std::string& name : moved) pod_keys.push_back(Key(name));
      moved.clear();
    };
    const auto hint = [this](const std::string& plugin) -> QueueingHintFn {
      return [this, plugin](const api::Pod& pod, const api::ObjectPtr&, const api::ObjectPtr&) {
        return Result<QueueingHint>(Hint(plugin, pod));
      };
    };
    const ClusterEvent target = {EventResource::kTargetPod, action::kUpdate};
    const ClusterEvent node = {EventResource::kNode, action::kAdd | action::kUpdateNodeTaint};
    const ClusterEvent any_pod = {EventResource::kPod, action::kAll};
    hooks.profiles = {{kProfiles[0],
                       {{"A", {kNodeAdd, nullptr}},
                        {"A", {target, hint("A")}},
                        {"B", {node, hint("B")}},
                        {"C", {any_pod, hint("C")}},
                        {"D", {kAssignedPodDelete, nullptr}},
                        {"D", {node, hint("D")}}}},
                      {kProfiles[1],
                       {{"B", {kNodeTaint, hint("B")}},
                        {"A", {any_pod, nullptr}},
                        {"D", {kNodeAdd, hint("D")}}}}};
    for (ProfileHints& profile : hooks.profiles) {
      for (PluginHint& registered : profile.hints) {
        registered.tells_of_gates = registered.plugin == "A";
      }
    }
    return hooks;
  }
};

struct Event {
  ClusterEvent event;
  std::string target_uid;  // of the only pod concerned, or ""
};

struct ModelPod {
  PodInfoPtr info;
  Place place = Place::kNowhere;
  bool error = false;  // in the backoffQ of errors
  Time timestamp;
  Time flush;
  int attempts = 0;
  int unschedulable = 0;
  int errors = 0;
  std::set<std::string> rejectors;
  std::set<std::string> pending;
  std::string gate;
  bool unshown = false;  // a condition was sent that the watch has not shown
  bool wanted = false;   // an event would have let it out since it waits at its gate
  int64_t arrival = 0;

  const std::string& name() const { return info->pod->metadata.name; }
};

class Model {
 public:
  explicit Model(const World& world) : world_(world), hooks_(world.Hooks()) {}

  std::map<std::string, ModelPod> pods;  // by name, without those in flight
  struct Flight {
    ModelPod pod;
    std::vector<Event> events;
    bool deleted = false;
  };
  std::map<std::string, Flight> in_flight;  // by name

  void Add(PodInfoPtr info, Time now) {
    ModelPod pod;
    pod.info = std::move(info);
    pod.timestamp = now;
    ToActive(pods[pod.name()] = pod, false);
  }

  void Update(const PodInfoPtr& old_info, PodInfoPtr info, Time now) {
    const std::string name = info->pod->metadata.name;
    const std::string uid = info->pod->metadata.uid;
    const auto events = PodUpdateEvents(EventResource::kTargetPod, *old_info->pod, *info->pod);
    if (auto flight = in_flight.find(name); flight != in_flight.end()) {
      flight->second.pod.info = std::move(info);
      for (auto& [other, every] : in_flight) {
        for (const ClusterEvent& event : events) every.events.push_back({event, uid});
      }
      return;
    }
    ModelPod& pod = pods.at(name);
    if (pod.info->pod->status.conditions != info->pod->status.conditions) pod.unshown = false;
    pod.info = std::move(info);
    for (const ClusterEvent& event : events) {
      if (pod.place != Place::kUnschedulable) return;
      Requeue(pod, Worth(pod, {event, uid}), now);
    }
  }

  std::string Pop() {
    ModelPod* best = nullptr;
    for (auto& [name, pod] : pods) {
      const bool ready =
          pod.place == Place::kActive || (pod.place == Place::kBackoff && !pod.error);
      if (ready && (best == nullptr || Before(pod, *best))) best = &pod;
    }
    if (best == nullptr) return "";
    const std::string name = best->name();
    if (best->place == Place::kBackoff) {
      const auto last = pods.find(taken_early_);
      if (Awaited(*best) || (last != pods.end() && Awaited(last->second))) return "";
      taken_early_ = name;
    }
    ++best->attempts;
    in_flight[name] = {*best, {}, false};
    pods.erase(name);
    return name;
  }

  void Return(const std::string& name, const std::vector<std::string>& unschedulable,
              const std::vector<std::string>& pending, bool unshown, Time now) {
    const Flight flight = in_flight.at(name);
    in_flight.erase(name);
    if (flight.deleted) return;
    ModelPod& pod = pods[name] = flight.pod;
    pod.rejectors = {unschedulable.begin(), unschedulable.end()};
    pod.pending = {pending.begin(), pending.end()};
    pod.unshown = unshown;
    pod.rejectors.insert(pending.begin(), pending.end());
    ++(pod.rejectors.empty() ? pod.errors : pod.unschedulable);
    if (!pod.rejectors.empty()) pod.errors = 0;
    pod.timestamp = now;
    pod.flush = Time();
    pod.place = Place::kNowhere;
    int strategy = pod.rejectors.empty() ? 1 : 0;
    for (const Event& event : flight.events) strategy = std::max(strategy, Worth(pod, event));
    Requeue(pod, strategy, now);
  }

  void Move(const Event& event, Time now, bool flush = false) {
    const bool wildcard = event.event.wildcard();
    bool interest = wildcard;
    for (const ProfileHints& profile : hooks_.profiles) {
      for (const PluginHint& hint : profile.hints) {
        interest = interest || hint.registration.event.Matches(event.event);
      }
    }
    if (!interest) return;
    bool any = !flush;
    for (ModelPod* pod : InOrder()) {
      if (pod->place != Place::kUnschedulable) continue;
      if (flush) {
        if (now - std::max(pod->timestamp, pod->flush) <= minutes(5)) continue;
        pod->flush = now;
        any = true;
      }
      if (!pod->gate.empty() && !wildcard && !Registered(pod->gate, event.event)) continue;
      int strategy = Worth(*pod, event);
      if (strategy == 0 && !flush && LetOutNow(*pod, event)) strategy = 1;
      if (strategy == 0) continue;
      pod->place = Place::kNowhere;
      Requeue(*pod, strategy, now);
    }
    if (!any) return;
    for (auto& [name, flight] : in_flight) flight.events.push_back(event);
  }

  void Activate(const std::string& name) {
    if (auto found = pods.find(name); found != pods.end()) {
      ModelPod& pod = found->second;
      if (pod.place != Place::kActive) ToActive(pod, pod.place == Place::kBackoff);
    } else if (auto flight = in_flight.find(name); flight != in_flight.end()) {
      for (auto& [other, every] : in_flight) {
        every.events.push_back({kWildcard, flight->second.pod.info->pod->metadata.uid});
      }
    }
  }

  void FlushBackoff(Time now) {
    flushed_ = now;
    for (const bool errors : {false, true}) {
      std::vector<ModelPod*> over;
      for (auto& [name, pod] : pods) {
        if (pod.place == Place::kBackoff && pod.error == errors && !BackingOff(pod, now)) {
          over.push_back(&pod);
        }
      }
      std::sort(over.begin(), over.end(), [errors](const ModelPod* a, const ModelPod* b) {
        if (!errors) return Before(*a, *b);
        return std::pair(Ends(*a), a->arrival) < std::pair(Ends(*b), b->arrival);
      });
      for (ModelPod* pod : over) ToActive(*pod, true);
    }
  }

 private:
  bool Awaited(const ModelPod& pod) const {
    return pod.unshown && flushed_ - pod.timestamp < seconds(1);
  }
  static Time Ends(const ModelPod& pod) {
    const int failures = pod.errors > 0 ? pod.errors : pod.unschedulable;
    if (failures == 0) return Time::min();
    Duration backoff = seconds(1);
    for (int i = 1; i < failures && backoff < seconds(10); ++i) backoff *= 2;
    return std::chrono::floor<seconds>(pod.timestamp + std::min<Duration>(backoff, seconds(10)));
  }
  static bool BackingOff(const ModelPod& pod, Time now) {
    return Ends(pod) >= std::chrono::floor<seconds>(now);
  }
  static bool Before(const ModelPod& a, const ModelPod& b) {
    if (a.place != b.place) return a.place == Place::kActive;
    if (a.place == Place::kBackoff && Ends(a) != Ends(b)) return Ends(a) < Ends(b);
    const QueueSortKey key_a = {a.info.get(), a.timestamp};
    const QueueSortKey key_b = {b.info.get(), b.timestamp};
    if (PriorityLess(key_a, key_b) != PriorityLess(key_b, key_a)) return PriorityLess(key_a, key_b);
    return a.arrival < b.arrival;
  }
  std::vector<ModelPod*> InOrder() {
    std::vector<ModelPod*> all;
    for (auto& [name, pod] : pods) all.push_back(&pod);
    std::sort(all.begin(), all.end(),
              [](const ModelPod* a, const ModelPod* b) { return a->arrival < b->arrival; });
    return all;
  }
  bool Registered(const std::string& plugin, const ClusterEvent& event) const {
    for (const ProfileHints& profile : hooks_.profiles) {
      for (const PluginHint& hint : profile.hints) {
        if (hint.plugin == plugin && hint.registration.event.Matches(event)) return true;
      }
    }
    return false;
  }
  // The event may help none of those that rejected the pod, but an earlier one did, and its gate,
  // which tells when it opens, has opened.
  bool LetOutNow(const ModelPod& pod, const Event& event) const {
    return pod.wanted && pod.gate == "A" && event.target_uid.empty() &&
           world_.Gate(*pod.info->pod) != "A" && Asked(pod, event.event);
  }
  // Whether one of those that rejected the pod registered for the event.
  bool Asked(const ModelPod& pod, const ClusterEvent& event) const {
    for (const ProfileHints& profile : hooks_.profiles) {
      if (profile.scheduler_name != pod.info->pod->spec.scheduler_name) continue;
      for (const PluginHint& hint : profile.hints) {
        if (hint.registration.event.Matches(event) && pod.rejectors.contains(hint.plugin)) {
          return true;
        }
      }
    }
    return false;
  }
  // 0 skip, 1 after the backoff, 2 at once.
  int Worth(const ModelPod& pod, const Event& event) const {
    if (!event.target_uid.empty() && event.target_uid != pod.info->pod->metadata.uid) return 0;
    if (event.event.wildcard()) return 1;
    int best = 0;
    for (const ProfileHints& profile : hooks_.profiles) {
      if (profile.scheduler_name != pod.info->pod->spec.scheduler_name) continue;
      for (const PluginHint& hint : profile.hints) {
        if (!hint.registration.event.Matches(event.event)) continue;
        if (pod.rejectors.count(hint.plugin) == 0) continue;
        const bool yes = hint.registration.hint == nullptr ||
                         world_.Hint(hint.plugin, *pod.info->pod) == QueueingHint::kQueue;
        if (yes) best = std::max(best, pod.pending.count(hint.plugin) != 0 ? 2 : 1);
      }
    }
    return best;
  }
  bool Gated(ModelPod& pod, bool wanted) {
    pod.gate = world_.Gate(*pod.info->pod);
    pod.wanted = !pod.gate.empty() && (pod.wanted || wanted);
    if (pod.gate.empty()) return false;
    pod.rejectors.insert(pod.gate);
    if (pod.place != Place::kUnschedulable) pod.arrival = ++arrivals_;
    pod.place = Place::kUnschedulable;
    return true;
  }
  void ToActive(ModelPod& pod, bool from_backoff, bool wanted = false) {
    if (!from_backoff && Gated(pod, wanted)) return;
    pod.place = Place::kActive;
    pod.arrival = ++arrivals_;
  }
  void Requeue(ModelPod& pod, int strategy, Time now) {
    if (strategy == 0) {
      if (pod.place != Place::kUnschedulable) pod.arrival = ++arrivals_;
      pod.place = Place::kUnschedulable;
    } else if (strategy == 1 && BackingOff(pod, now)) {
      if (Gated(pod, true)) return;
      pod.place = Place::kBackoff;
      pod.error = pod.rejectors.empty();
      pod.arrival = ++arrivals_;
    } else {
      ToActive(pod, false, true);
    }
  }

  const World& world_;
  QueueHooks hooks_;
  int64_t arrivals_ = 0;
  std::string taken_early_;
  Time flushed_;  // when FlushBackoff() ran last
};

// Runs one random history and compares after each step.
class History {
 public:
  History(uint64_t seed, bool queue_sort)
      : random_(seed),
        world_{.queue_sort = queue_sort},
        model_(world_),
        queue_({}, world_.Hooks(), nominator_, {}, clock_.Now()) {}

  void Run(int steps) {
    for (int step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      Step();
      Compare();
    }
  }

 private:
  bool OneIn(uint64_t n) { return random_.Below(n) == 0; }
  std::string AnyName() {
    return "pod" + std::string(random_.Below(4), '-') + std::to_string(random_.Below(10));
  }

  PodInfoPtr RandomPod(const std::string& name) {
    auto pod = NamedPod(name, static_cast<int32_t>(random_.Below(4)));
    pod.SchedulerName(kProfiles[name.size() % 2]);
    if (OneIn(2)) pod.Label("x", std::to_string(random_.Below(9)));
    if (OneIn(4)) pod.Tolerate("key", "Exists", "", "");
    if (OneIn(2)) pod.Condition("PodScheduled", "False");
    return MakeInfo(pod.Ptr());
  }
  // nullptr when the pod is not known.
  PodInfoPtr Known(const std::string& name) const {
    if (auto found = model_.pods.find(name); found != model_.pods.end()) return found->second.info;
    auto flight = model_.in_flight.find(name);
    if (flight == model_.in_flight.end() || flight->second.deleted) return nullptr;
    return flight->second.pod.info;
  }
  std::vector<std::string> RandomPlugins() {
    std::set<std::string> plugins;
    while (!OneIn(2)) plugins.insert(kPlugins[random_.Below(std::size(kPlugins))]);
    return {plugins.begin(), plugins.end()};
  }

  void Step() {
    const std::string name = AnyName();
    switch (random_.Below(10)) {
      case 0:
      case 1:
        AddOrUpdate(name);
        break;
      case 2:
      case 3:
        Pop();
        break;
      case 4:
      case 5:
        Return();
        break;
      case 6:
        Delete(name);
        break;
      case 7:
        if (OneIn(3)) {
          const std::vector<std::string> keys = {Key(name)};
          model_.Activate(name);
          queue_.Activate(keys, clock_.Now());
        }
        break;
      case 8:
        Tick();
        break;
      default:
        ++world_.phase;
        world_.moved.push_back(name);
        if (!world_.gated.erase(name) && OneIn(2)) world_.gated.insert(name);
        const ClusterEvent& event = kEvents[random_.Below(std::size(kEvents))];
        model_.Move({event, ""}, clock_.Now());
        queue_.MoveAllToActiveOrBackoffQueue(event, {}, {}, clock_.Now());
    }
  }

  void AddOrUpdate(const std::string& name) {
    const PodInfoPtr info = RandomPod(name);
    if (const PodInfoPtr old_info = Known(name); old_info != nullptr) {
      model_.Update(old_info, info, clock_.Now());
      queue_.Update(old_info->pod, info, clock_.Now());
    } else if (model_.in_flight.count(name) == 0) {
      model_.Add(info, clock_.Now());
      queue_.Add(info, clock_.Now());
    }
  }
  void Pop() {
    auto pod = queue_.Pop();
    const std::string name = pod == nullptr ? "" : pod->pod().metadata.name;
    ASSERT_EQ(name, model_.Pop());
    if (pod == nullptr) return;
    EXPECT_EQ(pod->attempts, model_.in_flight.at(name).pod.attempts);
    popped_[name] = std::move(pod);
  }
  void Return() {
    if (popped_.empty()) return;
    auto any = popped_.begin();
    std::advance(any, static_cast<int64_t>(random_.Below(popped_.size())));
    auto pod = std::move(any->second);
    const std::string name = any->first;
    popped_.erase(any);
    if (OneIn(5)) {
      queue_.Done(pod->pod().metadata.uid);
      model_.in_flight.erase(name);
      return;
    }
    pod->ClearRejectorPlugins();
    pod->unschedulable_plugins = RandomPlugins();
    if (OneIn(3)) pod->pending_plugins = RandomPlugins();
    pod->condition_unshown = OneIn(2);
    model_.Return(name, pod->unschedulable_plugins, pod->pending_plugins, pod->condition_unshown,
                  clock_.Now());
    queue_.AddUnschedulablePodIfNotPresent(std::move(pod), clock_.Now());
  }
  void Delete(const std::string& name) {
    const PodInfoPtr info = Known(name);
    if (info == nullptr) return;
    if (auto flight = model_.in_flight.find(name); flight != model_.in_flight.end()) {
      flight->second.deleted = true;
    }
    model_.pods.erase(name);
    queue_.Delete(*info->pod, clock_.Now());
  }
  void Tick() {
    clock_.Advance(OneIn(20) ? seconds(200) : milliseconds(random_.Below(2500)));
    const Time now = clock_.Now();
    if (OneIn(2)) {
      model_.FlushBackoff(now);
      queue_.FlushBackoffCompleted(now);
    } else {
      model_.Move({{EventResource::kWildcard, action::kAll, "UnschedulableTimeout"}, ""}, now,
                  true);
      queue_.FlushUnschedulableLeftover(now);
    }
  }

  void Compare() {
    size_t gated = 0;
    for (const auto& [name, pod] : model_.pods) {
      EXPECT_EQ(queue_.WhereIs(Key(name)), pod.place) << name;
      const QueuedPod* queued = queue_.Find(Key(name));
      ASSERT_NE(queued, nullptr) << name;
      EXPECT_EQ(queued->info, pod.info) << name;
      EXPECT_EQ(queued->timestamp, pod.timestamp) << name;
      EXPECT_EQ(queued->gating_plugin, pod.gate) << name;
      EXPECT_EQ(queued->unschedulable_count, pod.unschedulable) << name;
      EXPECT_EQ(queued->consecutive_errors_count, pod.errors) << name;
      if (!pod.gate.empty()) ++gated;
    }
    const QueueCounts counts = queue_.counts();
    EXPECT_EQ(queue_.PendingPods().size(), model_.pods.size());
    EXPECT_EQ(counts.active + counts.backoff + counts.unschedulable + counts.gated,
              model_.pods.size());
    EXPECT_EQ(counts.gated, gated);
    EXPECT_EQ(counts.in_flight, model_.in_flight.size());
    for (const auto& [name, flight] : model_.in_flight) {
      EXPECT_TRUE(queue_.IsInFlight("uid-" + name));
    }
  }

  Random random_;
  base::VirtualClock clock_;
  World world_;
  Model model_;
  cache::Nominator nominator_;
  SchedulingQueue queue_;
  std::map<std::string, std::unique_ptr<QueuedPod>> popped_;
};

TEST(SchedulingQueuePropertyTest, DoesWhatTheModelDoesThroughRandomHistories) {
  for (uint64_t seed = 1; seed <= 40 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    History(seed, seed % 2 == 0).Run(1500);
  }
}

}  // namespace
}  // namespace berth::queue
