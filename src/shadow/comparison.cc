// SPDX-License-Identifier: Apache-2.0
#include "src/shadow/comparison.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "src/base/logging.h"
#include "src/metrics/local_metrics.h"

namespace berth::shadow {
namespace {

using engine::Judgement;
using metrics::Metric;

// Where the node stands in what belongs to Judgement::feasible().
std::optional<size_t> IndexOf(const Judgement& judgement, std::string_view node_name) {
  const NodeRow row = judgement.snapshot().FindNode(node_name);
  const std::vector<NodeRow>& feasible = judgement.feasible();
  const auto it = std::lower_bound(feasible.begin(), feasible.end(), row);
  if (row == kNoRow || it == feasible.end() || *it != row) return std::nullopt;
  return static_cast<size_t>(it - feasible.begin());
}

// Why the node is not feasible.
std::string RefusalOf(Judgement& judgement, std::string_view node_name) {
  const NodeRow row = judgement.snapshot().FindNode(node_name);
  if (row == kNoRow) return "the node is gone";
  judgement.Explain();
  const engine::NodeStatuses& statuses = judgement.statuses();
  if (!statuses.explicit_nodes().Test(row)) {
    return judgement.message().empty() ? "PreFilter leaves the node out" : judgement.message();
  }
  std::string text(statuses.plugin(row));
  const Status status = statuses.Get(row);
  for (const std::string& reason : status.reasons()) text += ": " + reason;
  return text;
}

// The plugins whose weighted scores differ, those that differ most first.
std::string DifferenceOf(const Judgement& judgement, size_t berth, size_t other) {
  std::vector<std::pair<int64_t, std::string>> parts;
  for (const framework::PluginScores& scores : judgement.scores()) {
    const int64_t weight = scores.entry->weight;
    const int64_t ours = scores.normalised[berth] * weight;
    const int64_t theirs = scores.normalised[other] * weight;
    if (ours == theirs) continue;
    parts.emplace_back(std::abs(ours - theirs), std::string(scores.entry->name) + " " +
                                                    std::to_string(ours) + " to " +
                                                    std::to_string(theirs));
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : ", ") + part.second;
  return text.empty() ? "every plugin gives both the same score" : text;
}

Agreement AgreementOf(int64_t berth_score, int64_t other_score) {
  if (berth_score == other_score) return Agreement::kTie;
  return berth_score > other_score ? Agreement::kLowerThanBerth : Agreement::kHigherThanBerth;
}

}  // namespace

Comparison::Series::Series(metrics::Registry& registry)
    : berth_gave_away(registry.Intern(Metric::kShadowScoreGivenAway, {"berth"})),
      other_gave_away(registry.Intern(Metric::kShadowScoreGivenAway, {"other"})),
      berth_took(registry.Intern(Metric::kShadowDecisionDuration, {"berth"})),
      other_took(registry.Intern(Metric::kShadowDecisionDuration, {"other"})),
      only_berth(registry.Intern(Metric::kShadowOnlyBerth)) {
  for (size_t i = 0; i < kNumAgreements; ++i) {
    pods[i] = registry.Intern(Metric::kShadowPods, {NameOf(static_cast<Agreement>(i))});
  }
}

Comparison::Comparison(const Clock& clock, metrics::Registry& registry)
    : clock_(clock), metrics_(registry), series_(registry) {}

void Comparison::Seen(const api::Pod& pod, Time now) {
  Take(pod.metadata.uid);
  Pending& pending = pending_[pod.metadata.uid];
  pending.key = pod.metadata.Key();
  pending.seen = now;
}

// Not from Decided(), which belongs to a scheduling cycle.
void Comparison::ShowOnlyBerth() {
  metrics_.Set(series_.only_berth, static_cast<double>(num_only_berth_));
}

void Comparison::Decided(const scheduler::CycleOutcome& outcome) {
  const auto it = pending_.find(outcome.pod.metadata.uid);
  if (it == pending_.end()) return;
  Pending& pending = it->second;
  ForgetOnlyBerth(pending);
  // A pod that was changed is decided again; how long it took counts from the first time.
  if (pending.node.empty() || outcome.node_name.empty()) pending.decided = clock_.Now();
  pending.node = outcome.node_name;
  pending.message = outcome.message;
  if (pending.only_berth()) ++num_only_berth_;
}

void Comparison::Refused(const api::Pod& pod) {
  const auto it = pending_.find(pod.metadata.uid);
  if (it == pending_.end() || std::exchange(it->second.refused, true)) return;
  if (it->second.only_berth()) ++num_only_berth_;
  ShowOnlyBerth();
}

std::optional<Comparison::Pending> Comparison::Take(const std::string& uid) {
  const auto it = pending_.find(uid);
  if (it == pending_.end()) return std::nullopt;
  Pending pending = std::move(it->second);
  pending_.erase(it);
  ForgetOnlyBerth(pending);
  ShowOnlyBerth();
  return pending;
}

void Comparison::Count(Agreement agreement) {
  const auto index = static_cast<size_t>(agreement);
  ++summary_.pods[index];
  metrics_.Add(series_.pods[index]);
}

void Comparison::GiveAway(int64_t by_berth, int64_t by_other) {
  summary_.berth_gave_away += by_berth;
  summary_.other_gave_away += by_other;
  metrics_.Add(series_.berth_gave_away, static_cast<double>(by_berth));
  metrics_.Add(series_.other_gave_away, static_cast<double>(by_other));
}

void Comparison::Bound(const std::shared_ptr<const api::Pod>& pod, std::string_view node_name,
                       const scheduler::Opinion& opinion, Time now) {
  const std::optional<Pending> pending = Take(pod->metadata.uid);
  if (!pending) return;
  if (!pending->node.empty()) {
    const Duration berth = *pending->decided - pending->seen;
    const Duration other = now - pending->seen;
    summary_.berth_took.Add(berth);
    summary_.other_took.Add(other);
    metrics_.Observe(series_.berth_took, metrics::Seconds(berth));
    metrics_.Observe(series_.other_took, metrics::Seconds(other));
  } else if (pending->decided) {
    if (summary_.num_only_other++ < kMostDisagreements) {
      summary_.only_other.push_back({pending->key, std::string(node_name), pending->message});
    }
  }
  Compare(pod, node_name, opinion);
}

void Comparison::Compare(const std::shared_ptr<const api::Pod>& pod, std::string_view node_name,
                         const scheduler::Opinion& opinion) {
  Disagreement found;
  found.berth_node = opinion.choose(pod);
  if (found.berth_node == node_name) {
    Count(Agreement::kSameNode);
    return;
  }
  found.pod = pod->metadata.Key();
  found.other_node = node_name;
  const std::unique_ptr<Judgement> judgement = opinion.judge(pod);
  const std::optional<size_t> berth = IndexOf(*judgement, found.berth_node);
  const std::optional<size_t> other = IndexOf(*judgement, node_name);
  if (berth) found.berth_score = judgement->totals()[*berth];
  if (other) found.other_score = judgement->totals()[*other];
  if (!other || !berth) {
    found.agreement = Agreement::kRefusedByBerth;
    found.why = other ? "Berth finds no node now" : RefusalOf(*judgement, node_name);
  } else {
    found.agreement = AgreementOf(*found.berth_score, *found.other_score);
    found.why = DifferenceOf(*judgement, *berth, *other);
    const std::vector<int64_t>& totals = judgement->totals();
    const int64_t best = *std::max_element(totals.begin(), totals.end());
    GiveAway(best - *found.berth_score, best - *found.other_score);
  }
  Count(found.agreement);
  base::LogV(3, "The other scheduler chose another node",
             {{"pod", found.pod},
              {"comparison", NameOf(found.agreement)},
              {"node", found.berth_node},
              {"otherNode", found.other_node},
              {"why", found.why}});
  if (summary_.num_disagreements++ < kMostDisagreements) {
    summary_.disagreements.push_back(std::move(found));
  }
}

Summary Comparison::Summarize() const {
  Summary summary = summary_;
  for (const auto& [uid, pending] : pending_) {
    if (pending.refused && !pending.node.empty()) {
      summary.only_berth.push_back({pending.key, pending.node, ""});
    }
  }
  std::sort(summary.only_berth.begin(), summary.only_berth.end(),
            [](const OnlyOne& a, const OnlyOne& b) { return a.pod < b.pod; });
  return summary;
}

}  // namespace berth::shadow
