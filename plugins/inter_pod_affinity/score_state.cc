// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/score_state.h"

#include <algorithm>
#include <utility>

#include "plugins/inter_pod_affinity/terms.h"
#include "plugins/shared/touch_domain.h"

namespace berth::plugins {
namespace {

// Of a key whose scores go by domain: more are dearer to look through than the nodes that change.
constexpr size_t kMaxDomains = 512;

}  // namespace

void PodAffinityScoreState::AddOwn(const std::shared_ptr<const Topology>& topology,
                                   std::shared_ptr<const Counts> counts, int64_t weight) {
  Add(topology, {std::move(counts), weight});
}

void PodAffinityScoreState::AddPlaced(const Snapshot& snapshot, const AffinityTermCounts& term,
                                      int64_t weight) {
  placed_terms_.push_back(term.serial);
  Add(snapshot.GetTopology(term.topology->key), {Borrow(*term.by_domain), weight});
}

void PodAffinityScoreState::Add(const std::shared_ptr<const Topology>& topology, Source source) {
  const bool stays = !IsOwned(source.counts) || ++num_owned_ <= kMaxOwned;
  sums_alone_ = sums_alone_ || !stays;
  if (source.counts->empty()) {
    // A key that no node has gets its first pod with a node that changes.
    if (stays && topology->num_domains > 0) without_pods_.push_back(std::move(source.counts));
    return;
  }
  const auto key_at = [this](size_t i) -> std::string_view { return keys_[i].topology->key; };
  size_t at = by_key_.Find(topology->key, keys_.size(), key_at);
  if (at == PositionByKey::kNone) {
    at = keys_.size();
    keys_.push_back({topology, {}, std::vector<int64_t>(topology->values.size(), 0)});
    by_key_.Added(keys_.size(), key_at);
  }
  Key& key = keys_[at];
  source.counts->ForEach([&](DomainId domain, int32_t count) {
    key.scores[domain] += source.weight * int64_t{count};
  });
  if (stays) key.sources.push_back(std::move(source));
}

void PodAffinityScoreState::MakeGroups() {
  if (keys_.size() != 1 || keys_.front().scores.size() > kMaxDomains) return;
  Key& key = keys_.front();
  const auto without_key = static_cast<uint16_t>(key.scores.size());
  key.scores.push_back(0);
  group_of_.reserve(key.topology->domain_of.size());
  for (const DomainId domain : key.topology->domain_of) {
    group_of_.push_back(domain == kNoDomain ? without_key : static_cast<uint16_t>(domain));
  }
}

size_t PodAffinityScoreState::bytes() const {
  size_t bytes = by_key_.bytes() + group_of_.capacity() * sizeof(group_of_[0]) +
                 without_pods_.capacity() * sizeof(without_pods_[0]) +
                 placed_terms_.capacity() * sizeof(placed_terms_[0]);
  for (const Key& key : keys_) {
    bytes += sizeof(key) + ShareOf(key.topology, key.topology->bytes()) +
             key.scores.capacity() * sizeof(key.scores[0]) +
             key.sources.capacity() * sizeof(key.sources[0]);
    for (const Source& source : key.sources) {
      if (IsOwned(source.counts)) bytes += ShareOf(source.counts, source.counts->bytes());
    }
  }
  return bytes;
}

std::optional<ScoreGroups> PodAffinityScoreState::Groups() const {
  if (group_of_.empty()) return std::nullopt;
  return ScoreGroups{group_of_, keys_.front().scores};
}

bool PodAffinityScoreState::Update(std::span<const NodeRow> rows,
                                   const std::vector<AffinityTermCounts>& placed,
                                   NodeSet& touched) {
  if (sums_alone_) return false;
  if (!std::ranges::equal(placed, placed_terms_, {}, &AffinityTermCounts::serial)) return false;
  const auto has_pods = [](const std::shared_ptr<const Counts>& counts) {
    return !counts->empty();
  };
  if (std::ranges::any_of(without_pods_, has_pods)) return false;
  for (Key& key : keys_) {
    // A key that nothing gives a score any more must go.
    if (!std::ranges::all_of(key.sources, has_pods, &Source::counts)) return false;
    for (const NodeRow row : rows) {
      const DomainId domain = key.topology->domain_of[row];
      if (domain == kNoDomain) continue;
      int64_t score = 0;
      for (const Source& source : key.sources) {
        score += source.weight * int64_t{source.counts->Get(domain)};
      }
      if (std::exchange(key.scores[domain], score) != score && group_of_.empty()) {
        TouchDomain(*key.topology, domain, row, touched);
      }
    }
  }
  return true;
}

int64_t PodAffinityScoreState::Score(NodeRow row) const {
  int64_t score = 0;
  for (const Key& key : keys_) {
    const DomainId domain = key.topology->domain_of[row];
    if (domain != kNoDomain) score += key.scores[domain];
  }
  return score;
}

void PodAffinityScoreState::ScoreNodes(std::span<const NodeRow> nodes,
                                       std::span<int64_t> scores) const {
  std::fill(scores.begin(), scores.end(), 0);
  for (const Key& key : keys_) {
    const DomainId* domain_of = key.topology->domain_of.data();
    for (size_t i = 0; i < nodes.size(); ++i) {
      const DomainId domain = domain_of[nodes[i]];
      if (domain != kNoDomain) scores[i] += key.scores[domain];
    }
  }
}

}  // namespace berth::plugins
