// SPDX-License-Identifier: Apache-2.0
#include "src/engine/kept_evaluations.h"

#include <algorithm>

namespace berth::engine {
namespace {

// A class that could not be kept is not tried again for so many pods, and twice as many each time:
// what its pods ask for, as the name of a node, may be what cannot be kept.
constexpr uint32_t kWaitAfterFailure = 64;
constexpr uint32_t kMostDoublings = 8;
constexpr size_t kMaxClasses = 4096;
constexpr size_t kMinSweep = 1024;

// The fragments of the parts that a plugin reads; 0 elsewhere.
cache::Fragments Masked(const cache::Fragments& fragments, PodParts parts) {
  cache::Fragments masked{};
  for (size_t i = 0; i < fragments.size(); ++i) {
    if ((parts & (PodParts{1} << i)) != 0) masked[i] = fragments[i];
  }
  return masked;
}

// The answers of `step` for pods with these fragments: shared where they hold for all such pods.
template <typename Answers, typename Step, typename Table>
std::shared_ptr<Answers> AnswersOf(const Step& step, const cache::Fragments& fragments,
                                   Table& table, size_t& bytes) {
  if (!step.scope.local()) return std::make_shared<Answers>(step, bytes);
  auto& known = table[{&step, Masked(fragments, step.scope.pod)}];
  auto answers = known.lock();
  if (answers == nullptr) {
    answers = std::make_shared<Answers>(step, bytes);
    known = answers;
  }
  return answers;
}

}  // namespace

std::optional<Decision> KeptEvaluations::Decide(const framework::Profile& profile,
                                                framework::Cycle& cycle, const PodInfo& pod,
                                                const ClusterState& cluster, const Sample* sample,
                                                Random& random) {
  if (pod.pod_class == kNoPodClass) return std::nullopt;
  const EvaluationPlan& plan = PlanOf(profile);
  if (!plan.keepable()) return std::nullopt;
  Entry& entry = Find(profile, pod.pod_class);
  if (entry.kept == nullptr) {
    if (entry.wait > 0) {
      --entry.wait;
      return std::nullopt;
    }
    const cache::Fragments* fragments = cache_.pod_classes().Find(pod.pod_class);
    if (fragments == nullptr) return std::nullopt;
    entry.kept = MakeClass(plan, *fragments, cache_.pod_classes().BytesOf(pod.pod_class));
  }
  Decision decision;
  if (sample != nullptr) order_.Refresh(changes_, sample->order);
  const DecisionInput input{
      .profile = profile,
      .cycle = cycle,
      .pod = pod,
      .changes = changes_,
      .room = room_,
      .objects_generation = cluster.objects_generation,
      .placement = cluster.placement,
      .nominated = cluster.nominated.Matter(pod) ? &cluster.nominated : nullptr,
      .sample = sample,
      .order = sample == nullptr ? nullptr : &order_};
  switch (entry.kept->Decide(input, random, decision)) {
    case KeptClass::Outcome::kDecided:
      if (entry.rejections != nullptr) {
        entry.rejections->DropRefusal();
        entry.rejections->NoteTaken();
      }
      entry.failures = 0;
      Evict();
      ++num_decided_;
      return decision;
    case KeptClass::Outcome::kByItself:
      Evict();
      return std::nullopt;
    case KeptClass::Outcome::kNotKept:
      break;
  }
  entry.kept.reset();
  entry.wait = kWaitAfterFailure << std::min(entry.failures++, kMostDoublings);
  Evict();
  return std::nullopt;
}

KeptRejections* KeptEvaluations::FindRejections(const framework::Profile& profile,
                                                const PodInfo& pod) {
  const auto known = by_class_.find({&profile, pod.pod_class});
  if (known == by_class_.end() || known->second->rejections == nullptr) return nullptr;
  return Find(profile, pod.pod_class).rejections.get();
}

KeptRejections* KeptEvaluations::KeepRejections(const framework::Profile& profile,
                                                const framework::Cycle& cycle, const PodInfo& pod,
                                                const ClusterState& cluster,
                                                const Diagnosis& diagnosis) {
  if (pod.pod_class == kNoPodClass) return nullptr;
  const EvaluationPlan& plan = PlanOf(profile);
  if (!plan.keeps_refusals()) return nullptr;
  Entry& entry = Find(profile, pod.pod_class);
  entry.rejected = age_;
  entry.rejections =
      std::make_unique<KeptRejections>(plan, cycle, pod, cluster, diagnosis, changes_, bytes_);
  Evict();
  return entry.rejections.get();
}

void KeptEvaluations::DropRejections(const framework::Profile& profile, const PodInfo& pod) {
  const auto known = by_class_.find({&profile, pod.pod_class});
  if (known != by_class_.end()) known->second->rejections.reset();
}

void KeptEvaluations::Clear() {
  by_class_.clear();
  by_use_.clear();
  verdicts_.clear();
  scores_.clear();
  plans_.clear();
}

const EvaluationPlan& KeptEvaluations::PlanOf(const framework::Profile& profile) {
  std::unique_ptr<Plan>& known = plans_[&profile];
  if (known == nullptr) known = std::make_unique<Plan>(profile, bytes_);
  return known->plan;
}

KeptEvaluations::Entry& KeptEvaluations::Find(const framework::Profile& profile,
                                              PodClassId pod_class) {
  const auto [at, is_new] = by_class_.try_emplace({&profile, pod_class});
  if (is_new) {
    Entry& entry = by_use_.emplace_front();
    entry.pod_class = pod_class;
    entry.profile = &profile;
    at->second = by_use_.begin();
    Evict();
  } else if (at->second != by_use_.begin()) {
    by_use_.splice(by_use_.begin(), by_use_, at->second);
  }
  at->second->decided = age_;
  return *at->second;
}

std::unique_ptr<KeptClass> KeptEvaluations::MakeClass(const EvaluationPlan& plan,
                                                      const cache::Fragments& fragments,
                                                      size_t pod_bytes) {
  if (verdicts_.size() + scores_.size() >= sweep_at_) {
    absl::erase_if(verdicts_, [](const auto& known) { return known.second.expired(); });
    absl::erase_if(scores_, [](const auto& known) { return known.second.expired(); });
    sweep_at_ = std::max(kMinSweep, 2 * (verdicts_.size() + scores_.size()));
  }
  std::vector<KeptClass::SharedVerdicts> verdicts;
  for (const FilterStep& step : plan.filters()) {
    if (step.each_pod) continue;
    verdicts.push_back(AnswersOf<KeptVerdicts>(step, fragments, verdicts_, bytes_));
  }
  std::vector<KeptClass::SharedScores> scores;
  for (const ScoreStep& step : plan.scores()) {
    if (step.each_pod) continue;
    scores.push_back(AnswersOf<KeptScores>(step, fragments, scores_, bytes_));
  }
  return std::make_unique<KeptClass>(plan, std::move(verdicts), std::move(scores), pod_bytes,
                                     bytes_);
}

void KeptEvaluations::Evict() {
  for (const auto& [profile, known] : plans_) known->plugin_bytes.Set(known->plan.PluginBytes());
  while (by_use_.size() > 1 && (bytes_ > max_bytes_ || by_use_.size() > kMaxClasses)) DropLast();
}

void KeptEvaluations::Age() {
  ++age_;
  while (!by_use_.empty() && age_ - by_use_.back().decided >= kMaxAge) DropLast();
  for (Entry& entry : by_use_) {
    if (age_ - entry.rejected >= kMaxRejectionsAge) entry.rejections.reset();
  }
}

void KeptEvaluations::DropLast() {
  const Entry& last = by_use_.back();
  by_class_.erase({last.profile, last.pod_class});
  by_use_.pop_back();
}

}  // namespace berth::engine
