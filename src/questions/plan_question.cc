// SPDX-License-Identifier: Apache-2.0
#include "src/questions/plan_question.h"

#include <string>
#include <utility>

#include "berth/field_errors.h"
#include "src/documents/parse.h"
#include "src/questions/pod_question.h"

namespace berth::questions {
namespace {

using plan::Goal;

// The pod by a name that a person gives, which may leave out its namespace.
Result<Goal> GoalOfPod(std::string_view text, const std::string& pod_namespace) {
  auto name = ReadPodName(text);
  if (!name) return Fail(name.error());
  const size_t slash = name->find('/');
  if (slash == std::string::npos) {
    *name = (pod_namespace.empty() ? "default" : pod_namespace) + '/' + *name;
  } else if (!pod_namespace.empty() && name->substr(0, slash) != pod_namespace) {
    return Fail("the namespace is " + pod_namespace + ", and the pod's " + name->substr(0, slash));
  }
  return Goal{.kind = Goal::Kind::kFit, .name = *std::move(name)};
}

Result<Goal> ReadGoal(std::string_view text, const std::string& pod_namespace) {
  constexpr std::string_view kFit = "fit=";
  if (text.starts_with(kFit)) return GoalOfPod(text.substr(kFit.size()), pod_namespace);
  auto goal = Goal::Parse(text);
  if (!goal) return goal;
  if (goal->kind == Goal::Kind::kPending) goal->namespace_ = pod_namespace;
  if (goal->kind != Goal::Kind::kSkew) return goal;
  std::string& its = goal->workload.namespace_;
  if (!its.empty() && !pod_namespace.empty() && its != pod_namespace) {
    return Fail("the namespace is " + pod_namespace + ", and the workload's " + its);
  }
  if (its.empty()) its = pod_namespace.empty() ? "default" : pod_namespace;
  return goal;
}

}  // namespace

Result<PlanQuestion> ParsePlanQuestion(const ConfigValue& document) {
  FieldReader fields(document, "");
  PlanQuestion question;
  std::string text;
  std::string pod_namespace;
  fields.Read("namespace", pod_namespace);
  if (fields.Read("goal", text)) {
    auto goal = ReadGoal(text, pod_namespace);
    if (goal) {
      question.goal = *std::move(goal);
    } else {
      fields.Problem(goal.error().Within("goal").message);
    }
  } else if (fields.Get("goal") == nullptr) {
    fields.Problem(RequiredField("goal", "what the plan is for"));
  }
  fields.Read("evict", question.goal.evict);
  if (question.goal.evict && !question.goal.serves_pods()) {
    fields.Invalid("evict", "true", plan::kEvictsForPods);
  }
  int64_t judged = 0;
  if (fields.Read("mostJudged", judged)) {
    if (judged < 1) fields.Invalid("mostJudged", std::to_string(judged), "must be at least 1");
    question.limits.judged = static_cast<size_t>(judged);
  }
  if (auto error = fields.Finish()) return Fail(*std::move(error));
  return question;
}

Result<PlanQuestion> ParsePlanQuestion(std::string_view json) {
  const auto document = documents::ParseJson(json, "");
  if (!document) return Fail(document.error());
  return ParsePlanQuestion(*document);
}

}  // namespace berth::questions
