// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/preemption.h"
#include "src/framework/observer.h"
#include "src/framework/profile.h"
#include "src/framework/waiting_pods.h"

// Calls a profile's plugins at each extension point, with kube-scheduler's order, skip and status
// rules. A plugin that throws counts as Code::kError.
//
// Thread safety: the scheduling thread.

namespace berth::framework {

// One pod's way through a profile.
struct Cycle {
  CycleState state;
  PluginMask skip_filter;  // PreFilter said Skip
  PluginMask skip_score;   // PreScore said Skip
  // Gets how long plugins take; nullptr: nothing is measured, as in a preview.
  RuntimeObserver* observer = nullptr;
  bool observe_plugins = false;  // each plugin, too, not only each extension point

  // For another try of the same pod.
  Cycle Fresh() const {
    Cycle fresh;
    fresh.observer = observer;
    fresh.observe_plugins = observe_plugins;
    return fresh;
  }
};

// A verdict and who gave it. `plugin` is "" where no single plugin did.
struct PluginStatus {
  Status status = {};
  std::string_view plugin = {};
};

// The first verdict that is not Success, `first` (or "") being asked before the others. `observer`
// may be nullptr.
PluginStatus RunPreEnqueue(const Profile& profile, const PodInfo& pod, std::string_view first,
                           RuntimeObserver* observer);

struct PreFilterVerdict {
  PluginStatus verdict;
  // The nodes all plugins' restrictions leave; sorted.
  std::optional<std::vector<std::string>> node_names;
  // The plugins that restricted the nodes; sorted. None where another plugin ended PreFilter.
  std::vector<std::string> restricting_plugins;
};

// Plugins as messages list them: "[A B]".
std::string PluginList(std::span<const std::string> plugins);

// Every plugin is asked, unless one says UnschedulableAndUnresolvable or fails; of several
// Unschedulable the last wins. Restrictions that leave no node are UnschedulableAndUnresolvable.
PreFilterVerdict RunPreFilter(const Profile& profile, Cycle& cycle, const PodInfo& pod,
                              const Snapshot& snapshot);

// The verdict of the first filter that rejects the node, in profile order, or Success. A status
// that is neither Success nor a rejection becomes Error.
PluginStatus RunFilter(const Profile& profile, const Cycle& cycle, const CycleState& state,
                       const PodInfo& pod, const NodeView& node);
// The same for one filter.
Status RunFilterPlugin(const FilterEntry& entry, const CycleState& state, const PodInfo& pod,
                       const NodeView& node);

// One filter about many nodes, by its column form if it has one: takes the rows it rejects out of
// `nodes`. Error when it fails for any.
Status RunFilterNodes(const FilterEntry& entry, const CycleState& state, const PodInfo& pod,
                      const Snapshot& snapshot, NodeSet& nodes);

// Whether a filter that was not skipped has AddPod and RemovePod, for pods imagined on nodes, or
// away.
bool HasPreFilterExtensions(const Profile& profile, const Cycle& cycle);
// From now on they rely on RunAddPod() and RunRemovePod(): pods come and go in the snapshot itself.
void RunDetach(const Profile& profile, Cycle& cycle);
// Tells the filters that were not skipped that `added` is imagined on `node`.
Status RunAddPod(const Profile& profile, const Cycle& cycle, CycleState& state, const PodInfo& pod,
                 const PodInfo& added, const NodeView& node);
// The same for `removed`, imagined away.
Status RunRemovePod(const Profile& profile, const Cycle& cycle, CycleState& state,
                    const PodInfo& pod, const PodInfo& removed, const NodeView& node);

// In a cycle's state from PostFilter on, for plugins that ask for a dry run: whose state it is.
struct PostFilterCycle {
  const Profile& profile;
  const Cycle& cycle;
};

struct PostFilterVerdict {
  PluginStatus verdict;
  std::string message;  // what FailedScheduling shows after the reasons; may be ""
  std::optional<NominatingInfo> nominating;
};
PostFilterVerdict RunPostFilter(const Profile& profile, Cycle& cycle, const PodInfo& pod,
                                const Snapshot& snapshot, const NodeToStatus& statuses);

Status RunPreScore(const Profile& profile, Cycle& cycle, const PodInfo& pod,
                   const Snapshot& snapshot, const NodeSet& feasible);

// Up to so many nodes, one call a node is cheaper than what a column form sets up.
inline constexpr size_t kFewNodes = 16;

inline bool IsNodeScore(int64_t score) { return score >= kMinNodeScore && score <= kMaxNodeScore; }

// One plugin's raw scores of `nodes`. Error also when it throws.
Status RunScorePlugin(const ScoreEntry& entry, const CycleState& state, const PodInfo& pod,
                      const Snapshot& snapshot, std::span<const NodeRow> nodes,
                      std::span<int64_t> scores);
// Normalises the raw scores of a plugin that does so. Error also when one is out of range then.
Status RunNormalizeScore(const ScoreEntry& entry, const CycleState& state, const PodInfo& pod,
                         std::span<const NodeRow> nodes, std::span<int64_t> scores);

// One score plugin over the feasible nodes: raw scores first, then normalised in place.
struct PluginScores {
  const ScoreEntry* entry = nullptr;
  std::vector<int64_t> raw;         // filled only when asked for
  std::vector<int64_t> normalised;  // in [0, 100], before the weight
};
// Adds each plugin's weighted score to totals[i] for nodes[i]. With `details`, also keeps every
// plugin's scores there.
Status RunScore(const Profile& profile, const Cycle& cycle, const PodInfo& pod,
                const Snapshot& snapshot, std::span<const NodeRow> nodes,
                std::vector<int64_t>& totals, std::vector<PluginScores>* details);

PluginStatus RunReserve(const Profile& profile, Cycle& cycle, const PodInfo& pod,
                        std::string_view node_name);
// All reserve plugins, in reverse order, also those that Reserve never reached.
void RunUnreserve(const Profile& profile, Cycle& cycle, const PodInfo& pod,
                  std::string_view node_name);

struct PermitVerdict {
  PluginStatus verdict;  // Success, Wait, a rejection or Error
  std::vector<WaitingPods::PluginTimeout> waits;
};
PermitVerdict RunPermit(const Profile& profile, Cycle& cycle, const PodInfo& pod,
                        std::string_view node_name);
// Asks plugins that have a say about pod groups once more about a pod that Permit has let pass:
// since then other pods of its group were refused, so it may have to wait for them.
void RunPermitOfGroups(const Profile& profile, Cycle& cycle, const PodInfo& pod,
                       std::string_view node_name, PermitVerdict& permit);

struct PreFlightVerdict {
  Status status;  // Success: some plugin has work; Skip: none has; else Error
  std::vector<Entry<PreBindPlugin>> to_run;  // in order
};
PreFlightVerdict RunPreBindPreFlight(const Profile& profile, Cycle& cycle, const PodInfo& pod,
                                     std::string_view node_name);

// What the profile's PostFilter would do for a pod that no node took: the answer of the first
// plugin that finds candidates, or what all say who can tell; nullopt where none can. A plugin that
// throws finds no candidates.
//
// Thread safety: the scheduling thread.
std::optional<PreemptionPreview> RunPreemptionPreview(const Profile& profile, Cycle& cycle,
                                                      const PodInfo& pod, const Snapshot& snapshot,
                                                      const NodeToStatus& statuses);

}  // namespace berth::framework
