// SPDX-License-Identifier: Apache-2.0
#include "src/ui/pod_verdict.h"

#include <algorithm>

#include "src/base/json.h"
#include "src/engine/judgement.h"
#include "src/explain/in_the_way.h"
#include "src/explain/near_misses.h"
#include "src/explain/verdict_json.h"
#include "src/informers/kinds.h"
#include "src/questions/fixes.h"
#include "src/questions/pod_question.h"
#include "src/ui/object_facts.h"

namespace berth::ui {
namespace {

using base::JsonObject;

// Nodes named of a group.
constexpr size_t kExamples = 5;

void AppendNearMisses(const engine::Judgement& judgement, std::string& out) {
  base::JsonList list(out);
  explain::InTheWay in_the_way(judgement);
  for (const explain::RejectedGroup& group : explain::NearMisses(judgement)) {
    std::vector<std::string_view> examples;
    for (size_t i = 0; i < std::min(group.nodes.size(), kExamples); ++i) {
      examples.push_back(judgement.snapshot().node(group.nodes[i]).metadata.name);
    }
    JsonObject object(list.Next());
    object.Add("code", CodeName(group.code));
    base::AppendJsonList(examples, object.Key("examples"));
    object.AddIfNotEmpty("inTheWay", in_the_way.On(group.nodes.front()));
    object.Add("nodes", group.nodes.size());
    const explain::Rejection rejection = explain::RejectionOf(judgement, group);
    object.AddIfNotEmpty("plugin", rejection.plugins);
    base::AppendJsonList(rejection.reasons, object.Key("reasons"));
  }
}

}  // namespace

Result<std::string> PodVerdict(simulator::Simulation& simulation, std::string_view key) {
  const auto named = simulation.NamedPod(key);
  if (!named) return Fail(named.error());
  const auto& pod = *named;
  std::string out;
  JsonObject document(out);
  AppendPodFacts(*pod, document.Key("facts"));
  const auto explanation =
      questions::Explain(simulation, std::string(key), {.preemption = true, .claims = true});
  AppendNearMisses(*explanation->judgement, document.Key("nearMisses"));
  if (explanation->placed != nullptr) document.Add("node", pod->spec.node_name);
  document.Add("pod", key);
  const explain::VerdictWriter writer(simulation.scheduler().cache());
  writer.Append(*explanation, document.Key("verdict"));
  document.Close();
  if (explanation->placed != nullptr) {
    // Other questions find it on its node again.
    simulation.Delete(informers::Kind::kPod, key);
    simulation.Apply(pod);
    simulation.RunDue();
  }
  return out;
}

Result<std::string> PodFixes(simulator::Simulation& simulation, std::string_view key,
                             const Clock& clock, const std::function<bool()>& interrupted) {
  const auto named = simulation.NamedPod(key);
  if (!named) return Fail(named.error());
  const auto& pod = *named;
  std::string out;
  JsonObject document(out);
  explain::Fixes fixes;
  if (simulation.IsWaiting(*pod)) {
    const auto find = [&](const std::shared_ptr<const api::Pod>& waiting) {
      return questions::FindFixes(simulation, waiting, clock, {.interrupted = interrupted});
    };
    auto explanation = questions::Explain(simulation.scheduler(), pod, {.find_fixes = find});
    if (explanation.fixes) fixes = *std::move(explanation.fixes);
  }
  base::JsonList list(document.Key("fixes"));
  for (const explain::Fix& fix : fixes.fixes) {
    JsonObject object(list.Next());
    std::vector<std::string> texts;
    for (const explain::Change& change : fix.changes) texts.push_back(explain::ToText(change));
    base::AppendJsonList(texts, object.Key("changes"));
    std::vector<std::string> commands;
    for (const explain::Application& application : fix.applications) {
      commands.insert(commands.end(), application.commands.begin(), application.commands.end());
    }
    base::AppendJsonList(commands, object.Key("commands"));
    object.Add("cost", fix.cost);
    base::AppendJsonList(fix.nodes, object.Key("nodes"));
  }
  list.Close();
  explain::AddFixFacts(fixes, document);
  document.Add("tried", fixes.tried);
  document.Close();
  return out;
}

}  // namespace berth::ui
