// SPDX-License-Identifier: Apache-2.0
#include "src/framework/runtime.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "berth/field_errors.h"
#include "src/base/logging.h"
#include "src/framework/guarded.h"
#include "src/framework/timing.h"

namespace berth::framework {
namespace {

constexpr Duration kMaxPermitTimeout = std::chrono::minutes(15);

// "running <what> plugin "<name>": <message>", as an Error.
Status Wrapped(const CycleState& state, std::string_view what, std::string_view plugin,
               const Status& status) {
  return state.reasons().Error("running " + std::string(what) + " plugin " + Quoted(plugin) + ": " +
                               status.message());
}

void Intersect(std::optional<std::vector<std::string>>& names,
               const std::vector<std::string>& with) {
  if (!names) {
    names = with;
    return;
  }
  std::vector<std::string> both;
  std::set_intersection(names->begin(), names->end(), with.begin(), with.end(),
                        std::back_inserter(both));
  *names = std::move(both);
}

// Also those that have no PreFilter, or whose PreFilter the profile does not call.
void SkipForDeferredResize(const Profile& profile, Cycle& cycle) {
  for (const FilterEntry& entry : profile.plugins().filter) {
    if (entry.instance->skips_deferred_resizes) cycle.skip_filter.set(entry.index);
  }
}

}  // namespace

std::optional<PreemptionPreview> RunPreemptionPreview(const Profile& profile, Cycle& cycle,
                                                      const PodInfo& pod, const Snapshot& snapshot,
                                                      const NodeToStatus& statuses) {
  std::optional<PreemptionPreview> last;
  std::string messages;
  for (const auto& entry : profile.plugins().post_filter) {
    PreemptionPlugin* plugin = entry.instance->preemption;
    if (plugin == nullptr) continue;
    cycle.state.Write(PostFilterCycle{profile, cycle});
    PreemptionPreview preview;
    const Status status = Guarded(cycle.state, [&] {
      preview = plugin->Preview(cycle.state, pod, snapshot, statuses);
      return Status::Success();
    });
    if (!status.ok()) preview = {.candidates = {}, .best = {}, .message = status.message()};
    if (!preview.candidates.empty()) return preview;
    messages += (messages.empty() ? "" : ", ") + preview.message;
    last = std::move(preview);
  }
  if (last) last->message = std::move(messages);
  return last;
}

PluginStatus RunPreEnqueue(const Profile& profile, const PodInfo& pod, std::string_view first,
                           RuntimeObserver* observer) {
  PointTimer timer(profile, observer, ExtensionPoint::kPreEnqueue);
  const bool sampled = observer != nullptr && observer->SamplesPreEnqueue();
  const auto ask = [&](const Entry<PreEnqueuePlugin>& entry) -> PluginStatus {
    PluginTimer plugin_timer(observer, sampled, entry.name, ExtensionPoint::kPreEnqueue);
    Status status;
    try {
      status = entry.plugin->PreEnqueue(pod);
    } catch (const std::exception& e) {
      base::LogError("PreEnqueue plugin threw", {{"plugin", entry.name}, {"err", e.what()}});
      status = Status(Code::kError);
    }
    plugin_timer.Finish(status.code());
    return {status, entry.name};
  };
  const auto& plugins = profile.plugins().pre_enqueue;
  PluginStatus verdict;
  for (const auto& entry : plugins)
    if (entry.name == first) verdict = ask(entry);
  for (const auto& entry : plugins) {
    if (!verdict.status.ok()) break;
    if (entry.name != first) verdict = ask(entry);
  }
  // As kube-scheduler 1.37 counts it, whatever the verdict: alerts look at the other codes.
  timer.Finish(Code::kSuccess);
  return verdict.status.ok() ? PluginStatus{} : verdict;
}

std::string PluginList(std::span<const std::string> plugins) {
  std::string text = "[";
  for (const std::string& name : plugins) {
    if (text.size() > 1) text += ' ';
    text += name;
  }
  return text + "]";
}

PreFilterVerdict RunPreFilter(const Profile& profile, Cycle& cycle, const PodInfo& pod,
                              const Snapshot& snapshot) {
  PointTimer timer(profile, cycle.observer, ExtensionPoint::kPreFilter);
  if (TimeLimit::IsSet()) cycle.state.RenewBudget(TimeLimit::BudgetNow());
  PreFilterVerdict result;
  PluginStatus last_rejection;
  const auto finish = [&](PluginStatus verdict) {
    result.verdict = verdict;
    timer.Finish(verdict.status.code());
    return std::move(result);
  };
  // Who has narrowed the search has no part in it.
  const auto finish_alone = [&](PluginStatus verdict) {
    result.restricting_plugins.clear();
    return finish(verdict);
  };
  if (pod.resize_deferred) SkipForDeferredResize(profile, cycle);
  for (const auto& entry : profile.plugins().pre_filter) {
    if (pod.resize_deferred && entry.instance->skips_deferred_resizes) {
      cycle.skip_filter.set(entry.index);
      continue;
    }
    std::optional<std::vector<std::string>> names;
    PluginTimer plugin_timer(cycle, entry.name, ExtensionPoint::kPreFilter);
    const Status status = Guarded(cycle.state, [&] {
      PreFilterResult plugin_result = entry.plugin->PreFilter(cycle.state, pod, snapshot);
      names = std::move(plugin_result.node_names);
      return plugin_result.status;
    });
    plugin_timer.Finish(status.code());
    if (status.skip()) {
      cycle.skip_filter.set(entry.index);
      continue;
    }
    CountEvaluations(profile, cycle.observer, entry.name, ExtensionPoint::kPreFilter, 1);
    if (status.code() == Code::kUnschedulableAndUnresolvable) {
      return finish_alone({status, entry.name});
    }
    if (status.code() == Code::kUnschedulable) {
      last_rejection = {status, entry.name};
      continue;
    }
    if (!status.ok()) {
      return finish_alone({Wrapped(cycle.state, "PreFilter", entry.name, status), entry.name});
    }
    if (!names) continue;
    result.restricting_plugins.emplace_back(entry.name);
    std::sort(result.restricting_plugins.begin(), result.restricting_plugins.end());
    Intersect(result.node_names, *names);
    if (!result.node_names->empty()) continue;
    const std::string text =
        result.restricting_plugins.size() == 1
            ? "node(s) didn't satisfy plugin " + result.restricting_plugins.front()
            : "node(s) didn't satisfy plugin(s) " + PluginList(result.restricting_plugins) +
                  " simultaneously";
    return finish({cycle.state.reasons().Make(Code::kUnschedulableAndUnresolvable, text), ""});
  }
  return finish(last_rejection);
}

Status RunFilterPlugin(const FilterEntry& entry, const CycleState& state, const PodInfo& pod,
                       const NodeView& node) {
  const Status status = Guarded(state, [&] { return entry.plugin->Filter(state, pod, node); });
  if (status.ok() || status.rejected()) return status;
  return state.reasons().Error("running " + Quoted(entry.name) +
                               " filter plugin: " + status.message());
}

Status RunFilterNodes(const FilterEntry& entry, const CycleState& state, const PodInfo& pod,
                      const Snapshot& snapshot, NodeSet& nodes) {
  if (entry.column == nullptr) {
    return FilterEach(nodes, [&](NodeRow row) {
      return RunFilterPlugin(entry, state, pod, NodeView(snapshot, row));
    });
  }
  const Status status =
      Guarded(state, [&] { return entry.column->FilterNodes(state, pod, snapshot, nodes); });
  if (status.ok()) return status;
  return state.reasons().Error("running " + Quoted(entry.name) +
                               " filter plugin: " + status.message());
}

PluginStatus RunFilter(const Profile& profile, const Cycle& cycle, const CycleState& state,
                       const PodInfo& pod, const NodeView& node) {
  for (const FilterEntry& entry : profile.plugins().filter) {
    if (cycle.skip_filter.test(entry.index)) continue;
    const Status status = RunFilterPlugin(entry, state, pod, node);
    if (!status.ok()) return {status, entry.name};
  }
  return {};
}

bool HasPreFilterExtensions(const Profile& profile, const Cycle& cycle) {
  for (const auto& entry : profile.plugins().pre_filter) {
    if (entry.instance->pre_filter_extensions != nullptr && !cycle.skip_filter.test(entry.index)) {
      return true;
    }
  }
  return false;
}

void RunDetach(const Profile& profile, Cycle& cycle) {
  for (const auto& entry : profile.plugins().pre_filter) {
    PreFilterExtensions* extensions = entry.instance->pre_filter_extensions;
    if (extensions == nullptr || cycle.skip_filter.test(entry.index)) continue;
    extensions->Detach(cycle.state);
  }
}

namespace {

// AddPod or RemovePod, which `call` makes, of every filter that was not skipped.
template <typename Call>
Status RunExtensions(const Profile& profile, const Cycle& cycle, const CycleState& state,
                     ExtensionPoint point, std::string_view method, Call call) {
  for (const auto& entry : profile.plugins().pre_filter) {
    PreFilterExtensions* extensions = entry.instance->pre_filter_extensions;
    if (extensions == nullptr || cycle.skip_filter.test(entry.index)) continue;
    PluginTimer timer(cycle, entry.name, point);
    const Status status = Guarded(state, [&] { return call(*extensions); });
    timer.Finish(status.code());
    if (!status.ok()) {
      return state.reasons().Error("running " + std::string(method) + " on PreFilter plugin " +
                                   Quoted(entry.name) + ": " + status.message());
    }
  }
  return Status::Success();
}

}  // namespace

Status RunAddPod(const Profile& profile, const Cycle& cycle, CycleState& state, const PodInfo& pod,
                 const PodInfo& added, const NodeView& node) {
  return RunExtensions(
      profile, cycle, state, ExtensionPoint::kPreFilterExtensionAddPod, "AddPod",
      [&](PreFilterExtensions& extensions) { return extensions.AddPod(state, pod, added, node); });
}

Status RunRemovePod(const Profile& profile, const Cycle& cycle, CycleState& state,
                    const PodInfo& pod, const PodInfo& removed, const NodeView& node) {
  return RunExtensions(profile, cycle, state, ExtensionPoint::kPreFilterExtensionRemovePod,
                       "RemovePod", [&](PreFilterExtensions& extensions) {
                         return extensions.RemovePod(state, pod, removed, node);
                       });
}

PostFilterVerdict RunPostFilter(const Profile& profile, Cycle& cycle, const PodInfo& pod,
                                const Snapshot& snapshot, const NodeToStatus& statuses) {
  PointTimer timer(profile, cycle.observer, ExtensionPoint::kPostFilter);
  cycle.state.Write(PostFilterCycle{profile, cycle});
  PostFilterVerdict result;
  ReasonSet reasons;
  const auto finish = [&](PluginStatus verdict) {
    result.verdict = verdict;
    result.message = verdict.status.message();
    timer.Finish(verdict.status.code());
    return std::move(result);
  };
  std::string_view first_rejector;
  for (const auto& entry : profile.plugins().post_filter) {
    std::optional<NominatingInfo> nominating;
    PluginTimer plugin_timer(cycle, entry.name, ExtensionPoint::kPostFilter);
    const Status status = Guarded(cycle.state, [&] {
      PostFilterResult plugin_result =
          entry.plugin->PostFilter(cycle.state, pod, snapshot, statuses);
      nominating = std::move(plugin_result.nominating);
      return plugin_result.status;
    });
    plugin_timer.Finish(status.code());
    if (status.ok() || status.code() == Code::kUnschedulableAndUnresolvable) {
      result.nominating = std::move(nominating);
      return finish({status, entry.name});
    }
    if (!status.rejected()) {
      result.nominating.reset();
      return finish(
          {Status(Code::kError, cycle.state.reasons().Intern(status.message())), entry.name});
    }
    if (nominating && nominating->mode != NominatingMode::kNoop) {
      result.nominating = std::move(nominating);
    }
    if (first_rejector.empty()) first_rejector = entry.name;
    reasons.insert(reasons.end(), status.reasons().begin(), status.reasons().end());
  }
  return finish({cycle.state.reasons().Make(Code::kUnschedulable, reasons), first_rejector});
}

PluginStatus RunReserve(const Profile& profile, Cycle& cycle, const PodInfo& pod,
                        std::string_view node_name) {
  PointTimer timer(profile, cycle.observer, ExtensionPoint::kReserve);
  PluginStatus verdict;
  for (const auto& entry : profile.plugins().reserve) {
    PluginTimer plugin_timer(cycle, entry.name, ExtensionPoint::kReserve);
    const Status status =
        Guarded(cycle.state, [&] { return entry.plugin->Reserve(cycle.state, pod, node_name); });
    plugin_timer.Finish(status.code());
    if (status.ok()) continue;
    verdict = {status.rejected() ? status : Wrapped(cycle.state, "Reserve", entry.name, status),
               entry.name};
    break;
  }
  timer.Finish(verdict.status.code());
  return verdict;
}

void RunUnreserve(const Profile& profile, Cycle& cycle, const PodInfo& pod,
                  std::string_view node_name) {
  PointTimer timer(profile, cycle.observer, ExtensionPoint::kUnreserve);
  const auto& plugins = profile.plugins().reserve;
  for (auto it = plugins.rbegin(); it != plugins.rend(); ++it) {
    PluginTimer plugin_timer(cycle, it->name, ExtensionPoint::kUnreserve);
    // Whether there is time or not: what was reserved is given back.
    const auto thrown = ThrownBy([&] { it->plugin->Unreserve(cycle.state, pod, node_name); });
    if (thrown) {
      base::LogError("Unreserve failed",
                     {{"plugin", it->name}, {"pod", pod.pod->metadata.Key()}, {"err", *thrown}});
    }
    plugin_timer.Finish(Code::kSuccess);
  }
  timer.Finish(Code::kSuccess);
}

PermitVerdict RunPermit(const Profile& profile, Cycle& cycle, const PodInfo& pod,
                        std::string_view node_name) {
  PointTimer timer(profile, cycle.observer, ExtensionPoint::kPermit);
  PermitVerdict result;
  const auto finish = [&](PluginStatus verdict) {
    result.verdict = verdict;
    timer.Finish(verdict.status.code());
    return std::move(result);
  };
  ReasonSet wait_reasons;
  for (const auto& entry : profile.plugins().permit) {
    Duration timeout{};
    PluginTimer plugin_timer(cycle, entry.name, ExtensionPoint::kPermit);
    const Status status = Guarded(cycle.state, [&] {
      const PermitResult plugin_result = entry.plugin->Permit(cycle.state, pod, node_name);
      timeout = plugin_result.timeout;
      return plugin_result.status;
    });
    plugin_timer.Finish(status.code());
    if (status.ok()) continue;
    if (status.rejected()) {
      result.waits.clear();
      return finish({status, entry.name});
    }
    if (!status.wait()) {
      result.waits.clear();
      return finish({Wrapped(cycle.state, "Permit", entry.name, status), entry.name});
    }
    result.waits.push_back({std::string(entry.name), std::min(timeout, kMaxPermitTimeout)});
    wait_reasons = status.reasons();
  }
  if (result.waits.empty()) return finish({});
  wait_reasons.push_back("one or more plugins asked to wait and no plugin rejected pod");
  return finish({cycle.state.reasons().Make(Code::kWait, wait_reasons), ""});
}

void RunPermitOfGroups(const Profile& profile, Cycle& cycle, const PodInfo& pod,
                       std::string_view node_name, PermitVerdict& permit) {
  for (const auto& entry : profile.plugins().permit) {
    if (entry.instance->placement_feasible == nullptr) continue;
    const bool waits = std::ranges::any_of(
        permit.waits, [&](const auto& wait) { return wait.plugin == entry.name; });
    if (waits) continue;
    Duration timeout{};
    const Status status = Guarded(cycle.state, [&] {
      const PermitResult result = entry.plugin->Permit(cycle.state, pod, node_name);
      timeout = result.timeout;
      return result.status;
    });
    if (!status.wait()) continue;
    permit.waits.push_back({std::string(entry.name), std::min(timeout, kMaxPermitTimeout)});
    permit.verdict = {status, ""};
  }
}

PreFlightVerdict RunPreBindPreFlight(const Profile& profile, Cycle& cycle, const PodInfo& pod,
                                     std::string_view node_name) {
  PointTimer timer(profile, cycle.observer, ExtensionPoint::kPreBindPreFlight);
  PreFlightVerdict result;
  result.status = Status::Skip();
  for (const auto& entry : profile.plugins().pre_bind) {
    PluginTimer plugin_timer(cycle, entry.name, ExtensionPoint::kPreBindPreFlight);
    const Status status = Guarded(
        cycle.state, [&] { return entry.plugin->PreBindPreFlight(cycle.state, pod, node_name); });
    plugin_timer.Finish(status.code());
    if (status.skip()) continue;
    if (status.ok()) {
      result.status = Status::Success();
      result.to_run.push_back(entry);
      continue;
    }
    const std::string text =
        status.code() == Code::kError
            ? "running PreBindPreFlight " + Quoted(entry.name) + ": " + status.message()
            : "PreBindPreFlight " + std::string(entry.name) + " returned " +
                  Quoted(CodeName(status.code())) +
                  ", which is unsupported. It is supposed to return Success, Skip, or Error "
                  "status";
    result.to_run.clear();
    result.status = cycle.state.reasons().Error(text);
    break;
  }
  timer.Finish(result.status.code());
  return result;
}

}  // namespace berth::framework
