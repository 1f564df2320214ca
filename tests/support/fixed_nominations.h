// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/engine/engine.h"

namespace berth::test {

// Nominations made by hand; none at first.
class FixedNominations final : public engine::NominatedPods {
 public:
  void ForEach(const std::function<void(std::string_view, const PodInfo&)>& visit) const override {
    for (const auto& [node, pod] : pods) visit(node, *pod);
  }
  bool empty() const override { return pods.empty(); }
  uint64_t generation() const override { return changes; }
  std::string_view NodeOf(std::string_view uid) const override {
    const auto found = std::find_if(pods.begin(), pods.end(), [uid](const auto& nominated) {
      return nominated.second->pod->metadata.uid == uid;
    });
    return found == pods.end() ? std::string_view() : std::string_view(found->first);
  }

  std::vector<std::pair<std::string, PodInfoPtr>> pods;
  uint64_t changes = 0;  // to be counted by the test
};

}  // namespace berth::test
