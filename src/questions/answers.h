// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/config_value.h"
#include "berth/result.h"
#include "src/explain/explanation.h"
#include "src/explain/pod_position.h"
#include "src/plan/plan.h"
#include "src/questions/desk.h"
#include "src/questions/mirror.h"
#include "src/questions/pod_question.h"
#include "src/questions/what_if.h"

// How questions are answered from a mirror. Documents are described in docs/explain.md; `spent` as
// Desk::How has it.
namespace berth::questions {

// A plan that is asked for by a document (docs/plan.md), not by flags.
struct PlanQuestion {
  plan::Goal goal;
  plan::Limits limits;
};

// Reads {"goal": "fit=shop/web-3"}; the goal as the command line takes it. Errors: all problems
// with the fields, unknown ones included; each with the field's path.
Result<PlanQuestion> ParsePlanQuestion(const ConfigValue& document);
Result<PlanQuestion> ParsePlanQuestion(std::string_view json);

inline constexpr size_t kMostPods = 1'000;

enum class Form { kJson, kTable };

// Reads the document of a small question: {"pods": [manifests]}, at most kMostPods of them. Errors:
// as ParseWhatIf.
Result<std::vector<std::shared_ptr<const api::Pod>>> ParsePods(const ConfigValue& document);

// Where each of the pods could go, judged alone, or why it fits nowhere. Code 400: a pod names a
// PriorityClass that no pod of the cluster has; 504: there was no time for all of them.
Reply JudgePods(const std::vector<std::shared_ptr<const api::Pod>>& pods, Mirror& mirror,
                const std::function<bool()>& spent);

// The document of an answer, or its table for people to read. The scheduler's cluster is as it was
// when the question was asked.
std::string ToText(const explain::Explanation& explanation, Form form);

// What is asked about a pod that waits.
struct WhyQuestion {
  std::string pod;  // namespace/name
  bool preemption = false;
  bool claims = false;
  bool fix = false;
  Form form = Form::kJson;
};

// The same, asked of the pod of a scheduler that runs or of its mirror; fixes are for the caller to
// find. `position` as ExplainPod() has it.
PodQuestion ToPodQuestion(const WhyQuestion& question,
                          const std::optional<explain::PodPosition>& position);

// Why the pod waits, judged alone. One that is decided, and waits for its bind, is judged as if it
// were not. `position` is where it stands with the scheduler that runs; nullopt: it is none of its
// pods. Code 404: it does not wait for this scheduler; 504: there was no time.
Reply ExplainPod(const WhyQuestion& question, const std::optional<explain::PodPosition>& position,
                 Mirror& mirror, const std::function<bool()>& spent);

// All pods that wait for a node, decided ones not among them, as PendingPods has them; those that
// there was time for.
Reply ExplainAll(Form form, Mirror& mirror, const std::function<bool()>& spent);

// What differs from today. The changes are made in a simulation of its own, which `cluster` makes.
// Code 400: what the question names is not there; 503: a simulation cannot be made; 504: there was
// no time.
Reply AnswerWhatIf(const WhatIf& question, Form form, LiveCluster& cluster, Mirror& mirror,
                   const std::function<bool()>& spent);

// The plan, as `berth plan` prints it: searched in a simulation of its own, which `cluster` makes.
// Code 400: what the goal names is not there; 503: a simulation cannot be made; 504: there was no
// time.
Reply AnswerPlan(const PlanQuestion& question, Form form, LiveCluster& cluster, Mirror& mirror,
                 const std::function<bool()>& spent);

}  // namespace berth::questions
