// SPDX-License-Identifier: Apache-2.0
#include "src/recording/replay.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/string_map.h"
#include "src/base/virtual_time.h"
#include "src/client/api_client.h"
#include "src/engine/judgement.h"
#include "src/metrics/registry.h"
#include "src/recording/recorded_extender.h"
#include "src/scheduler/scheduler.h"
#include "src/scheduler/tape.h"

namespace berth::recording {
namespace {

using engine::Judgement;

// Sets the decisions of a replay against the recorded ones. Where both decide about the same pods
// in another order, the decisions about one pod are paired.
//
// Thread safety: one owner.
class Comparison {
 public:
  // Differences of pods of which `shows` says no are counted, and not reported one by one.
  explicit Comparison(size_t most_differences, ShowsPod shows = nullptr)
      : most_differences_(most_differences), shows_(std::move(shows)) {}

  void SetTime(Time now) { now_ = now; }
  // Decisions of the recording so far.
  uint64_t decisions() const { return decisions_; }

  // What both decided next; pods by "namespace/name".
  void Add(const AttemptEnded& recorded, const std::string& recorded_pod, AttemptEnded replayed,
           const std::string& replayed_pod, std::string why);
  // What only one of them did.
  void AddMissing(AttemptEnded recorded, const std::string& pod);
  void AddExtra(AttemptEnded replayed, const std::string& pod);
  // Into the report. What was not paired counts as a difference.
  void Finish(ReplayReport& report);

 private:
  struct Unpaired {
    uint64_t number = 0;
    Time at;
    std::string pod;
    AttemptEnded decision;
  };
  using ByPod = base::StringMap<std::deque<Unpaired>>;  // by UID

  void Compare(const AttemptEnded& recorded, AttemptEnded replayed, uint64_t number,
               const std::string& pod, bool in_order, std::string why);
  void Note(Difference difference);
  // Takes the earliest one about the pod; nullopt: there is none.
  static std::optional<Unpaired> TakeFrom(ByPod& by_pod, const std::string& uid);

  const size_t most_differences_;
  const ShowsPod shows_;
  Time now_;
  uint64_t decisions_ = 0;
  uint64_t equal_ = 0;
  uint64_t num_differences_ = 0;
  uint64_t num_shown_ = 0;
  std::vector<Difference> differences_;
  ByPod recorded_;
  ByPod replayed_;
};

DifferenceKind KindOf(const AttemptEnded& recorded, const AttemptEnded& replayed) {
  const bool placed = !recorded.node_name.empty();
  if (placed != !replayed.node_name.empty()) return DifferenceKind::kVerdict;
  if (recorded.node_name != replayed.node_name) return DifferenceKind::kNode;
  if (recorded.code != replayed.code) return DifferenceKind::kVerdict;
  return DifferenceKind::kMessage;
}

void Comparison::Add(const AttemptEnded& recorded, const std::string& recorded_pod,
                     AttemptEnded replayed, const std::string& replayed_pod, std::string why) {
  if (recorded.pod_uid == replayed.pod_uid && recorded_.empty() && replayed_.empty()) {
    const uint64_t number = ++decisions_;
    Compare(recorded, std::move(replayed), number, recorded_pod, true, std::move(why));
    return;
  }
  AddExtra(std::move(replayed), replayed_pod);
  AddMissing(recorded, recorded_pod);
}

void Comparison::AddMissing(AttemptEnded recorded, const std::string& pod) {
  const uint64_t number = ++decisions_;
  if (auto pair = TakeFrom(replayed_, recorded.pod_uid)) {
    Compare(recorded, std::move(pair->decision), number, pod, false, "");
    return;
  }
  recorded_[recorded.pod_uid].push_back({number, now_, pod, std::move(recorded)});
}

void Comparison::AddExtra(AttemptEnded replayed, const std::string& pod) {
  if (const auto pair = TakeFrom(recorded_, replayed.pod_uid)) {
    Compare(pair->decision, std::move(replayed), pair->number, pod, false, "");
    return;
  }
  replayed_[replayed.pod_uid].push_back({decisions_ + 1, now_, pod, std::move(replayed)});
}

std::optional<Comparison::Unpaired> Comparison::TakeFrom(ByPod& by_pod, const std::string& uid) {
  const auto it = by_pod.find(uid);
  if (it == by_pod.end()) return std::nullopt;
  Unpaired first = std::move(it->second.front());
  it->second.pop_front();
  if (it->second.empty()) by_pod.erase(it);
  return first;
}

void Comparison::Compare(const AttemptEnded& recorded, AttemptEnded replayed, uint64_t number,
                         const std::string& pod, bool in_order, std::string why) {
  if (recorded == replayed) {
    if (in_order) {
      ++equal_;
      return;
    }
    Note({DifferenceKind::kOrder, number, now_, pod, recorded, std::move(replayed), ""});
    return;
  }
  Note({KindOf(recorded, replayed), number, now_, pod, recorded, std::move(replayed),
        std::move(why)});
}

void Comparison::Note(Difference difference) {
  ++num_differences_;
  if (shows_ && !shows_(difference.pod)) return;
  ++num_shown_;
  if (differences_.size() < most_differences_) differences_.push_back(std::move(difference));
}

void Comparison::Finish(ReplayReport& report) {
  const auto rest = [this](ByPod& by_pod, DifferenceKind kind) {
    std::vector<Unpaired> all;
    for (auto& [uid, unpaired] : by_pod) {
      std::move(unpaired.begin(), unpaired.end(), std::back_inserter(all));
    }
    std::ranges::sort(all, [](const Unpaired& a, const Unpaired& b) {
      return std::tie(a.number, a.pod) < std::tie(b.number, b.pod);
    });
    for (Unpaired& one : all) {
      Difference difference{kind, one.number, one.at, one.pod, {}, {}, ""};
      (kind == DifferenceKind::kMissing ? difference.recorded : difference.replayed) =
          std::move(one.decision);
      Note(std::move(difference));
    }
    by_pod.clear();
  };
  rest(recorded_, DifferenceKind::kMissing);
  rest(replayed_, DifferenceKind::kExtra);
  report.decisions = decisions_;
  report.equal = equal_;
  report.num_differences = num_differences_;
  report.num_shown = num_shown_;
  std::ranges::stable_sort(differences_, {}, &Difference::number);
  report.differences = std::move(differences_);
}

// An API server that never answers, and an executor that never runs anything: what goes out of a
// scheduler that replays ends here.
//
// Thread safety: one owner.
class SilentApi final : public client::ApiClient {
 public:
  std::shared_ptr<client::Call> Send(client::Request, client::OnResponse) override {
    return std::make_shared<NoCall>();
  }
  std::shared_ptr<client::Call> Stream(client::Request, Duration,
                                       std::shared_ptr<client::StreamHandler>) override {
    return std::make_shared<NoCall>();
  }
  base::Executor& executor() override { return executor_; }

