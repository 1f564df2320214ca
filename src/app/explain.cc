// SPDX-License-Identifier: Apache-2.0
#include "src/app/explain.h"

#include <absl/strings/str_join.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "berth/in_tree/pod_groups.h"
#include "src/app/offline_cluster.h"
#include "src/app/offline_flags.h"
#include "src/app/progress.h"
#include "src/base/clock.h"
#include "src/base/logging.h"
#include "src/base/text.h"
#include "src/explain/fix.h"
#include "src/explain/pod_group_table.h"
#include "src/explain/text_table.h"
#include "src/explain/verdict_json.h"
#include "src/explain/verdict_table.h"
#include "src/fixes/find.h"

namespace berth::app {
namespace {

using engine::Judgement;

std::string Micros(Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(time).count()) +
         " us";
}

// "Decided in 41 us, reasons in 812 us."
class Timings {
 public:
  void Add(Duration decision, Duration reasons) {
    decisions_.push_back(decision);
    reasons_ += reasons;
  }
  std::string ToString() {
    if (decisions_.empty()) return "No pod is pending.\n";
    if (decisions_.size() == 1) {
      return "Decided in " + Micros(decisions_.front()) + ", reasons in " + Micros(reasons_) +
             ".\n";
    }
    std::sort(decisions_.begin(), decisions_.end());
    return explain::Counted(decisions_.size(), "pod") + ", each decided in " +
           Micros(decisions_[decisions_.size() / 2]) + " (median) to " + Micros(decisions_.back()) +
           "; reasons in " + Micros(reasons_) + " altogether.\n";
  }

 private:
  std::vector<Duration> decisions_;
  Duration reasons_{};
};

// The pods to judge: all pending ones, or the one that is named. Errors: it is not pending.
Result<std::vector<std::string>> PodsToJudge(const OfflineFlags& flags,
                                             const simulator::Simulation& simulation) {
  if (flags.pod.empty()) return PendingPods(simulation);
  const auto pod = simulation.FindPod(flags.pod);
  if (pod == nullptr) return Fail("--pod: the cluster has no pod " + flags.pod);
  if (!pod->spec.node_name.empty()) {
    return Fail("--pod: " + flags.pod + " is not pending: it is on node " + pod->spec.node_name);
  }
  return std::vector<std::string>{flags.pod};
}

// Judges and prints one pod after the other. False: the last one fits nowhere.
bool JudgeAll(const std::vector<std::string>& keys, const OfflineFlags& flags,
              simulator::Simulation& simulation, Timings& timings) {
  const base::RealClock clock;
  const bool json = flags.output == OutputFormat::kJson;
  const explain::VerdictWriter writer(simulation.scheduler().cache());
  Progress progress("Judging");
  constexpr size_t kMostPods = 20;
  bool scheduled = true;
  std::string text;
  // The group of the pod before, as often it is that of the next one, too.
  std::optional<engine::PodGroupPreview> group;
  // The same of the fixes.
  explain::Fixes fixes;
  std::shared_ptr<const api::Pod> before;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto pod = simulation.FindPod(keys[i]);
    // Before the judgement, which is good only while nothing changes.
    if (flags.fix && (i == 0 || !fixes::HaveSameFixes(*before, *pod))) {
      fixes = fixes::FindFixes(simulation, pod, clock);
      group.reset();
    }
    before = pod;
    const Time began = clock.Now();
    const std::unique_ptr<Judgement> judgement = simulation.scheduler().Judge(pod);
    const Time decided = clock.Now();
    judgement->Explain();
    if (flags.preemption) judgement->PreviewPreemption();
    if (flags.claims || !json) judgement->PreviewClaims();
    const std::string* name = PodGroupNameOf(*pod);
    if (name == nullptr) {
      group.reset();
    } else if (!group || group->pod_group != api::NamespacedKey(pod->metadata.namespace_, *name)) {
      group = simulation.scheduler().PreviewPodGroup(*pod, scheduler::Effects::kOnClaims);
    }
    timings.Add(decided - began, clock.Now() - decided);
    const bool fixable = flags.fix && judgement->kind() == Judgement::Kind::kUnschedulable;
    scheduled = judgement->kind() == Judgement::Kind::kScheduled;
    if (json) {
      writer.Append(*judgement, text, group ? &*group : nullptr, fixable ? &fixes : nullptr);
    } else {
      explain::AppendTable(*judgement, {}, text);
      if (group) explain::AppendPodGroupTable(*group, kMostPods, text);
      if (fixable) explain::AppendFixTable(fixes, text);
      text += '\n';
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    text.clear();
    if (isatty(STDOUT_FILENO) != 1) progress.Show(i + 1, keys.size());
  }
  return scheduled;
}

// What the daemon says. The first line of its table names the result, as its documents do.
int ExplainByDaemon(const OfflineFlags& flags) {
  client::UserConfig user;
  if (!flags.kubeconfig.empty()) {
    auto server =
        client::LoadKubeconfig({.path = flags.kubeconfig, .context = flags.context, .master = ""});
    if (!server) return FailWith(server.error().message);
    user = std::move(server->user);
  }
  const bool json = flags.output == OutputFormat::kJson;
  std::vector<std::string> query;
  if (!flags.pod.empty()) query.push_back("pod=" + base::Escape(flags.pod));
  for (const auto& [name, asked] :
       {std::pair("preemption", flags.preemption), {"claims", flags.claims}, {"fix", flags.fix}}) {
    if (asked) query.push_back(std::string(name) + "=true");
  }
  if (!json) query.emplace_back("output=table");
  std::string path = "/debug/explain";
  if (!query.empty()) path += "?" + absl::StrJoin(query, "&");
  const auto answer = AskDaemon(ServerOf(flags.daemon, std::move(user)), path);
  if (!answer) return FailWith(Error{answer.error().ToString()}.Within(flags.daemon.url).message);
  std::fwrite(answer->body.data(), 1, answer->body.size(), stdout);
  if (flags.pod.empty()) return kDone;
  const std::string_view text = answer->body;
  const bool scheduled = json ? text.find(R"("result":"scheduled"})") != std::string_view::npos
                              : text.starts_with(flags.pod + ": scheduled");
  return scheduled ? kDone : kNegative;
}

int Explain(OfflineCommand command, const std::vector<std::string>& arguments,
            const std::string& program, const InTreePlugins& plugins) {
  const auto flags = BeginOffline(command, arguments, program);
  if (!flags) return flags.error();
  if (!flags->daemon.url.empty()) return ExplainByDaemon(*flags);
  auto picture = MakePicture(*flags, plugins);
  if (!picture) return FailWith(picture.error().message);
  simulator::Simulation& simulation = *picture->simulation;
  const auto keys = PodsToJudge(*flags, simulation);
  if (!keys) return FailWith(keys.error().message);
  Timings timings;
  const bool scheduled = JudgeAll(*keys, *flags, simulation, timings);
  std::fputs(timings.ToString().c_str(), flags->output == OutputFormat::kJson ? stderr : stdout);
  base::FlushLogs();
  return flags->pod.empty() || scheduled ? kDone : kNegative;
}

}  // namespace

int Explain(const std::vector<std::string>& arguments, const std::string& program,
            const InTreePlugins& plugins) {
  return Explain(OfflineCommand::kExplain, arguments, program, plugins);
}

int Why(const std::vector<std::string>& arguments, const std::string& program,
        const InTreePlugins& plugins) {
  return Explain(OfflineCommand::kWhy, arguments, program, plugins);
}

}  // namespace berth::app
