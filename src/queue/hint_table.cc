// SPDX-License-Identifier: Apache-2.0
#include "src/queue/hint_table.h"

#include <algorithm>
#include <utility>

#include "src/base/logging.h"

namespace berth::queue {
namespace {

// An event about one pod alone: whether that is another one than `pod`.
bool ConcernsAnother(const EventMatch& match, const api::Pod& pod,
                     const api::ObjectPtr& new_object) {
  if (match.wildcard) {
    if (std::holds_alternative<std::monostate>(new_object)) return false;
  } else if (match.event.resource != EventResource::kTargetPod) {
    return false;
  }
  const auto* target = api::As<api::Pod>(new_object);
  return target == nullptr || target->metadata.uid != pod.metadata.uid;
}

}  // namespace

HintTable::HintTable(std::vector<ProfileHints> profiles) : profiles_(std::move(profiles)) {
  Number();
}

void HintTable::Replace(std::vector<ProfileHints> profiles) {
  profiles_ = std::move(profiles);
  plugin_names_.clear();
  by_class_.clear();
  tells_of_gates_.clear();
  profile_numbers_.clear();
  plugin_numbers_.clear();
  Number();
  for (const auto& match : matches_) Fill(*match);
}

void HintTable::Number() {
  for (const ProfileHints& profile : profiles_) {
    profile_numbers_.emplace(profile.scheduler_name, profile_numbers_.size());
    for (const PluginHint& hint : profile.hints) {
      if (plugin_numbers_.emplace(hint.plugin, plugin_numbers_.size()).second) {
        plugin_names_.push_back(hint.plugin);
        by_class_.push_back(true);
        tells_of_gates_.push_back(true);
      }
      if (!hint.tells_of_gates) tells_of_gates_[PluginNumber(hint.plugin)] = false;
      if (!hint.by_class) by_class_[PluginNumber(hint.plugin)] = false;
    }
  }
}

uint32_t HintTable::ProfileNumber(std::string_view scheduler_name) const {
  auto found = profile_numbers_.find(scheduler_name);
  return found == profile_numbers_.end() ? kUnknown : found->second;
}

uint32_t HintTable::PluginNumber(std::string_view plugin) const {
  auto found = plugin_numbers_.find(plugin);
  return found == plugin_numbers_.end() ? kUnknown : found->second;
}

const EventMatch& HintTable::Match(const ClusterEvent& event) {
  for (const auto& match : matches_) {
    if (match->event == event && match->event.custom_label == event.custom_label) return *match;
  }
  auto match = std::make_unique<EventMatch>();
  match->label = event.Label();
  match->event = event;
  // The caller's text may not live on; when there is one, it is the label.
  if (!event.custom_label.empty()) match->event.custom_label = match->label;
  match->wildcard = event.wildcard();
  Fill(*match);
  matches_.push_back(std::move(match));
  return *matches_.back();
}

void HintTable::Fill(EventMatch& match) const {
  match.of_interest = match.wildcard;
  match.by_profile.assign(profiles_.size(), {});
  match.plugins.assign(plugin_names_.size(), false);
  for (size_t p = 0; p < profiles_.size(); ++p) {
    for (const PluginHint& hint : profiles_[p].hints) {
      if (!hint.registration.event.Matches(match.event)) continue;
      const uint32_t plugin = PluginNumber(hint.plugin);
      match.of_interest = true;
      match.plugins[plugin] = true;
      match.by_profile[p].push_back({plugin, &hint.registration.hint});
    }
  }
}

void HintTable::Refresh(Entry& entry) const {
  entry.profile = ProfileNumber(entry.pod->pod().spec.scheduler_name);
  RefreshRejectors(entry);
}

void HintTable::RefreshRejectors(Entry& entry) const {
  const QueuedPod& pod = *entry.pod;
  entry.gating_plugin = pod.gated() ? PluginNumber(pod.gating_plugin) : kUnknown;
  entry.rejectors.clear();
  for (const auto& member : entry.members) {
    for (const Entry::Rejector& rejector : member->rejectors) {
      if (std::find(entry.rejectors.begin(), entry.rejectors.end(), rejector) ==
          entry.rejectors.end()) {
        entry.rejectors.push_back(rejector);
      }
    }
  }
  // A plugin in both lists is found as a Pending one, which comes first.
  for (const bool pending : {true, false}) {
    for (const std::string& plugin : pending ? pod.pending_plugins : pod.unschedulable_plugins) {
      const uint32_t number = PluginNumber(plugin);
      if (number != kUnknown) entry.rejectors.push_back({number, pending});
    }
  }
}

bool HintTable::Ask(const Entry& entry, const EventMatch& match, const EventMatch::Hint& hint,
                    const api::ObjectPtr& old_object, const api::ObjectPtr& new_object,
                    QueueMetrics& metrics) const {
  const Time start = metrics.times_hints() ? metrics.Now() : Time();
  auto verdict = QueueMetrics::Hint::kQueue;
  if (*hint.call) {
    const auto answer = (*hint.call)(entry.pod->pod(), old_object, new_object);
    if (!answer) {
      // A pod that stays parked by mistake is worse than an attempt in vain.
      verdict = QueueMetrics::Hint::kError;
      base::LogError("QueueingHintFn returned an error", {{"err", answer.error().message},
                                                          {"event", match.label},
                                                          {"plugin", plugin_names_[hint.plugin]},
                                                          {"pod", entry.key}});
    } else if (*answer == QueueingHint::kQueueSkip) {
      verdict = QueueMetrics::Hint::kQueueSkip;
    }
  }
  if (metrics.times_hints()) {
    metrics.ObserveHint(plugin_names_[hint.plugin], match.label, verdict, metrics.Now() - start);
  }
  return verdict != QueueMetrics::Hint::kQueueSkip;
}

QueueingStrategy HintTable::Evaluate(const Entry& entry, const EventMatch& match,
                                     const api::ObjectPtr& old_object,
                                     const api::ObjectPtr& new_object,
                                     QueueMetrics& metrics) const {
  if (!entry.is_group()) return EvaluatePod(entry, match, old_object, new_object, metrics);
  auto best = QueueingStrategy::kSkip;
  const Entry* before = nullptr;
  // One of alike members answers for all, unless the event is about one of them alone.
  const bool about_one = match.wildcard || match.event.resource == EventResource::kTargetPod;
  for (const auto& member : entry.members) {
    if (best == QueueingStrategy::kImmediately) break;
    if (before != nullptr && !about_one && Alike(*before, *member)) continue;
    before = member.get();
    best = std::max(best, EvaluatePod(*member, match, old_object, new_object, metrics));
  }
  return best;
}

// Whether no hint can tell two members of one group apart.
bool HintTable::Alike(const Entry& a, const Entry& b) const {
  const PodInfo& info_a = *a.pod->info;
  const PodInfo& info_b = *b.pod->info;
  return a.profile == b.profile && info_a.pod_class != kNoPodClass &&
         info_a.pod_class == info_b.pod_class && info_a.class_epoch == info_b.class_epoch &&
         a.rejected() == b.rejected() && a.rejectors == b.rejectors &&
         std::ranges::all_of(a.rejectors,
                             [this](const Entry::Rejector& r) { return ByClass(r.plugin); });
}

QueueingStrategy HintTable::EvaluatePod(const Entry& entry, const EventMatch& match,
                                        const api::ObjectPtr& old_object,
                                        const api::ObjectPtr& new_object,
                                        QueueMetrics& metrics) const {
  if (!entry.rejected()) return QueueingStrategy::kAfterBackoff;
  if (ConcernsAnother(match, entry.pod->pod(), new_object)) return QueueingStrategy::kSkip;
  if (match.wildcard) return QueueingStrategy::kAfterBackoff;
  // Such a pod should not be here; nothing would ever wake it.
  if (entry.profile == kUnknown) return QueueingStrategy::kAfterBackoff;

  auto strategy = QueueingStrategy::kSkip;
  for (const EventMatch::Hint& hint : match.by_profile[entry.profile]) {
    const auto rejector =
        std::find_if(entry.rejectors.begin(), entry.rejectors.end(),
                     [&](const Entry::Rejector& r) { return r.plugin == hint.plugin; });
    if (rejector == entry.rejectors.end()) continue;
    if (!Ask(entry, match, hint, old_object, new_object, metrics)) continue;
    if (rejector->pending) return QueueingStrategy::kImmediately;
    strategy = QueueingStrategy::kAfterBackoff;
    // Only a Pending plugin could still improve on that.
    if (entry.pod->pending_plugins.empty()) return strategy;
  }
  return strategy;
}

}  // namespace berth::queue
