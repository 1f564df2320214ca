// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "berth/api/pod.h"

// Selectors as kubectl writes them: "app=web,tier in (a,b),!old".
namespace berth::explain {

// "<none>" selects nothing, "<all>" everything.
std::string ToText(const std::optional<api::LabelSelector>& selector);
std::string ToText(const api::NodeSelectorRequirement& requirement);

}  // namespace berth::explain
