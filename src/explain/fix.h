// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/explain/change.h"

// What would let an unschedulable pod schedule. src/fixes finds fixes and proves them; here is what
// they say.
namespace berth::explain {

// Changes that together let a pod schedule, none of which can be left out.
struct Fix {
  std::vector<Change> changes;
  // How each of them is made.
  std::vector<Application> applications;
  int64_t cost = 0;
  // Where the pod can go then, by name.
  std::vector<std::string> nodes;
};

// The fixes that were found for one pod, the smallest first.
struct Fixes {
  std::vector<Fix> fixes;
  // Whose they are, where that is not the pod itself, which its group keeps from its node: another
  // pod of the group, or, without fixes, the group. "namespace/name".
  std::string of = {};
  // How often a change was tried.
  size_t tried = 0;
  // The search ended at a bound on its count or time: there may be more fixes.
  bool cut_short = false;
};

// Appends the list of a document's member `fixes` (docs/explain.md).
void AppendFixes(const std::vector<Fix>& fixes, std::string& out);

// Adds `fixesCutShort` and `fixesOf`, where they say something.
void AddFixFacts(const Fixes& fixes, base::JsonObject& document);

// Appends the fixes for people to read; with `commands` also how each is made with kubectl.
void AppendFixTable(const Fixes& fixes, bool commands, std::string& out);

}  // namespace berth::explain
