// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "berth/api/node.h"
#include "berth/api/quantity.h"

// What would let an unschedulable pod schedule. src/fixes finds fixes and proves them; here is what
// they say.
namespace berth::explain {

// Changes of the pod.

// Less of a resource, over all its containers; both in what the pod asks for effectively.
struct LowerRequest {
  std::string resource;
  api::Quantity from;
  api::Quantity to;

  friend bool operator==(const LowerRequest&, const LowerRequest&) = default;
};
// A toleration for this taint.
struct Tolerate {
  api::Taint taint;

  friend bool operator==(const Tolerate&, const Tolerate&) = default;
};

// Changes of the cluster.

// One more node with the shape of this one, with copies of its DaemonSets' pods and of what says
// which volumes and devices it has.
struct AddNode {
  std::string like;

  friend bool operator==(const AddNode&, const AddNode&) = default;
};
// The node takes pods again.
struct Uncordon {
  std::string node;

  friend bool operator==(const Uncordon&, const Uncordon&) = default;
};

using Change = std::variant<LowerRequest, Tolerate, AddNode, Uncordon>;

// Changes that together let a pod schedule, none of which can be left out.
struct Fix {
  std::vector<Change> changes;
  int64_t cost = 0;
  // Where the pod can go then, by name.
  std::vector<std::string> nodes;
};

// The fixes that were found for one pod, the smallest first.
struct Fixes {
  std::vector<Fix> fixes;
  // How often a change was tried.
  size_t tried = 0;
  // The search ended at a bound on its count or time: there may be more fixes.
  bool cut_short = false;
};

// "LowerRequest", the name of the variant's type.
std::string_view ChangeName(const Change& change);

// What a change says to people: "request cpu 4 instead of 9".
std::string ToText(const Change& change);

// "key=value:effect", as kubectl writes it.
std::string ToText(const api::Taint& taint);

// Appends the list of a document's member `fixes` (docs/explain.md).
void AppendFixes(const std::vector<Fix>& fixes, std::string& out);

// Appends the fixes for people to read.
void AppendFixTable(const Fixes& fixes, std::string& out);

}  // namespace berth::explain
