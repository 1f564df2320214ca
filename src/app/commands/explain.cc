// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_join.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "src/app/commands/commands.h"
#include "src/app/commands/leader.h"
#include "src/app/commands/offline_cluster.h"
#include "src/app/commands/output.h"
#include "src/app/commands/server_error.h"
#include "src/app/commands/terminal.h"
#include "src/app/flags/offline_flags.h"
#include "src/base/clock.h"
#include "src/base/logging.h"
#include "src/base/text.h"
#include "src/documents/parse.h"
#include "src/explain/text_table.h"
#include "src/explain/verdict_json.h"
#include "src/explain/verdict_table.h"
#include "src/questions/fixes.h"
#include "src/questions/pending_pods.h"
#include "src/questions/pod_question.h"

namespace berth::app {
namespace {

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
  // `none` where there were none.
  std::string ToString(const std::string& none) {
    if (decisions_.empty()) return none;
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

std::string NonePending(const OfflineFlags& flags, const simulator::Simulation& simulation) {
  const size_t all = simulation.WaitingPods().size();
  if (flags.namespace_.empty() || all == 0) return "No pod is pending.\n";
  return "No pod of namespace " + flags.namespace_ + " is pending; " + std::to_string(all) +
         " elsewhere.\n";
}

// The pods to judge: all that wait and are shown, or the one that is named. Errors: it is not
// there.
Result<std::vector<std::string>> PodsToJudge(const OfflineFlags& flags,
                                             const simulator::Simulation& simulation) {
  if (flags.pod.empty()) return WaitingPods(flags, simulation);
  if (const auto pod = simulation.NamedPod(flags.pod); !pod) return Fail(pod.error());
  return std::vector<std::string>{flags.pod};
}

explain::TableLimits LimitsOf(const OfflineFlags& flags) {
  constexpr size_t kAll = SIZE_MAX;
  if (flags.output != OutputFormat::kWide) return {.commands = flags.commands};
  return {.best_nodes = kAll,
          .groups = kAll,
          .examples = kAll,
          .candidates = kAll,
          .victims = kAll,
          .group_pods = kAll,
          .commands = flags.commands};
}

// More pods than anyone reads one by one, and nothing is asked of each: alike ones together.
bool AreGrouped(const std::vector<std::string>& keys, const OfflineFlags& flags) {
  constexpr size_t kMostAlone = 20;
  return keys.size() > kMostAlone && flags.output == OutputFormat::kTable && !flags.fix &&
         !flags.preemption && !flags.claims;
}

void PrintGroups(const OfflineFlags& flags, simulator::Simulation& simulation) {
  const base::RealClock clock;
  Progress progress("Judging");
  questions::PendingPods pods(simulation, clock, flags.namespace_);
  while (!pods.complete()) pods.Judge(std::chrono::milliseconds(200));
  std::string text;
  pods.AppendTable(text);
  PrintTable(text + "\n-o wide judges each by itself, and so does a pod's name.\n",
             OutputFormat::kTable);
}

// Judges and prints one pod after the other. False: the last one waits, and fits nowhere.
bool JudgeAll(const std::vector<std::string>& keys, const OfflineFlags& flags,
              simulator::Simulation& simulation, Timings& timings) {
  const base::RealClock clock;
  const bool json = IsDocument(flags.output);
  const explain::TableLimits limits = LimitsOf(flags);
  const explain::VerdictWriter writer(simulation.scheduler().cache(), !flags.pod.empty());
  questions::PodQuestion question{
      .preemption = flags.preemption, .claims = flags.claims || !json, .clock = &clock};
  std::optional<questions::FixCache> cache;
  if (flags.fix) {
    cache.emplace(simulation, clock);
    question.find_fixes = [&cache](const auto& pod) { return cache->Find(pod); };
  }
  Progress progress("Judging");
  bool scheduled = true;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto answer = questions::Explain(simulation, keys[i], question);
    timings.Add(answer->decision, answer->reasons);
    scheduled = answer->scheduled();
    // It is often that of the next one, too.
    question.known_group = answer->group;
    std::string text;
    if (json) {
      writer.Append(*answer, text);
      PrintDocuments(text, flags.output);
    } else {
      explain::AppendTable(*answer, limits, text);
      PrintTable(text + '\n', flags.output);
    }
    if (isatty(STDOUT_FILENO) != 1) progress.Show(i + 1, keys.size());
  }
  return scheduled;
}

// What is asked of a daemon.
std::string PathOf(const OfflineFlags& flags) {
  std::vector<std::string> query;
  if (!flags.pod.empty()) query.push_back("pod=" + base::Escape(flags.pod));
  for (const auto& [name, asked] :
       {std::pair("preemption", flags.preemption), {"claims", flags.claims}, {"fix", flags.fix}}) {
    if (asked) query.push_back(std::string(name) + "=true");
  }
  if (!IsDocument(flags.output)) query.emplace_back("output=table");
  const std::string path = "/debug/explain";
  return query.empty() ? path : path + "?" + absl::StrJoin(query, "&");
}

// Whether the pod would get a node, as a daemon's answer about it says.
bool IsScheduled(const std::string& answer, const std::string& pod, bool json) {
  if (!json) {
    const std::string line = pod + ": scheduled";
    return answer.starts_with(line) || answer.find('\n' + line) != std::string::npos;
  }
  const auto document = documents::ParseJson(answer, "");
  if (!document) return false;
  const ConfigValue* const result = document->Find("result");
  const ConfigValue* const group = document->Find("podGroup");
  return result != nullptr && result->string() != nullptr && *result->string() == "scheduled" &&
         (group == nullptr || group->Find("holdsPod") == nullptr);
}

// Prints a daemon's answer. A line of its table names the result, as its documents do.
int PrintAnswer(const OfflineFlags& flags, const std::string& text) {
  Print(text, flags.output);
  if (flags.pod.empty()) return kDone;
  return IsScheduled(text, flags.pod, IsDocument(flags.output)) ? kDone : kNegative;
}

int ExplainByDaemon(const OfflineFlags& flags) {
  client::UserConfig user;
  if (!flags.kubeconfig.empty()) {
    auto server = FindLiveCluster(flags);
    if (!server) return FailWith(server.error().message);
    user = std::move(server->user);
  }
  const auto answer =
      AskDaemon(ServerOf(flags.daemon, std::move(user)), PathOf(flags), flags.request_timeout);
  if (!answer) return FailWith(InKubectlsWords(answer.error(), flags.daemon.url));
  return PrintAnswer(flags, answer->body);
}

// What the scheduler says that leads in the live cluster. nullopt: there is none, the pod does not
// wait for it, or it could not be asked, which standard error says: the pod is to be judged
// here. Errors: the API server cannot be asked at all.
Result<std::optional<int>> ExplainByLeader(const OfflineFlags& flags) {
  constexpr Duration kLongest = std::chrono::seconds(10);
  const Duration patience = flags.request_timeout > Duration::zero()
                                ? std::min(flags.request_timeout, kLongest)
                                : kLongest;
  auto server = FindLiveCluster(flags);
  if (!server) return Fail(server.error());
  const auto judged_here = [&flags](const std::string& whom, std::string_view why) {
    PrintNote("Judged here, as the scheduler" +
              (whom.empty() ? " that holds the lease " + flags.daemon.lease : " " + whom) +
              " could not be asked: " + std::string(why));
    return std::optional<int>();
  };
  const auto leader = FindLeader(*server, flags.daemon.lease, patience);
  if (!leader) {
    const client::ApiError& error = leader.error();
    if (error.code == 404) return std::nullopt;
    const std::string words = InKubectlsWords(error, server->cluster.server);
    if (error.code != 403 && IsFinal(error)) return Fail(words);
    return judged_here("", words);
  }
  const auto forward = PortForward::Open(*leader, {flags.kubeconfig, flags.context}, patience);
  if (!forward) return judged_here(leader->Key(), forward.error().message);
  const DaemonFlags daemon = DaemonBehind(**forward, flags.daemon);
  const auto answer =
      AskDaemon(ServerOf(daemon, std::move(server->user)), PathOf(flags), flags.request_timeout);
  if (answer) return std::optional(PrintAnswer(flags, answer->body));
  if (answer.error().code == 404) return std::nullopt;
  return judged_here(leader->Key(), InKubectlsWords(answer.error(), daemon.url));
}

int Explain(OfflineCommand command, const std::vector<std::string>& arguments,
            const std::string& program, const InTreePlugins& plugins) {
  const auto flags = BeginOffline(command, arguments, program);
  if (!flags) return flags.error();
  if (!flags->daemon.url.empty()) return ExplainByDaemon(*flags);
  const bool of_today = flags->run.config.empty() && flags->run.plugin_dirs.empty();
  if (command == OfflineCommand::kWhy && !flags->daemon.none && of_today) {
    const auto code = ExplainByLeader(*flags);
    if (!code) return FailWith(code.error().message);
    if (*code) return **code;
  }
  auto picture = MakePicture(*flags, plugins);
  if (!picture) return FailWith(picture.error().message);
  simulator::Simulation& simulation = *picture->simulation;
  const auto keys = PodsToJudge(*flags, simulation);
  if (!keys) return FailWith(keys.error().message);
  if (AreGrouped(*keys, *flags)) {
    PrintGroups(*flags, simulation);
    base::FlushLogs();
    return kDone;
  }
  Timings timings;
  const bool scheduled = JudgeAll(*keys, *flags, simulation, timings);
  const std::string summary = timings.ToString(NonePending(*flags, simulation));
  if (IsDocument(flags->output)) {
    std::fputs(summary.c_str(), stderr);
  } else {
    WriteOut(summary);
  }
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