 private:
  class NoCall final : public client::Call {
   public:
    void Cancel() override {}
  };
  class IdleExecutor final : public base::Executor {
   public:
    void Post(Task) override {}
    TimerId PostAfter(Duration, Task) override { return ++last_id_; }
    void Cancel(TimerId) override {}

   private:
    TimerId last_id_ = 0;
  };

  IdleExecutor executor_;
};

// Of the plugins whose scores tell the nodes apart, those that do so most.
constexpr size_t kMostPlugins = 3;

size_t IndexOf(const Judgement& judgement, NodeRow row) {
  const auto& feasible = judgement.feasible();
  return static_cast<size_t>(std::ranges::lower_bound(feasible, row) - feasible.begin());
}

std::string WhyNotBest(const Judgement& judgement, NodeRow row, const std::string& name) {
  const std::vector<NodeRow> best = judgement.Best();
  if (std::ranges::binary_search(best, row)) {
    return name + " is one of " + std::to_string(best.size()) + " nodes with the best score";
  }
  const size_t here = IndexOf(judgement, row);
  const size_t there = IndexOf(judgement, best.front());
  std::vector<std::pair<int64_t, std::string_view>> gaps;
  for (const framework::PluginScores& scores : judgement.scores()) {
    if (scores.normalised.empty()) continue;
    const int64_t gap = (scores.normalised[there] - scores.normalised[here]) * scores.entry->weight;
    if (gap != 0) gaps.emplace_back(gap, scores.entry->name);
  }
  std::ranges::stable_sort(
      gaps, [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  std::string text = name + " scores " + std::to_string(judgement.totals()[here]) + ", " +
                     judgement.snapshot().node(best.front()).metadata.name + " " +
                     std::to_string(judgement.totals()[there]);
  for (size_t i = 0; i < std::min(gaps.size(), kMostPlugins); ++i) {
    text += i == 0 ? ": " : ", ";
    text += std::string(gaps[i].second) + (gaps[i].first > 0 ? " +" : " ") +
            std::to_string(gaps[i].first);
  }
  return text;
}

std::string WhyRejected(const Judgement& judgement, NodeRow row, const std::string& name) {
  const engine::NodeStatuses& statuses = judgement.statuses();
  if (!statuses.explicit_nodes().Test(row)) {
    return name + " is not among the nodes that PreFilter plugins left";
  }
  const std::string plugin(statuses.plugin(row));
  return name + ": " + (plugin.empty() ? "" : plugin + ": ") + statuses.Get(row).message();
}

// What the scheduler, before it decides about the pod, makes of the node that the recording has for
// it: who rejects it and why, or what it scores beside the best. With "" for the node: why it is
// that there is one now, or still is none. Changes nothing.
std::string WhyNot(scheduler::Scheduler& scheduler, const std::shared_ptr<const api::Pod>& pod,
                   std::string_view recorded_node) {
  const std::unique_ptr<Judgement> judgement = scheduler.Judge(pod);
  judgement->Explain();
  if (judgement->kind() != Judgement::Kind::kScheduled &&
      judgement->kind() != Judgement::Kind::kUnschedulable) {
    return judgement->message();
  }
  if (recorded_node.empty()) {
    if (judgement->kind() == Judgement::Kind::kUnschedulable) return judgement->message();
    const std::vector<NodeRow> best = judgement->Best();
    return std::to_string(judgement->feasible().size()) + " nodes fit, " +
           judgement->snapshot().node(best.front()).metadata.name + " best";
  }
  const std::string name(recorded_node);
  const NodeRow row = judgement->snapshot().FindNode(recorded_node);
  if (row == kNoRow) return name + " is not there";
  return std::ranges::binary_search(judgement->feasible(), row)
             ? WhyNotBest(*judgement, row, name)
             : WhyRejected(*judgement, row, name);
}

template <typename T>
inline constexpr bool kIsAnswer =
    std::is_same_v<T, PreBindCancelled> || std::is_same_v<T, ExtenderFiltered> ||
    std::is_same_v<T, ExtenderPrioritized> || std::is_same_v<T, ExtenderPreempted>;

// What stands between the steps of a recording: neither a message nor an answer.
template <typename T>
inline constexpr bool kIsMark = std::is_same_v<T, TurnBegan> || std::is_same_v<T, CycleEnded> ||
                                std::is_same_v<T, AttemptEnded> || std::is_same_v<T, Ended>;

// Drives the scheduler through the recording, and is its tape.
class Replayer final : public scheduler::Tape {
 public:
  Replayer(RecordingReader& reader, const ReplayOptions& options)
      : reader_(reader),
        options_(options),
        clock_(reader.header().start),
        comparison_(options.most_differences, options.shows) {}

  Result<void> Make(const std::vector<PluginRegistration>& registry);
  ReplayReport Run();

  void BeginTurn(Time, Time) override {}
  void Take(const scheduler::Message&) override {}
  void BeginCycle() override;
  void Decided(const scheduler::CycleOutcome& outcome) override;
  Time EndCycle(Time now) override;
  bool CancelPreBind(std::string_view uid, const std::function<bool()>& ask) override;
  bool replays() const override { return true; }
  bool KeepBinding(binding::BindingCycle& cycle) override;

 private:
  // The next frame, which stays; nullptr at the end.
  const Frame* Peek();
  Frame TakeFrame();
  // Passes the messages that come next to the scheduler, up to the next mark.
  void Feed();
  void FeedMessage(Frame frame);
  // The answer that comes next, if it is of this type.
  template <typename Answer>
  std::optional<Answer> NextAnswer();
  void PassOverAnswers();
  // The cycle in the recording that the replay did not have.
  void PassOverCycle();
  void SetTime(Time now);
  void Refuse(const std::string& uid);

  RecordingReader& reader_;
  const ReplayOptions& options_;
  base::VirtualClock clock_;
  SilentApi api_;
  metrics::Registry metrics_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  Comparison comparison_;
  ReplayReport report_;

  std::optional<Frame> next_;
  bool at_end_ = false;
  std::deque<Frame> answers_;
  base::StringMap<std::string> pod_keys_;  // by UID
  base::StringMap<CycleState> bindings_;   // what a pod's binding cycle has in hand, by UID
  std::string why_;
  size_t next_explained_ = 0;
};

Result<void> Replayer::Make(const std::vector<PluginRegistration>& registry) {
  const Header& header = reader_.header();
  scheduler::SchedulerOptions options;
  options.configuration = options_.configuration;
  options.features = options_.features.value_or(header.features);
  options.pod_max_in_unschedulable_pods_duration = header.pod_max_in_unschedulable_pods_duration;
  options.seed = header.seed;
  options.start = header.start;
  options.max_kept_bytes = header.max_kept_bytes;
  options.leading = header.leading;
  options.hostname = "replay";
  options.tape = this;
  if (header.asks_extenders) {
    options.extenders =
        MakeReplayedExtenders(options_.configuration.extenders,
                              {.filtered = [this] { return NextAnswer<ExtenderFiltered>(); },
                               .prioritized = [this] { return NextAnswer<ExtenderPrioritized>(); },
                               .preempted = [this] { return NextAnswer<ExtenderPreempted>(); }});
  }
  auto made = scheduler::Scheduler::Make(options, registry, clock_, api_, metrics_);
  if (!made) return Fail(made.error());
  scheduler_ = std::move(*made);
  return {};
}

ReplayReport Replayer::Run() {
  while (const Frame* frame = Peek()) {
    if (std::holds_alternative<TurnBegan>(*frame)) {
      const auto turn = std::get<TurnBegan>(TakeFrame());
      clock_.Correct(turn.wall_offset);
      SetTime(turn.now);
      Feed();
    } else {
      // The recorded scheduler had more to decide in this turn than the replay's.
      PassOverCycle();
    }
    scheduler_->Turn(clock_.Now());
  }
  report_.problem = reader_.problem();
  report_.torn = reader_.torn();
  report_.ended = clock_.Now();
  comparison_.Finish(report_);
  return std::move(report_);
}

const Frame* Replayer::Peek() {
  if (!next_ && !at_end_) {
    next_ = reader_.Next();
    at_end_ = !next_;
  }
  return next_ ? &*next_ : nullptr;
}

Frame Replayer::TakeFrame() { return *std::exchange(next_, std::nullopt); }

void Replayer::SetTime(Time now) {
  clock_.Set(now);
  comparison_.SetTime(now);
}

void Replayer::Feed() {
  while (const Frame* frame = Peek()) {
    const bool mark =
        std::visit([](const auto& held) { return kIsMark<std::decay_t<decltype(held)>>; }, *frame);
    if (mark) return;
    FeedMessage(TakeFrame());
  }
}

void Replayer::FeedMessage(Frame frame) {
  ++report_.messages;
  std::visit(
      [this]<typename T>(T& message) {
        if constexpr (kIsMark<T>) {
          // Feed() stops before it.
        } else if constexpr (kIsAnswer<T>) {
          --report_.messages;
          answers_.emplace_back(std::move(message));
        } else if constexpr (std::is_same_v<T, informers::InformerEvent>) {
          if (const auto* pod = api::As<api::Pod>(message.new_object)) {
            pod_keys_.insert_or_assign(pod->metadata.uid, pod->metadata.Key());
          }
          scheduler_->Post(std::move(message));
        } else if constexpr (std::is_same_v<T, BindEnded>) {
          binding::BindOutcome outcome{.pod_uid = message.pod_uid,
                                       .node_name = std::move(message.node_name),
                                       .status = std::move(message.status),
                                       .stage = message.stage,
                                       .unknown = message.unknown,
                                       .state = {},
                                       .timings = {}};
          const auto kept = bindings_.find(message.pod_uid);
          if (kept != bindings_.end()) {
            outcome.state = std::move(kept->second);
            bindings_.erase(kept);
          }
          scheduler_->Post(std::move(outcome));
        } else if constexpr (std::is_same_v<T, Reloaded>) {
          if (!options_.load) return;
          auto next = options_.load(message.configuration);
          if (!next) return;
          scheduler_->Post(scheduler::ReloadRequested{
              std::make_shared<const config::SchedulerConfiguration>(std::move(*next)),
              [](const Result<void>&) {}});
        } else {
          scheduler_->Post(std::move(message));
        }
      },
      frame);
}

bool Replayer::KeepBinding(binding::BindingCycle& cycle) {
  bindings_.insert_or_assign(cycle.pod->pod->metadata.uid, std::move(cycle.state));
  return true;
}

template <typename Answer>
std::optional<Answer> Replayer::NextAnswer() {
  if (!answers_.empty()) {
    auto* answer = std::get_if<Answer>(&answers_.front());
    if (answer == nullptr) return std::nullopt;
    std::optional<Answer> taken = std::move(*answer);
    answers_.pop_front();
    return taken;
  }
  const Frame* frame = Peek();
  if (frame == nullptr || !std::holds_alternative<Answer>(*frame)) return std::nullopt;
  return std::get<Answer>(TakeFrame());
}

void Replayer::PassOverAnswers() {
  answers_.clear();
  const auto is_answer = [](const Frame& frame) {
    return std::visit([](const auto& held) { return kIsAnswer<std::decay_t<decltype(held)>>; },
                      frame);
  };
  for (const Frame* frame = Peek(); frame != nullptr && is_answer(*frame); frame = Peek()) {
    TakeFrame();
  }
}

bool Replayer::CancelPreBind(std::string_view /*uid*/, const std::function<bool()>& /*ask*/) {
  const auto answer = NextAnswer<PreBindCancelled>();
  return answer && answer->cancelled;
}

void Replayer::BeginCycle() {
  why_.clear();
  const uint64_t number = comparison_.decisions() + 1;
  const auto& explain = options_.explain;
  while (next_explained_ < explain.size() && explain[next_explained_] < number) ++next_explained_;
  if (next_explained_ == explain.size() || explain[next_explained_] != number) return;
  const Frame* frame = Peek();
  const auto* recorded = frame == nullptr ? nullptr : std::get_if<AttemptEnded>(frame);
  if (recorded == nullptr) return;
  const auto key = pod_keys_.find(recorded->pod_uid);
  if (key == pod_keys_.end()) return;
  const auto pod = scheduler_->FindPendingPod(key->second);
  if (pod != nullptr) why_ = WhyNot(*scheduler_, pod, recorded->node_name);
}

void Replayer::Decided(const scheduler::CycleOutcome& outcome) {
  PassOverAnswers();
  AttemptEnded made{outcome.pod.metadata.uid, outcome.code, std::string(outcome.node_name),
                    std::string(outcome.message)};
  const Frame* frame = Peek();
  const bool placed = !made.node_name.empty();
  const std::string key = outcome.pod.metadata.Key();
  // What the recorded scheduler did next was not written any more.
  if (frame == nullptr && reader_.broke_off()) return;
  if (frame == nullptr || !std::holds_alternative<AttemptEnded>(*frame)) {
    comparison_.AddExtra(std::move(made), key);
    return;
  }
  const auto recorded = std::get<AttemptEnded>(TakeFrame());
  const auto known = pod_keys_.find(recorded.pod_uid);
  const std::string uid = made.pod_uid;
  const bool refuse = placed && recorded.pod_uid == uid && recorded.node_name.empty();
  comparison_.Add(recorded, known == pod_keys_.end() ? recorded.pod_uid : known->second,
                  std::move(made), key, std::exchange(why_, ""));
  if (refuse) Refuse(uid);
}

// The pod got no node when this was recorded, so no outcome of its bind will ever come.
void Replayer::Refuse(const std::string& uid) {
  scheduler_->Post(scheduler::Query{[this, uid] {
    binding::BindOutcome outcome;
    outcome.pod_uid = uid;
    outcome.status = {Code::kUnschedulable, "the recording has no node for it"};
    outcome.stage = binding::BindingStage::kBind;
    if (const auto kept = bindings_.find(uid); kept != bindings_.end()) {
      outcome.state = std::move(kept->second);
      bindings_.erase(kept);
    }
    scheduler_->Post(std::move(outcome));
  }});
}

Time Replayer::EndCycle(Time now) {
  PassOverAnswers();
  const Frame* frame = Peek();
  // A cycle that was not recorded: what comes next in the recording is still to be posted.
  if (frame == nullptr || std::holds_alternative<TurnBegan>(*frame)) return now;
  PassOverCycle();
  return clock_.Now();
}

void Replayer::PassOverCycle() {
  ++report_.cycles;
  while (const Frame* frame = Peek()) {
    PassOverAnswers();
    frame = Peek();
    if (frame == nullptr || std::holds_alternative<TurnBegan>(*frame)) return;
    Frame taken = TakeFrame();
    if (auto* recorded = std::get_if<AttemptEnded>(&taken)) {
      const auto known = pod_keys_.find(recorded->pod_uid);
      const std::string key = known == pod_keys_.end() ? recorded->pod_uid : known->second;
      comparison_.AddMissing(std::move(*recorded), key);
    } else if (const auto* end = std::get_if<CycleEnded>(&taken)) {
      SetTime(end->now);
      Feed();
      return;
    } else {
      FeedMessage(std::move(taken));
    }
  }
}

}  // namespace

std::string_view NameOf(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::kNode:
      return "node";
    case DifferenceKind::kVerdict:
      return "verdict";
    case DifferenceKind::kMessage:
      return "message";
    case DifferenceKind::kOrder:
      return "order";
    case DifferenceKind::kMissing:
      return "missing";
    case DifferenceKind::kExtra:
      return "extra";
  }
  return "";
}

Result<ReplayReport> Replay(RecordingReader& reader,
                            const std::vector<PluginRegistration>& registry,
                            const ReplayOptions& options) {
  Replayer replayer(reader, options);
  if (auto made = replayer.Make(registry); !made) return Fail(made.error());
  return replayer.Run();
}

}  // namespace berth::recording
