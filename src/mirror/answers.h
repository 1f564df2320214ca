// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "berth/config_value.h"
#include "src/mirror/mirror.h"
#include "src/mirror/questions.h"
#include "src/what_if/question.h"

// How questions are answered from a mirror. Documents are described in docs/explain.md; `spent` as
// Questions::How has it.
namespace berth::mirror {

inline constexpr size_t kMostPods = 1'000;

// Reads the document of a small question: {"pods": [manifests]}, at most kMostPods of them. Errors:
// as what_if::ParseQuestion.
Result<std::vector<std::shared_ptr<const api::Pod>>> ParsePods(const ConfigValue& document);

// Where each of the pods could go, judged alone, or why it fits nowhere. Code 400: a pod names a
// PriorityClass that no pod of the cluster has; 504: there was no time for all of them.
Reply JudgePods(const std::vector<std::shared_ptr<const api::Pod>>& pods, Mirror& mirror,
                const std::function<bool()>& spent);

enum class Form { kJson, kTable };

// What differs from today. The changes are made in a simulation of its own, which `cluster` makes.
// Code 400: what the question names is not there; 503: a simulation cannot be made; 504: there was
// no time.
Reply AnswerWhatIf(const what_if::Question& question, Form form, LiveCluster& cluster,
                   Mirror& mirror, const std::function<bool()>& spent);

}  // namespace berth::mirror
