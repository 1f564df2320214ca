// SPDX-License-Identifier: Apache-2.0
#include "src/extender/extenders.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "berth/config_value.h"
#include "berth/field_errors.h"
#include "src/base/logging.h"

namespace berth::extender {
namespace {

// An extender scores from 0 to 10.
constexpr uint64_t kScoreScale = kMaxNodeScore / 10;

void LogSkipped(const Extender& extender, std::string_view verb, const api::Pod& pod,
                std::string_view error) {
  base::LogInfo(
      "Skipping an extender that failed",
      {{"extender", extender.Name()}, {"verb", verb}, {"pod", pod.metadata.Key()}, {"err", error}});
}

// While it lives, the thread waits for the extender.
class Wait {
 public:
  Wait(ExtenderWatch& watch, const Extender& extender) : watch_(watch) {
    watch_.Begin(extender.Name(), extender.Timeout());
  }
  ~Wait() { watch_.End(); }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  ExtenderWatch& watch_;
};

bool NamesAny(const api::ResourceList& list,
              const std::vector<config::ExtenderManagedResource>& resources) {
  return std::any_of(resources.begin(), resources.end(), [&list](const auto& resource) {
    return api::Find(list, resource.name) != nullptr;
  });
}

}  // namespace

bool IsInterested(const config::Extender& extender, const api::Pod& pod) {
  const auto& resources = extender.managed_resources;
  const auto asks = [&resources](const api::Container& container) {
    return NamesAny(container.resources.requests, resources) ||
           NamesAny(container.resources.limits, resources);
  };
  const api::PodSpec& spec = pod.spec;
  return resources.empty() || std::any_of(spec.containers.begin(), spec.containers.end(), asks) ||
         std::any_of(spec.init_containers.begin(), spec.init_containers.end(), asks);
}

bool Extenders::HasFilter() const {
  return std::any_of(extenders_.begin(), extenders_.end(),
                     [](const auto& extender) { return extender->IsFilter(); });
}

bool Extenders::HasPrioritizer() const {
  return std::any_of(extenders_.begin(), extenders_.end(),
                     [](const auto& extender) { return extender->IsPrioritizer(); });
}

bool Extenders::Involved(const api::Pod& pod) const {
  return std::any_of(extenders_.begin(), extenders_.end(), [&pod](const auto& extender) {
    return (extender->IsFilter() || extender->IsPrioritizer()) && extender->IsInterested(pod);
  });
}

Result<FilterResult> Extenders::Filter(const api::Pod& pod, const Snapshot& snapshot,
                                       std::vector<NodeRow> nodes) {
  FilterResult left{std::move(nodes), {}};
  for (const auto& extender : extenders_) {
    if (left.nodes.empty()) break;
    if (!extender->IsFilter() || !extender->IsInterested(pod)) continue;
    ++num_calls_;
    auto result = [&] {
      const Wait wait(watch_, *extender);
      return extender->Filter(pod, snapshot, left.nodes);
    }();
    if (!result) {
      if (!extender->IsIgnorable()) return Fail(std::move(result.error()));
      LogSkipped(*extender, "filter", pod, result.error().message);
      continue;
    }
    left.nodes = std::move(result->nodes);
    std::ranges::move(result->rejected, std::back_inserter(left.rejected));
  }
  return left;
}

void Extenders::Prioritize(const api::Pod& pod, const Snapshot& snapshot,
                           std::span<const NodeRow> order, std::span<const NodeRow> nodes,
                           std::span<int64_t> totals) {
  std::vector<std::pair<Extender*, std::unique_ptr<PendingPriorities>>> asked;
  for (const auto& extender : extenders_) {
    if (!extender->IsPrioritizer() || !extender->IsInterested(pod)) continue;
    asked.emplace_back(extender.get(), extender->Prioritize(pod, snapshot, order));
  }
  for (const auto& [extender, pending] : asked) {
    const auto priorities = [&] {
      const Wait wait(watch_, *extender);
      return pending->Wait();
    }();
    if (!priorities) {
      LogSkipped(*extender, "prioritize", pod, priorities.error().message);
      continue;
    }
    // Unsigned: the product wraps around, as Go's does.
    const uint64_t factor = static_cast<uint64_t>(extender->Weight()) * kScoreScale;
    for (const HostPriority& priority : *priorities) {
      const auto it = std::lower_bound(nodes.begin(), nodes.end(), priority.row);
      if (it == nodes.end() || *it != priority.row) continue;
      int64_t& total = totals[static_cast<size_t>(it - nodes.begin())];
      total = static_cast<int64_t>(static_cast<uint64_t>(total) +
                                   static_cast<uint64_t>(priority.score) * factor);
    }
  }
}

Result<std::vector<PreemptionCandidate>> Extenders::ProcessPreemption(
    const api::Pod& pod, const Snapshot& snapshot, std::vector<PreemptionCandidate> candidates) {
  for (const auto& extender : extenders_) {
    if (candidates.empty()) break;
    if (!extender->SupportsPreemption() || !extender->IsInterested(pod)) continue;
    ++num_calls_;
    auto left = [&] {
      const Wait wait(watch_, *extender);
      return extender->ProcessPreemption(pod, snapshot, candidates);
    }();
    if (!left) {
      if (!extender->IsIgnorable()) return Fail(left.error());
      LogSkipped(*extender, "preempt", pod, left.error().message);
      continue;
    }
    const auto spared = std::find_if(left->begin(), left->end(), [](const auto& candidate) {
      return candidate.victims.empty();
    });
    if (spared != left->end()) {
      const std::string error = "expected at least one victim pod on node " +
                                Quoted(snapshot.node(spared->row).metadata.name);
      if (!extender->IsIgnorable()) return Fail(error);
      LogSkipped(*extender, "preempt", pod, error);
      std::erase_if(*left, [](const auto& candidate) { return candidate.victims.empty(); });
    }
    candidates = std::move(*left);
  }
  return candidates;
}

void ExtenderWatch::Begin(std::string_view extender, Duration timeout) {
  extender_ = extender;
  began_ = clock_.Now();
  excused_until_.store(began_ + timeout, std::memory_order_relaxed);
}

void ExtenderWatch::End() {
  const Time now = clock_.Now();
  excused_until_.store(now, std::memory_order_relaxed);
  if (now - began_ < kSlow) return;
  const auto [logged, first] = logged_.try_emplace(extender_, now);
  if (!first && now - logged->second < kLogAgain) return;
  logged->second = now;
  base::LogWarning("An extender keeps scheduling waiting",
                   {{"extender", extender_}, {"waited", FormatGoDuration(now - began_)}});
}

}  // namespace berth::extender
