// SPDX-License-Identifier: Apache-2.0
#include "berth/check.h"
#include "src/cache/cache.h"

namespace berth::cache {

std::shared_ptr<const Topology> Cache::GetTopology(std::string_view) const {
  BERTH_CHECK(false, "the cache has no topologies yet");
  return nullptr;
}

std::shared_ptr<const PodCounts> Cache::CountPods(const PodQuery&) const {
  BERTH_CHECK(false, "the cache counts no pods yet");
  return nullptr;
}

void Cache::MatchingAffinityTerms(const api::Pod&, const api::StringMap&, AffinityTermKinds,
                                  std::vector<AffinityTermCounts>&) const {
  BERTH_CHECK(false, "the cache knows no affinity terms yet");
}

}  // namespace berth::cache
