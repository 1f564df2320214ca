// SPDX-License-Identifier: Apache-2.0
#include "src/app/flags/offline_flags.h"

#include <absl/strings/str_split.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "src/app/commands/server_error.h"
#include "src/base/logging.h"
#include "src/questions/pod_question.h"
#include "src/questions/what_if.h"
#include "src/simulator/workload.h"

namespace berth::app {
namespace {

std::string_view DescriptionOf(OfflineCommand command) {
  switch (command) {
    case OfflineCommand::kSimulate:
      return "Schedules the pending pods of a cluster dump, as the daemon would, in memory. Prints "
             "each decision (-o json) or who went where and who was left (-o table).";
    case OfflineCommand::kExplain:
      return "Judges each pending pod, or the one that is named, alone against the cluster as it "
             "is: why each node was rejected, and how the others score. Changes nothing.";
    case OfflineCommand::kPacking:
      return "Tells how full the node pools of a cluster are, what of their free resources no pod "
             "can use, and what still fits. Changes nothing.";
    case OfflineCommand::kPlan:
      return "Searches few moves of pods that make room for a pending pod, empty a node, spread "
             "the pods of a workload or make use of what is stranded. Prints them in order; each "
             "state on the way is one that the scheduler allows. Changes nothing without --apply, "
             "which carries out a plan that was kept.";
    case OfflineCommand::kWhy:
      return "Why a pending pod is not scheduled, or where it could go; of a pod on a node, how "
             "that node and the others score. Asks the scheduler that runs in the live cluster, or "
             "judges the pod here where there is none. Changes nothing.";
    case OfflineCommand::kDump:
      return "Prints what scheduling reads of the live cluster, as one list for --cluster: all "
             "kinds in one step, without the environment of containers, Secrets or ConfigMaps.";
    case OfflineCommand::kUi:
      break;
  }
  return "Shows a cluster in a browser: prints the address of a page that this machine alone is "
         "served, to those alone who know the address, until it is interrupted. Changes nothing.";
}

// Where kubectl looks for its own.
std::vector<std::string> DefaultKubeconfigs() {
  const char* listed = std::getenv("KUBECONFIG");
  if (listed != nullptr && *listed != '\0') return absl::StrSplit(listed, ':', absl::SkipEmpty());
  const char* home = std::getenv("HOME");
  if (home == nullptr) return {};
  return {std::string(home) + "/.kube/config"};
}

// The namespace of a pod that is named without one.
Result<std::string> NamespaceOf(const OfflineFlags& flags) {
  if (!flags.namespace_.empty()) return flags.namespace_;
  if (!flags.live() || (!flags.daemon.url.empty() && flags.kubeconfig.empty())) return "default";
  const auto server = FindLiveCluster(flags);
  if (!server) return Fail(server.error());
  return server->default_namespace.empty() ? "default" : server->default_namespace;
}

// "web", "pod/web" or "shop/web".
Result<void> SetPod(const std::string& value, OfflineFlags& out) {
  auto name = questions::ReadPodName(value);
  if (!name) return Fail(name.error());
  out.pod = *std::move(name);
  return {};
}

// That the pod's namespace is clear, and what the others say of it.
Result<void> CompletePod(OfflineFlags& out) {
  if (out.all_namespaces && !out.namespace_.empty()) {
    return Fail("--namespace and --all-namespaces exclude each other");
  }
  if (out.pod.empty()) return {};
  const size_t slash = out.pod.find('/');
  if (slash != std::string::npos) {
    const std::string pod_namespace = out.pod.substr(0, slash);
    if (out.Shows(pod_namespace)) return {};
    return Fail("--namespace is " + out.namespace_ + ", and the pod's " + pod_namespace);
  }
  if (out.all_namespaces) return Fail("a pod is not found by name across all namespaces");
  const auto pod_namespace = NamespaceOf(out);
  if (!pod_namespace) return Fail(pod_namespace.error());
  out.pod = *pod_namespace + "/" + out.pod;
  return {};
}

// As client-go reads it: a number without a unit counts seconds.
Result<Duration> ReadRequestTimeout(const std::string& value) {
  const auto seconds = ReadFlagValue<uint64_t>(value);
  const auto time = seconds ? ReadFlagValue<Duration>(value + "s") : ReadFlagValue<Duration>(value);
  if (!time || *time < Duration::zero()) return Fail(std::string(ValueRule<Duration>()));
  return *time;
}

void AddServer(FlagSet& flags, OfflineFlags& out) {
  flags.AddAnyText(
      "kubeconfig", "FILE",
      "The live cluster; without it KUBECONFIG (several files, too), ~/.kube/config or "
      "the service account say which, as to kubectl.",
      out.kubeconfig);
  flags.AddText("context", "NAME", "The context of the kubeconfig (its current one).", out.context);
  flags.AddRead("request-timeout", "TIME",
                "How long to wait for the API server, such as 10s (1m); 0: without end.",
                ReadRequestTimeout, out.request_timeout);
}

void AddNamespace(OfflineCommand command, FlagSet& flags, OfflineFlags& out) {
  const bool one_pod = command == OfflineCommand::kWhy || command == OfflineCommand::kPlan;
  const char* meaning = "Shows pods of this namespace alone; all count.";
  if (one_pod) meaning = "The pod's namespace (that of the context, else default).";
  if (command == OfflineCommand::kPlan) {
    meaning =
        "The namespace of the goal's pod or workload (that of the context, else default); of the "
        "goal pending: only pods of this namespace.";
  }
  if (command == OfflineCommand::kSimulate) {
    meaning =
        "Shows pods of this namespace alone; all count. What --add, --fill and --scale name "
        "without a namespace is in it.";
  } else if (command == OfflineCommand::kUi) {
    meaning = "Shows pods of this namespace alone at first; all count.";
  } else if (command == OfflineCommand::kPacking) {
    meaning = "Also shows what the pods of this namespace request; all count.";
  }
  flags.AddText("namespace", "NAME", meaning, out.namespace_);
  flags.Value("all-namespaces",
              one_pod ? "Only with a pod that is named with its namespace."
                      : "Shows pods of all namespaces, as without --namespace.",
              out.all_namespaces);
}

void AddCluster(OfflineCommand command, FlagSet& flags, OfflineFlags& out) {
  flags.Group("Cluster flags");
  if (command != OfflineCommand::kWhy) {
    flags.Add("cluster", "FILE",
              "A dump: what `berth dump` printed, or `kubectl get nodes,pods,... -A -o json` (or "
              "yaml); a folder of them; - for the standard input; several with commas, and may be "
              "repeated.",
              [&out](const std::string& value) -> Result<void> {
                out.clusters.push_back(value);
                return {};
              });
  }
  AddServer(flags, out);
  if (command == OfflineCommand::kUi) {
    flags.AddAnyText(
        "recording", "PATH",
        "Shows a recording, a folder or a file, of `berth run --record` instead: the last one "
        "there, with a slider over its decisions.",
        out.recording);
  }
  const bool judges = command == OfflineCommand::kExplain || command == OfflineCommand::kWhy;
  if (command != OfflineCommand::kDump) AddNamespace(command, flags, out);
  if (!judges) return;
  if (command == OfflineCommand::kExplain) {
    flags.Add("pod", "[NAMESPACE/]NAME",
              "Only this pod; the exit code is 1 when it is pending and fits nowhere.",
              [&out](const std::string& value) -> Result<void> { return SetPod(value, out); });
  }
  flags.Value("preemption",
              "Also tells of each unschedulable pod which evictions would make room for it.",
              out.preemption);
  flags.Value("fix",
              "Also tells of each unschedulable pod the smallest changes, of the pod or of the "
              "cluster, that would let it schedule; each was tried.",
              out.fix);
  flags.Value("commands", "With --fix: also the commands of kubectl that make the changes.",
              out.commands);
  flags.Value("claims", "Also in documents (-o json): how each claim of a pod fares on each node.",
              out.claims);
}

Result<void> SetGoal(const std::string& value, OfflineFlags& out) {
  constexpr std::string_view kFit = "fit=";
  if (value.starts_with(kFit)) {
    out.goal = plan::Goal{.kind = plan::Goal::Kind::kFit};
    return SetPod(value.substr(kFit.size()), out);
  }
  auto goal = plan::Goal::Parse(value);
  if (!goal) return Fail(goal.error());
  out.goal = std::move(*goal);
  return {};
}

// That the namespace of what the goal names is clear.
Result<void> CompleteGoal(OfflineFlags& out) {
  if (!out.goal) return {};
  if (out.goal->kind == plan::Goal::Kind::kFit) out.goal->name = out.pod;
  if (out.goal->kind != plan::Goal::Kind::kSkew) return {};
  std::string& its = out.goal->workload.namespace_;
  if (!its.empty()) {
    if (out.Shows(its)) return {};
    return Fail("--namespace is " + out.namespace_ + ", and the workload's " + its);
  }
  if (out.all_namespaces) return Fail("a workload is not found by name across all namespaces");
  auto found = NamespaceOf(out);
  if (!found) return Fail(found.error());
  its = *std::move(found);
  return {};
}

void AddGoal(FlagSet& flags, OfflineFlags& out) {
  flags.Group("Plan flags");
  flags.Add(
      "goal", "GOAL",
      "fit=POD: the pending pod, NAME, pod/NAME or NAMESPACE/NAME, has a node; pending[=PRIORITY]: "
      "so have all of at least that priority; empty=NODE: the node has no pod but those of "
      "DaemonSets and of its kubelet; skew=[NAMESPACE/]KIND/NAME:MAX[@KEY]: the numbers of the "
      "workload's pods, such as deploy/web's, in the domains of the label KEY "
      "(topology.kubernetes.io/zone) differ by at most MAX; stranded=RESOURCE:AMOUNT: less than "
      "that of the resource is stranded.",
      [&out](const std::string& value) { return SetGoal(value, out); });
  flags.Add("min-gain", "QUANTITY",
            "Refuses a plan whose moves gain less each: pods with nodes, emptied nodes, pods of "
            "skew, or cores, bytes or pieces that are not stranded any more. The exit code is 1 "
            "then.",
            [&out](const std::string& value) -> Result<void> {
              auto gain = api::Quantity::Parse(value);
              if (!gain || *gain < api::Quantity()) return Fail("must be a quantity from 0");
              out.min_gain = *gain;
              return {};
            });
  flags.Value("evict",
              "With fit and pending: where moves are not enough, pods of lower priority may be "
              "evicted for good, and wait then; within their budgets, as few of the highest "
              "priority as possible.",
              out.evict);
  flags.Value("most-judged",
              "How many steps the search may take: each judgement of a pod is one, and so are four "
              "changes between two of them. A larger number may find a shorter plan (28000).",
              out.plan_limits.judged);
  flags.AddText("apply", "FILE",
                "Carries out the plan that `-o yaml` wrote of the same live cluster: evicts its "
                "pods, wave by wave, each time judged again. Repeated, it goes on where it stood.",
                out.apply);
  flags.AddText("progress", "FILE",
                "With --apply: where it keeps how far it is (the plan's name with .progress).",
                out.progress);
  flags.Value("dry-run", "With --apply: says what it would do, and does nothing.", out.dry_run);
  flags.Add("eviction", "subresource|request",
            "With --apply: by what pods are evicted: the Eviction subresource, or an "
            "EvictionRequest (lifecycle.k8s.io/v1alpha1, where the API server has it), which "
            "others carry out (subresource).",
            [&out](const std::string& value) -> Result<void> {
              if (value != "subresource" && value != "request") {
                return Fail("must be subresource or request");
              }
              const bool by_request = value == "request";
              out.evict_by = by_request ? plan::EvictBy::kRequest : plan::EvictBy::kSubresource;
              return {};
            });
  flags.Value("wait-timeout",
              "With --apply: how long to wait for a budget, or for a pod's successor to have a "
              "node and be ready, before it stops (10m).",
              out.wait_timeout);
  flags.Value("max-age", "With --apply: how old the plan may be (1h); 0: as old as it is.",
              out.max_age);
}

// That a plan is either searched or carried out, and its times are some.
Result<void> CheckPlan(const OfflineFlags& flags) {
  for (const auto& [name, time] :
       {std::pair("--wait-timeout", flags.wait_timeout), {"--max-age", flags.max_age}}) {
    if (time < Duration::zero()) return Fail(std::string(name) + ": must not be negative");
  }
  if (flags.apply.empty()) {
    if (flags.dry_run || !flags.progress.empty()) {
      return Fail("--dry-run and --progress go with --apply");
    }
    if (flags.evict_by != plan::EvictBy::kSubresource) return Fail("--eviction goes with --apply");
    if (!flags.goal) return Fail("which goal? Name it with --goal");
    if (flags.evict && !flags.goal->serves_pods()) {
      return Fail("--evict: " + std::string(plan::kEvictsForPods));
    }
    return {};
  }
  if (flags.goal) return Fail("--apply and --goal exclude each other: the plan has its goal");
  if (flags.min_gain) return Fail("--min-gain goes with --goal");
  if (flags.evict) return Fail("--evict goes with --goal: the plan says what it evicts");
  if (!flags.live()) return Fail("--apply and --cluster exclude each other: a dump has no pods");
  return {};
}

void AddScheduling(OfflineCommand command, FlagSet& flags, OfflineFlags& out) {
  flags.Group("Scheduling flags");
  if (command == OfflineCommand::kDump) {
    AddPluginDir(flags, out.run, "The kinds that these ask for are in the dump, too.");
    return AddFeatureGates(flags, out.run.feature_gates);
  }
  flags.AddAnyText(
      "config", "FILE",
      "The configuration file (KubeSchedulerConfiguration v1); without it, of a live cluster that "
      "of the Berth in it, where there is one, and kube-scheduler's default.",
      out.run.config);
  AddPluginDir(flags, out.run);
  AddFeatureGates(flags, out.run.feature_gates);
  flags.Value("seed", "Seed of the draws between equal nodes (1).", out.seed);
  if (command == OfflineCommand::kSimulate) AddRecord(flags, out.run);
}

void AddOutput(OfflineCommand command, FlagSet& flags, OfflineFlags& out, bool& help) {
  flags.Group("Output flags");
  if (command == OfflineCommand::kUi) {
    flags.Add("port", "NUMBER", "The port of 127.0.0.1 to serve the page on (0: any free one).",
              [&out](const std::string& value) -> Result<void> {
                const auto port = ReadFlagValue<int32_t>(value);
                if (!port) return Fail(std::string(ValueRule<int32_t>()));
                if (*port < 0 || *port > 65535) return Fail("must be between 0 and 65535");
                out.port = *port;
                return {};
              });
  } else if (command == OfflineCommand::kDump) {
    out.output = OutputFormat::kJson;
    AddDocumentFormat(flags, out.output);
  } else {
    AddOutputFormat(flags, out.output);
  }
  AddQuietVerbosity(flags, out.run);
  flags.Value("help", "Print this text.", help);
}

// That one flag at most reads the standard input.
Result<void> CheckStandardInput(const OfflineFlags& flags) {
  const WhatIfFlags& what_if = flags.what_if;
  const std::pair<const char*, std::vector<std::string>> readers[] = {
      {"--cluster", flags.clusters}, {"--add", what_if.add}, {"--fill", {what_if.fill}}};
  std::string_view first;
  for (const auto& [name, files] : readers) {
    const bool reads = std::ranges::any_of(files, [](const std::string& list) {
      const std::vector<std::string> one_by_one = absl::StrSplit(list, ',');
      return std::ranges::find(one_by_one, "-") != one_by_one.end();
    });
    if (!reads) continue;
    if (!first.empty()) {
      return Fail("the standard input (-) can be read once only, and " + std::string(first) +
                  " and " + name + " both name it");
    }
    first = name;
  }
  return {};
}

// That one cluster is meant, or the daemon of one.
Result<void> CheckCluster(OfflineCommand command, const OfflineFlags& flags) {
  if (flags.commands && !flags.fix) {
    return Fail("--commands goes with --fix: the commands are those that make its changes");
  }
  if (auto checked = CheckDaemon(flags.daemon); !checked) return checked;
  if (!flags.daemon.url.empty()) {
    if (!flags.clusters.empty()) return Fail("--cluster and --daemon exclude each other");
    if (flags.commands) {
      return Fail("--daemon: --commands is for clusters that are read; use -o json");
    }
    if (flags.pod.empty() && (flags.fix || flags.preemption || flags.claims)) {
      return Fail("--daemon: --fix, --preemption and --claims of which pod? Name it with --pod");
    }
    return {};
  }
  const bool server = !flags.kubeconfig.empty() || !flags.context.empty();
  const int named =
      (flags.clusters.empty() ? 0 : 1) + (server ? 1 : 0) + (flags.recording.empty() ? 0 : 1);
  if (named < 2) return {};
  if (command == OfflineCommand::kUi) {
    return Fail("--cluster, --kubeconfig and --recording exclude each other");
  }
  return Fail("--cluster and --" +
              std::string(flags.kubeconfig.empty() ? "context" : "kubeconfig") +
              " exclude each other");
}

void AddTexts(FlagSet& flags, const std::string& name, const std::string& form,
              const std::string& help, std::vector<std::string>& out) {
  flags.Add(name, form, help, [&out](const std::string& value) -> Result<void> {
    if (value.empty()) return Fail("must not be empty");
    out.push_back(value);
    return {};
  });
}

// Names of nodes, which have no commas; one that stands twice counts once.
void AddNames(FlagSet& flags, const std::string& name, const std::string& form,
              const std::string& help, std::vector<std::string>& out) {
  flags.Add(name, form, help, [&out](const std::string& value) -> Result<void> {
    for (size_t begin = 0; begin <= value.size();) {
      const size_t end = std::min(value.find(',', begin), value.size());
      std::string node(simulator::NodeNameIn(std::string_view(value).substr(begin, end - begin)));
      if (node.empty()) return Fail("must not be empty");
      if (std::ranges::find(out, node) == out.end()) out.push_back(std::move(node));
      begin = end + 1;
    }
    return {};
  });
}

}  // namespace

bool WhatIfFlags::any() const {
  return !new_config.empty() || !add.empty() || add_nodes > 0 || !remove_nodes.empty() ||
         !scale.empty() || !cordon.empty() || !drain.empty() || reschedule || !fill.empty();
}

void AddWhatIf(FlagSet& flags, WhatIfFlags& out) {
  flags.Group("What-if flags: the answer is what differs from today");
  flags.AddText("new-config", "FILE", "With this configuration in the place of --config.",
                out.new_config);
  AddTexts(
      flags, "add", "FILE",
      "With the objects of this file or folder, or of the standard input (-); may be repeated.",
      out.add);
  flags.Value("add-nodes", "With so many more nodes of the shape that --like names.",
              out.add_nodes);
  flags.Add("like", "NODE", "The node that those of --add-nodes are like.",
            [&out](const std::string& value) -> Result<void> {
              out.like = simulator::NodeNameIn(value);
              return {};
            });
  AddNames(flags, "remove-node", "NODE,...", "Without these nodes; may be repeated.",
           out.remove_nodes);
  AddNames(flags, "cordon", "NODE,...",
           "With these nodes cordoned before anything else: their pods stay, and others go "
           "elsewhere; may be repeated.",
           out.cordon);
  flags.Add("scale", "[NAMESPACE/]KIND/NAME=N",
            "With so many pods of this controller, such as deploy/web=5; may be repeated.",
            [&out](const std::string& value) -> Result<void> {
              auto scale = questions::Scale::Parse(value);
              if (!scale) return Fail(scale.error());
              out.scale.push_back(*std::move(scale));
              return {};
            });
  AddNames(flags, "drain", "NODE,...",
           "After drains of these nodes, one after the other; may be repeated. The exit code is 1 "
           "when a pod stays or fits nowhere.",
           out.drain);
  flags.Value(
      "reschedule",
      "With all pods that controllers make again scheduled from nothing; with --new-config, "
      "by both configurations.",
      out.reschedule);
  flags.AddText("fill", "FILE", "How many more pods like the one in this file fit.", out.fill);
}

Result<void> CheckWhatIf(const WhatIfFlags& flags) {
  if (flags.add_nodes > 0 && flags.like.empty())
    return Fail("--add-nodes: like which? Name a node with --like");
  if (flags.add_nodes == 0 && !flags.like.empty()) return Fail("--like goes with --add-nodes");
  if (flags.add_nodes > questions::kMostNewNodes) {
    return Fail("--add-nodes: at most " + std::to_string(questions::kMostNewNodes));
  }
  return {};
}

Result<OfflineFlags> ParseOfflineFlags(OfflineCommand command,
                                       const std::vector<std::string>& arguments,
                                       const std::string& program) {
  const bool takes_pod = command == OfflineCommand::kWhy || command == OfflineCommand::kExplain;
  const char* argument = command == OfflineCommand::kWhy ? " POD" : takes_pod ? " [POD]" : "";
  FlagSet flags(program + argument, std::string(DescriptionOf(command)), FlagSet::Words::kOwn);
  OfflineFlags out;
  out.all_kinds = command == OfflineCommand::kDump;
  bool help = false;
  AddCluster(command, flags, out);
  AddScheduling(command, flags, out);
  if (command == OfflineCommand::kSimulate) AddWhatIf(flags, out.what_if);
  if (command == OfflineCommand::kPlan) AddGoal(flags, out);
  if (command == OfflineCommand::kExplain || command == OfflineCommand::kWhy) {
    AddDaemon(flags, out.daemon, command == OfflineCommand::kWhy);
  }
  AddOutput(command, flags, out, help);
  const std::string see_help = "; `" + program + " --help` lists the flags";
  const auto others = flags.Parse(arguments);
  if (!others) return Fail(others.error().message + see_help);
  if (help) {
    out.print_and_exit = flags.Usage();
    return out;
  }
  std::vector<std::string> words = *others;
  // As in `kubectl get pod web`.
  if (takes_pod && words.size() > 1 && questions::IsPodResource(words.front()))
    words.erase(words.begin());
  if (command == OfflineCommand::kWhy && words.empty()) return Fail("which pod?" + see_help);
  if (takes_pod && out.pod.empty() && !words.empty()) {
    if (auto set = SetPod(words.front(), out); !set) return Fail("POD: " + set.error().message);
    words.erase(words.begin());
  }
  if (!words.empty()) return Fail("unexpected argument \"" + words.front() + "\"" + see_help);
  if (auto checked = CheckCluster(command, out); !checked)
    return Fail(checked.error().message + see_help);
  if (command == OfflineCommand::kPlan) {
    if (auto checked = CheckPlan(out); !checked) return Fail(checked.error().message + see_help);
  }
  if (auto checked = CheckStandardInput(out); !checked) return Fail(checked.error());
  if (auto checked = CheckWhatIf(out.what_if); !checked) return Fail(checked.error());
  if (auto completed = CompletePod(out); !completed) return Fail(completed.error());
  if (out.what_if.any()) {
    // As kubectl apply does; that no cluster is found its reading says.
    const auto default_namespace = NamespaceOf(out);
    if (default_namespace) out.what_if.default_namespace = *default_namespace;
  }
  if (auto completed = CompleteGoal(out); !completed) return Fail(completed.error());
  return out;
}

Result<client::ServerConfig> FindLiveCluster(const OfflineFlags& flags) {
  client::KubeconfigOptions options{.path = flags.kubeconfig, .context = flags.context};
  if (options.path.empty()) {
    std::vector<std::string> files = DefaultKubeconfigs();
    std::erase_if(files, [](const std::string& file) {
      std::error_code ignored;
      return !std::filesystem::exists(file, ignored);
    });
    if (files.empty()) {
      if (auto own = client::InClusterConfig()) return own;
      return Fail(
          "which cluster? Neither KUBECONFIG nor ~/.kube/config is there; name a live one with "
          "--kubeconfig, or a dump with --cluster");
    }
    options.path = files.front();
    options.others.assign(files.begin() + 1, files.end());
  }
  return client::LoadKubeconfig(options);
}

int FailWith(std::string_view message) {
  PrintNote((IsInKubectlsWords(message) ? "" : "Error: ") + std::string(message));
  return kBadInput;
}

tl::expected<OfflineFlags, int> BeginOffline(OfflineCommand command,
                                             const std::vector<std::string>& arguments,
                                             const std::string& program) {
  auto flags = ParseOfflineFlags(command, arguments, program);
  if (!flags) return tl::unexpected(FailWith(flags.error().message));
  if (!flags->print_and_exit.empty()) {
    WriteOut(flags->print_and_exit);
    return tl::unexpected(kDone);
  }
  base::SetUpLogging(flags->run.log);
  return std::move(*flags);
}

}  // namespace berth::app
