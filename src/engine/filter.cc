// SPDX-License-Identifier: Apache-2.0
#include "src/engine/filter.h"

#include <algorithm>
#include <string>
#include <utility>

#include "src/framework/timing.h"

namespace berth::engine {
namespace {

constexpr std::string_view kClosedReason = "node(s) had a pod that could not be read";

std::vector<NodeRow> RowsOf(const std::vector<std::string>& names, const Snapshot& snapshot) {
  std::vector<NodeRow> rows;
  for (const std::string& name : names) {
    const NodeRow row = snapshot.FindNode(name);
    if (row != kNoRow && snapshot.nodes().Test(row)) rows.push_back(row);
  }
  std::ranges::sort(rows);
  rows.erase(std::ranges::unique(rows).begin(), rows.end());
  return rows;
}

Status ClosedStatus(const CycleState& state) {
  return state.reasons().Make(Code::kUnschedulableAndUnresolvable, kClosedReason);
}

// The verdict on a node with the pods that are nominated for it.
framework::PluginStatus JudgeWithNominated(const framework::Profile& profile,
                                           const framework::Cycle& cycle, const PodInfo& pod,
                                           const Snapshot& snapshot, NodeRow row,
                                           const std::vector<const PodInfo*>& nominated,
                                           bool has_extensions) {
  std::optional<CycleState> imagined;
  if (has_extensions) imagined = cycle.state.Clone();
  Overlay overlay;
  const Status added = ImagineNominated(profile, cycle, pod, snapshot, row, nominated,
                                        imagined ? &*imagined : nullptr, overlay);
  if (!added.ok()) return {cycle.state.reasons().Error(added.message())};
  framework::PluginStatus verdict = framework::RunFilter(
      profile, cycle, imagined ? *imagined : cycle.state, pod, NodeView(snapshot, row, &overlay));
  // The clone's reasons die with it; the cycle's own table keeps a copy.
  if (imagined && !verdict.status.ok()) {
    verdict.status =
        Status(verdict.status.code(), cycle.state.reasons().Intern(verdict.status.reasons()));
  }
  return verdict;
}

}  // namespace

framework::PluginStatus JudgeNode(const framework::Profile& profile, const framework::Cycle& cycle,
                                  const PodInfo& pod, const ClusterState& cluster, NodeRow row) {
  const Snapshot& snapshot = cluster.snapshot;
  if (snapshot.closed_nodes().Test(row)) return {ClosedStatus(cycle.state)};
  const std::vector<const PodInfo*> nominated = NominatedPodsOn(row, pod, cluster);
  if (!nominated.empty()) {
    const bool has_extensions = framework::HasPreFilterExtensions(profile, cycle);
    const framework::PluginStatus verdict =
        JudgeWithNominated(profile, cycle, pod, snapshot, row, nominated, has_extensions);
    if (!verdict.status.ok()) return verdict;
  }
  return framework::RunFilter(profile, cycle, cycle.state, pod, NodeView(snapshot, row));
}

void SetNarrowedReason(const CycleState& state, Diagnosis& diagnosis) {
  diagnosis.statuses.SetAbsent(
      state.reasons().Make(Code::kUnschedulableAndUnresolvable,
                           "node(s) didn't satisfy plugin(s) " +
                               framework::PluginList(diagnosis.unschedulable_plugins)));
}

Status PreFilterNodes(const framework::Profile& profile, framework::Cycle& cycle,
                      const PodInfo& pod, const Snapshot& snapshot, Diagnosis& diagnosis,
                      std::optional<std::vector<NodeRow>>& named) {
  framework::PreFilterVerdict pre_filter = framework::RunPreFilter(profile, cycle, pod, snapshot);
  for (const std::string& plugin : pre_filter.restricting_plugins) diagnosis.AddPlugin(plugin);
  diagnosis.pre_filter_plugins = std::move(pre_filter.restricting_plugins);
  const Status& verdict = pre_filter.verdict.status;
  if (!verdict.ok()) {
    if (!pre_filter.verdict.plugin.empty()) {
      diagnosis.pre_filter_plugins.assign(1, std::string(pre_filter.verdict.plugin));
    }
    if (!verdict.rejected()) return verdict;
    diagnosis.statuses.SetAbsent(verdict);
    diagnosis.pre_filter_message = verdict.message();
    diagnosis.AddPlugin(pre_filter.verdict.plugin, verdict);
    return verdict;
  }
  if (pre_filter.node_names) named = RowsOf(*pre_filter.node_names, snapshot);
  return Status::Success();
}

Status FilterPass::Run(NodeSet& nodes) {
  const Snapshot& snapshot = cluster_.snapshot;
  closed_ = nodes;
  closed_ &= snapshot.closed_nodes();
  nodes -= closed_;
  if (!cluster_.nominated.empty()) {
    if (const Status status = RunWithNominatedPods(nodes); !status.ok()) return status;
  }
  for (const framework::FilterEntry& entry : profile_.plugins().filter) {
    if (cycle_.skip_filter.test(entry.index)) continue;
    if (nodes.Empty()) break;
    if (const Status status = RunPlugin(entry, nodes); !status.ok()) return status;
  }
  return Status::Success();
}

Status FilterPass::RunFew(std::vector<NodeRow>& nodes) {
  Status failure;
  std::erase_if(nodes, [&](NodeRow row) {
    if (!cluster_.snapshot.closed_nodes().Test(row)) return false;
    explicit_.push_back({row, {ClosedStatus(cycle_.state), ""}});
    return true;
  });
  for (const framework::FilterEntry& entry : profile_.plugins().filter) {
    if (cycle_.skip_filter.test(entry.index)) continue;
    if (nodes.empty()) break;
    framework::CountEvaluations(profile_, cycle_.observer, entry.name,
                                framework::ExtensionPoint::kFilter, nodes.size());
    framework::PluginTimer timer(cycle_, entry.name, framework::ExtensionPoint::kFilter);
    std::erase_if(nodes, [&](NodeRow row) {
      if (!failure.ok()) return false;
      const Status status =
          framework::RunFilterPlugin(entry, cycle_.state, pod_, NodeView(cluster_.snapshot, row));
      if (status.code() == Code::kError) {
        failure = status;
      } else if (!status.ok()) {
        explicit_.push_back({row, {status, entry.name}});
      }
      return !status.ok();
    });
    timer.Finish(failure.code());
    if (!failure.ok()) break;
  }
  return failure;
}

Status FilterPass::RunPlugin(const framework::FilterEntry& entry, NodeSet& nodes) {
  const CycleState& state = cycle_.state;
  if (cycle_.observer != nullptr) {
    framework::CountEvaluations(profile_, cycle_.observer, entry.name,
                                framework::ExtensionPoint::kFilter, nodes.Count());
  }
  framework::PluginTimer timer(cycle_, entry.name, framework::ExtensionPoint::kFilter);
  if (entry.column != nullptr) {
    NodeSet before = nodes;
    const Status status = framework::RunFilterNodes(entry, state, pod_, cluster_.snapshot, nodes);
    timer.Finish(status.code());
    if (!status.ok()) return status;
    if (before == nodes) return Status::Success();
    before -= nodes;
    rejected_.push_back({&entry, std::move(before)});
    return Status::Success();
  }
  Status failure;
  nodes.Filter([&](NodeRow row) {
    if (!failure.ok()) return true;
    const Status status =
        framework::RunFilterPlugin(entry, state, pod_, NodeView(cluster_.snapshot, row));
    if (status.code() == Code::kError) {
      failure = status;
    } else if (!status.ok()) {
      explicit_.push_back({row, {status, entry.name}});
    }
    return status.ok();
  });
  timer.Finish(failure.code());
  return failure;
}

// Nodes that expect pods of equal or higher priority must also pass with those pods on them; the
// plain pass, which all nodes take afterwards, is the one without.
Status FilterPass::RunWithNominatedPods(NodeSet& nodes) {
  const Snapshot& snapshot = cluster_.snapshot;
  const std::vector<NominatedRow> rows = NominatedRowsFor(nodes, pod_, cluster_);
  if (rows.empty()) return Status::Success();
  // Without a filter that has AddPod the state stays what it is.
  const bool has_extensions = framework::HasPreFilterExtensions(profile_, cycle_);
  for (const auto& [row, nominated] : rows) {
    const framework::PluginStatus verdict =
        JudgeWithNominated(profile_, cycle_, pod_, snapshot, row, nominated, has_extensions);
    if (verdict.status.ok()) continue;
    if (verdict.status.code() == Code::kError) return verdict.status;
    explicit_.push_back({row, verdict});
    nodes.Clear(row);
  }
  return Status::Success();
}

Status FilterPass::Explain(const NodeSet& wanted, Diagnosis& diagnosis) {
  // Many rows in a row have the same rejector.
  std::string_view last_plugin;
  Code last_code = Code::kSuccess;
  return ForEachRejected(wanted, [&](NodeRow row, const Status& status, std::string_view plugin) {
    diagnosis.statuses.Set(row, status, plugin);
    if (plugin == last_plugin && status.code() == last_code) return;
    last_plugin = plugin;
    last_code = status.code();
    diagnosis.AddPlugin(plugin, status);
  });
}

Status FilterPass::ForEachRejected(const NodeSet& wanted, const Visit& visit) {
  const CycleState& state = cycle_.state;
  Status failure;
  closed_.ForEach([&](NodeRow row) {
    if (!wanted.Test(row)) return;
    visit(row, ClosedStatus(state), "");
  });
  for (const Verdict& verdict : explicit_) {
    if (wanted.Test(verdict.row))
      visit(verdict.row, verdict.verdict.status, verdict.verdict.plugin);
  }
  for (const Rejected& rejected : rejected_) {
    rejected.nodes.ForEach([&](NodeRow row) {
      if (!wanted.Test(row) || !failure.ok()) return;
      const Status status = framework::RunFilterPlugin(*rejected.entry, state, pod_,
                                                       NodeView(cluster_.snapshot, row));
      if (status.rejected()) {
        visit(row, status, rejected.entry->name);
        return;
      }
      failure = status.ok() ? state.reasons().Error(
                                  "plugin \"" + std::string(rejected.entry->name) +
                                  "\" rejects node \"" + cluster_.snapshot.node(row).metadata.name +
                                  "\" by column but not by node")
                            : status;
    });
  }
  return failure;
}

std::vector<const PodInfo*> NominatedPodsOn(NodeRow row, const PodInfo& pod,
                                            const ClusterState& cluster) {
  std::vector<const PodInfo*> pods;
  const std::string& node_name = cluster.snapshot.node(row).metadata.name;
  for (const PodInfoPtr& nominated : cluster.nominated.NominatedPodsForNode(node_name)) {
    if (cluster.nominated.Counts(pod, *nominated)) pods.push_back(nominated.get());
  }
  return pods;
}

std::vector<NominatedRow> NominatedRowsFor(const NodeSet& nodes, const PodInfo& pod,
                                           const ClusterState& cluster) {
  std::vector<NominatedRow> rows;
  // A pod that is nominated itself is tried on that node first.
  if (nodes.Count() == 1) {
    nodes.ForEach([&](NodeRow row) { rows.push_back({row, NominatedPodsOn(row, pod, cluster)}); });
    if (rows.front().pods.empty()) rows.clear();
    return rows;
  }
  // Visited by node name.
  std::string_view last_name;
  NodeRow last_row = kNoRow;
  cluster.nominated.ForEach([&](std::string_view node_name, const PodInfoPtr& nominated) {
    if (!cluster.nominated.Counts(pod, *nominated)) return;
    if (node_name != last_name) {
      last_name = node_name;
      last_row = cluster.snapshot.FindNode(node_name);
      if (last_row != kNoRow && !nodes.Test(last_row)) last_row = kNoRow;
      if (last_row != kNoRow) rows.push_back({last_row, {}});
    }
    if (last_row != kNoRow) rows.back().pods.push_back(nominated.get());
  });
  std::ranges::sort(rows, {}, &NominatedRow::row);
  return rows;
}

Status ImagineNominated(const framework::Profile& profile, const framework::Cycle& cycle,
                        const PodInfo& pod, const Snapshot& snapshot, NodeRow row,
                        const std::vector<const PodInfo*>& nominated, CycleState* state,
                        Overlay& overlay) {
  const NodeView node(snapshot, row, &overlay);
  for (const PodInfo* other : nominated) {
    overlay.AddPod(*other);
    if (state == nullptr) continue;
    const Status status = framework::RunAddPod(profile, cycle, *state, pod, *other, node);
    if (!status.ok()) return status;
  }
  return Status::Success();
}

}  // namespace berth::engine
