// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/explain/change.h"
#include "src/simulator/memory_api.h"

namespace berth::fixes {

// Objects that come or take the place of those of the same name, and objects that go.
struct Delta {
  std::vector<api::ObjectPtr> put;
  std::vector<std::pair<informers::Kind, std::string>> removed;  // by key
};

// What a change comes to for `pod` in the cluster that `objects` holds; nothing is changed there.
// nullopt: it means an object that is not there.
std::optional<Delta> Apply(const explain::Change& change, const api::Pod& pod,
                           const simulator::MemoryApi& objects);

// A node like the one named, as Apply() adds it, with all that comes with it; the node first.
// nullopt: there is no such node.
std::optional<Delta> NodeLike(std::string_view name, const simulator::MemoryApi& objects);

// Of the taint that a cordoned node has, which goes with spec.unschedulable.
inline constexpr std::string_view kUnschedulableTaint = "node.kubernetes.io/unschedulable";

}  // namespace berth::fixes
