// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "berth/api/node.h"
#include "berth/api/pod.h"
#include "berth/time.h"
#include "src/base/json.h"

// What a page shows of one object beside the map's columns.
//
// Thread safety: any thread.

namespace berth::ui {

// A list of whole numbers.
template <typename Numbers>
void AppendJsonNumbers(const Numbers& numbers, std::string& out) {
  base::JsonList list(out);
  for (const auto number : numbers) base::AppendJson(number, list.Next());
}

// Seconds since the epoch; 0: it is not known when the object was made.
int64_t CreatedAt(const std::optional<Time>& creation_timestamp);

// Appends {"conditions":[{"status":"True","type":"Ready"}],"created":1700000000,"labels":{...},
// "name":"n1","taints":[{"effect":...,"key":...,"value":...}]}.
void AppendNodeFacts(const api::Node& node, std::string& out);

// Appends {"created":...,"labels":{...},"selectors":{...}}. The selectors are what of the spec says
// where the pod may go, under the names and in the form of manifests, without what is only
// preferred: nodeSelector, nodeAffinity, podAffinity, podAntiAffinity, topologySpreadConstraints
// and tolerations, those that there are.
void AppendPodFacts(const api::Pod& pod, std::string& out);

}  // namespace berth::ui
