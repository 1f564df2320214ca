// SPDX-License-Identifier: Apache-2.0
#include "src/questions/answers.h"

#include <algorithm>
#include <utility>

#include "berth/field_errors.h"
#include "src/base/clock.h"
#include "src/base/json.h"
#include "src/documents/parse.h"
#include "src/explain/verdict_json.h"
#include "src/explain/verdict_table.h"
#include "src/questions/difference.h"
#include "src/questions/fixes.h"
#include "src/questions/pending_pods.h"
#include "src/questions/replicas.h"
#include "src/simulator/cluster_files.h"

namespace berth::questions {
namespace {

using base::JsonList;
using base::JsonObject;
using engine::Judgement;
using PodPtr = std::shared_ptr<const api::Pod>;

// Of the best nodes, which may be all of a large cluster.
constexpr size_t kMostNodes = 10;
constexpr std::string_view kNoTime = "there was no time to answer";

void AppendJudgement(const Judgement& judgement, std::string& out) {
  JsonObject pod(out);
  if (judgement.kind() == Judgement::Kind::kScheduled) {
    std::vector<std::string_view> best;
    for (const NodeRow row : judgement.Best()) {
      best.push_back(judgement.snapshot().node(row).metadata.name);
    }
    std::ranges::sort(best);
    const size_t count = best.size();
    best.resize(std::min(count, kMostNodes));
    base::AppendJsonList(best, pod.Key("best"));
    pod.Add("bestNodes", count);
  }
  if (!judgement.extenders_not_asked().empty()) {
    base::AppendJsonList(judgement.extenders_not_asked(), pod.Key("extendersNotAsked"));
  }
  if (judgement.kind() == Judgement::Kind::kScheduled) {
    pod.Add("feasibleNodes", judgement.feasible().size());
  }
  pod.AddIfNotEmpty("message", judgement.message());
  pod.Add("pod", judgement.pod().metadata.Key());
  if (judgement.profile() != nullptr) pod.Add("profile", judgement.pod().spec.scheduler_name);
  pod.Add("result", explain::ResultName(judgement.kind()));
}

Reply ExplainWaiting(const WhyQuestion& question,
                     const std::optional<explain::PodPosition>& position,
                     simulator::Simulation& picture, const std::function<bool()>& spent) {
  const auto pod = picture.scheduler().FindPendingPod(question.pod);
  if (pod == nullptr || !position) {
    const auto found = picture.FindPod(question.pod);
    const std::string node = found == nullptr ? "" : found->spec.node_name;
    if (node.empty()) return {404, "no pod " + question.pod + " waits for this scheduler"};
    return {404, question.pod + " is not pending: it is on node " + node};
  }
  PodQuestion asked = ToPodQuestion(question, position);
  const base::RealClock clock;
  if (question.fix) {
    asked.find_fixes = [&](const PodPtr& waiting) {
      return FindFixes(picture, waiting, clock, {.interrupted = spent});
    };
  }
  std::string text = ToText(Explain(picture.scheduler(), pod, asked), question.form);
  // A search for fixes that was cut short says so; a verdict is all or nothing.
  if (spent()) return {504, std::string(kNoTime)};
  return {200, std::move(text)};
}

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

std::string ToText(const explain::Explanation& explanation, Form form) {
  std::string text;
  if (form == Form::kJson) {
    explain::VerdictWriter(explanation.judgement->snapshot(), true).Append(explanation, text);
  } else {
    explain::AppendTable(explanation, {}, text);
  }
  return text;
}

PodQuestion ToPodQuestion(const WhyQuestion& question,
                          const std::optional<explain::PodPosition>& position) {
  return {.preemption = question.preemption,
          .claims = question.claims || question.form == Form::kTable,
          .effects = scheduler::Effects::kNone,
          .position = position};
}

Reply ExplainPod(const WhyQuestion& question, const std::optional<explain::PodPosition>& position,
                 Mirror& mirror, const std::function<bool()>& spent) {
  Reply reply;
  const auto explain = [&] {
    reply = ExplainWaiting(question, position, mirror.simulation(), spent);
  };
  if (position) {
    mirror.WithoutDecision(question.pod, explain);
  } else {
    explain();
  }
  return reply;
}

Reply ExplainAll(Form form, Mirror& mirror, const std::function<bool()>& spent) {
  constexpr Duration kBetweenLooks = std::chrono::milliseconds(20);
  const base::RealClock clock;
  PendingPods pods(mirror.simulation(), clock);
  while (!pods.complete() && !spent()) pods.Judge(kBetweenLooks);
  Reply reply;
  if (form == Form::kTable) {
    pods.AppendTable(reply.text);
  } else {
    pods.Append(reply.text);
    reply.text += '\n';
  }
  return reply;
}

Result<std::vector<PodPtr>> ParsePods(const ConfigValue& document) {
  FieldReader fields(document, "");
  const ConfigValue::List& values = fields.GetList("pods");
  if (values.size() > kMostPods) {
    fields.Problem("pods: Too many: must have at most " + std::to_string(kMostPods) + " items");
  }
  if (auto error = fields.Finish()) return Fail(*std::move(error));
  std::vector<PodPtr> pods;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto pod = simulator::ReadPod(values[i], "pods[" + std::to_string(i) + "]");
    if (!pod) return Fail(pod.error());
    pods.push_back(*pod);
  }
  return pods;
}

Reply JudgePods(const std::vector<PodPtr>& pods, Mirror& mirror,
                const std::function<bool()>& spent) {
  Reply reply;
  JsonObject document(reply.text);
  JsonList list(document.Key("pods"));
  Admission admission(mirror.simulation());
  for (size_t i = 0; i < pods.size(); ++i) {
    if (spent()) return {504, std::string(kNoTime)};
    const auto pod = admission.Admit(pods[i]);
    if (!pod) return {400, pod.error().Within("pods[" + std::to_string(i) + "]").message};
    const auto judgement = mirror.simulation().scheduler().Judge(*pod);
    if (judgement->kind() == Judgement::Kind::kUnschedulable) judgement->Explain();
    // What was cut off is no verdict.
    if (spent()) return {504, std::string(kNoTime)};
    AppendJudgement(*judgement, list.Next());
  }
  list.Close();
  const std::vector<std::string> warnings =
      MissingOf({pods.begin(), pods.end()}, {}, mirror.simulation());
  if (!warnings.empty()) base::AppendJsonList(warnings, document.Key("warnings"));
  document.Close();
  reply.text += '\n';
  return reply;
}

Reply AnswerWhatIf(const WhatIf& question, Form form, LiveCluster& cluster, Mirror& mirror,
                   const std::function<bool()>& spent) {
  if (!question.new_config.empty()) {
    return {400,
            "newConfig: Forbidden: a running scheduler answers with the configuration that it has; "
            "ask berth simulate or berth ui"};
  }
  auto made = cluster.MakeSimulation();
  if (!made) return {503, made.error().message};
  simulator::Simulation& simulation = **made;
  simulation.StartControllers();
  mirror.CopyTo(simulation);
  simulation.set_interrupt(spent);
  const auto answer = AskWhatIf(question, simulation);
  if (spent()) return {504, std::string(kNoTime)};
  if (!answer) return {400, answer.error().message};
  Reply reply;
  if (form == Form::kJson) {
    AppendAnswer(*answer, reply.text);
  } else {
    for (const std::string& warning : answer->warnings) reply.text += "Warning: " + warning + '\n';
    AppendAnswerTable(*answer, reply.text);
  }
  return reply;
}

Reply AnswerPlan(const PlanQuestion& question, Form form, LiveCluster& cluster, Mirror& mirror,
                 const std::function<bool()>& spent) {
  auto made = cluster.MakeSimulation();
  if (!made) return {503, made.error().message};
  simulator::Simulation& simulation = **made;
  const Time read = base::RealClock().WallNow();
  mirror.CopyTo(simulation);
  simulation.set_interrupt(spent);
  simulation.RunDue();
  auto plan = plan::FindPlan(question.goal, simulation, question.limits);
  // What was cut off is no plan.
  if (spent()) return {504, std::string(kNoTime)};
  if (!plan) return {400, plan.error().Within("goal").message};
  plan->made = read;
  Reply reply;
  if (form == Form::kJson) {
    plan::AppendJson(*plan, reply.text);
  } else {
    plan::AppendTable(*plan, reply.text);
  }
  return reply;
}

}  // namespace berth::questions
