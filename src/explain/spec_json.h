// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "berth/api/node.h"
#include "berth/api/pod.h"

// Parts of a pod's spec as JSON, as manifests have them. Each function appends one value.
//
// Thread safety: any thread.
namespace berth::explain {

void AppendStringMap(const api::StringMap& map, std::string& out);
void AppendRequirement(const api::NodeSelectorRequirement& requirement, std::string& out);
// Without the requirements of labels in `without`, which the API server adds where a manifest has
// matchLabelKeys or mismatchLabelKeys.
void AppendSelector(const api::LabelSelector& selector, std::span<const std::string> without,
                    std::string& out);
void AppendTerms(const api::NodeSelector& selector, std::string& out);
void AppendTerm(const api::PodAffinityTerm& term, std::string& out);
void AppendConstraint(const api::TopologySpreadConstraint& constraint, std::string& out);
void AppendToleration(const api::Toleration& toleration, std::string& out);
void AppendTaintValue(const api::Taint& taint, std::string& out);

}  // namespace berth::explain
