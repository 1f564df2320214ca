// SPDX-License-Identifier: Apache-2.0
// Plugins that take part everywhere, for tests. What they answer follows from labels of pods and
// nodes; with args {throwAt: X} they throw at the extension point X.
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/loadable/plugin.hpp"

namespace {

using berth::CycleState;
using berth::NodeView;
using berth::PodView;
using berth::Snapshot;
using berth::Status;

// How many pods were imagined on nodes, on balance.
struct Imagined {
  int64_t pods = 0;

  size_t bytes() const { return 10'000; }
};

class Thrower {
 public:
  explicit Thrower(const berth::ConfigValue& args) {
    berth::FieldReader fields(args);
    fields.Read("throwAt", throw_at_);
    fields.Finish();
    MaybeThrow("Create");
  }

 protected:
  void MaybeThrow(std::string_view point) const {
    if (point == throw_at_) throw std::runtime_error("no " + throw_at_ + " today");
  }

 private:
  std::string throw_at_;
};

class Everywhere final : public Thrower,
                         public berth::EnqueueExtensions,
                         public berth::PreEnqueuePlugin,
                         public berth::QueueSortPlugin,
                         public berth::PreFilterPlugin,
                         public berth::PreFilterExtensions,
                         public berth::ColumnFilterPlugin,
                         public berth::PostFilterPlugin,
                         public berth::PreScorePlugin,
                         public berth::ColumnScorePlugin,
                         public berth::NormalizeScorePlugin,
                         public berth::ReservePlugin,
                         public berth::PermitPlugin,
                         public berth::PreBindPlugin,
                         public berth::BindPlugin,
                         public berth::PostBindPlugin {
 public:
  Everywhere(const berth::ConfigValue& args, berth::Handle handle)
      : Thrower(args),
        handle_(handle),
        gpu_(handle.resource("example.com/gpu")),
        calls_(handle.Counter("calls_total", "Calls.", {"point"})) {}

  // A node helps pods that have the label `wants` when the node's label of that name is there.
  std::vector<berth::ClusterEventWithHint> EventsToRegister() const override {
    MaybeThrow("EventsToRegister");
    return {{BERTH_KIND_NODE, BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_LABEL,
             [this](const PodView& pod, const berth::ObjectView& before,
                    const berth::ObjectView& after) {
               MaybeThrow("Hint");
               if (!after || before.operator bool()) return berth::QueueingHint::kQueueSkip;
               const bool has = after.node()->labels().Find(pod.labels().Get("wants")).has_value();
               return has ? berth::QueueingHint::kQueue : berth::QueueingHint::kQueueSkip;
             }},
            {BERTH_KIND_ASSIGNED_POD, BERTH_ACTION_DELETE}};
  }

  Status PreEnqueue(const PodView& pod) override {
    MaybeThrow("PreEnqueue");
    if (pod.labels().Find("gated")) return Status::UnschedulableAndUnresolvable("gated");
    return Status::Success();
  }

  bool Less(const PodView& a, berth::Time a_time, const PodView& b,
            berth::Time b_time) const override {
    MaybeThrow("Less");
    if (a.priority() != b.priority()) return a.priority() > b.priority();
    return a_time < b_time;
  }

  berth::PreFilterResult PreFilter(CycleState& state, const PodView& pod,
                                   const Snapshot& snapshot) override {
    MaybeThrow("PreFilter");
    calls_.Add(1, {"PreFilter"});
    state.Write(std::make_unique<Imagined>());
    if (pod.labels().Find("skip")) return {Status::Skip()};
    if (const auto only = pod.labels().Find("only")) {
      return {Status::Success(), std::vector<std::string>{std::string(*only), "other"}};
    }
    return {snapshot.num_nodes() == 0 ? Status::Unschedulable("empty") : Status::Success()};
  }
  Status AddPod(CycleState& state, const PodView&, const PodView&, const NodeView&) override {
    MaybeThrow("AddPod");
    ++state.Mutable<Imagined>()->pods;
    return Status::Success();
  }
  Status RemovePod(CycleState& state, const PodView&, const PodView&, const NodeView&) override {
    MaybeThrow("RemovePod");
    --state.Mutable<Imagined>()->pods;
    return Status::Success();
  }

  Status Filter(const CycleState& state, const PodView& pod, const NodeView& node) const override {
    MaybeThrow("Filter");
    const Imagined* imagined = state.Read<Imagined>();
    if (imagined != nullptr && imagined->pods != 0) {
      return Status::Unschedulable("imagined " + std::to_string(imagined->pods));
    }
    const int64_t free = node.allocatable(gpu_) - node.requested(gpu_);
    if (pod.request(gpu_) > free) {
      return Status::Unschedulable(std::string(node.name()) + " lacks GPUs");
    }
    return Status::Success();
  }
  void FilterNodes(const CycleState&, const PodView& pod, const Snapshot& snapshot,
                   berth::NodeSet& nodes) const override {
    MaybeThrow("FilterNodes");
    const berth::Column allocatable = snapshot.allocatable(gpu_);
    const berth::Column requested = snapshot.requested(gpu_);
    nodes.ForEach([&](uint32_t row) {
      if (pod.request(gpu_) > allocatable[row] - requested[row]) nodes.Clear(row);
    });
  }

  // Nominates the first node that eviction may help.
  berth::PostFilterResult PostFilter(CycleState&, const PodView&, const Snapshot& snapshot,
                                     const berth::NodeToStatus& statuses) override {
    MaybeThrow("PostFilter");
    berth::PostFilterResult result{Status::Unschedulable("no node can be helped")};
    snapshot.ForEachNode([&](const NodeView& node) {
      if (result.nominated_node_name) return;
      if (statuses.Get(node.row()) != berth::Code::kUnschedulable) return;
      result = {Status::Success(), std::string(node.name())};
    });
    return result;
  }

  Status PreScore(CycleState&, const PodView& pod, const Snapshot&,
                  const berth::ConstNodeSet& feasible) override {
    MaybeThrow("PreScore");
    size_t count = 0;
    feasible.ForEach([&](uint32_t) { ++count; });
    if (count < 2) return Status::Skip();
    return pod.labels().Find("unscorable") ? Status::Error("unscorable") : Status::Success();
  }
  berth::ScoreResult Score(const CycleState&, const PodView&, const NodeView& node) const override {
    MaybeThrow("Score");
    return {10 * node.allocatable(berth::kCpu) + node.pod_count()};
  }
  void ScoreNodes(const CycleState&, const PodView&, const Snapshot& snapshot, const uint32_t* rows,
                  int64_t* scores, size_t n) const override {
    MaybeThrow("ScoreNodes");
    const berth::Column cpu = snapshot.allocatable(berth::kCpu);
    const berth::Column pods = snapshot.pod_count();
    for (size_t i = 0; i < n; ++i) scores[i] = 10 * cpu[rows[i]] + pods[rows[i]];
  }
  Status NormalizeScore(const CycleState&, const PodView&, const Snapshot&, const uint32_t*,
                        int64_t* scores, size_t n) const override {
    MaybeThrow("NormalizeScore");
    for (size_t i = 0; i < n; ++i) scores[i] = scores[i] > 100 ? 100 : 0;
    return Status::Success();
  }

  Status Reserve(CycleState&, const PodView&, std::string_view node_name) override {
    MaybeThrow("Reserve");
    return node_name == "full" ? Status::Unschedulable("full") : Status::Success();
  }
  void Unreserve(CycleState& state, const PodView& pod, std::string_view) override {
    MaybeThrow("Unreserve");
    calls_.Add(1, {"Unreserve"});
    handle_.RecordEvent(pod, false, "Unreserved", "Scheduling",
                        state.Read<Imagined>() != nullptr ? "with state" : "without state");
  }

  berth::PermitResult Permit(CycleState&, const PodView& pod, std::string_view) override {
    MaybeThrow("Permit");
    if (!pod.labels().Find("waits")) return {};
    return berth::PermitResult::Wait(std::chrono::seconds(7), "told to wait");
  }

  Status PreBindPreFlight(CycleState&, const PodView& pod, std::string_view) override {
    MaybeThrow("PreBindPreFlight");
    return pod.labels().Find("prepared") ? Status::Skip() : Status::Success();
  }
  // Ends when it is cancelled, of a pod with the label `lingers`.
  void PreBind(CycleState state, PodView pod, std::string_view, berth::Async async) override {
    MaybeThrow("PreBind");
    if (!pod.labels().Find("lingers")) {
      async.Done(state.Read<Imagined>() == nullptr ? Status::Error("no state") : Status::Success());
      return;
    }
    lingering_ = std::move(async);
    lingering_.OnCancel([this] { lingering_.Done(Status::Error("cancelled")); });
  }
  void Bind(CycleState, PodView pod, std::string_view, berth::Async async) override {
    MaybeThrow("Bind");
    if (pod.labels().Find("forgotten")) return;
    if (pod.labels().Find("foreign")) {
      async.Done(Status::Skip());
    } else {
      async.BindByDefault();
    }
  }
  void PostBind(CycleState&, const PodView&, std::string_view) override {
    MaybeThrow("PostBind");
    calls_.Add(1, {"PostBind"});
  }

 private:
  berth::Handle handle_;
  berth::ResourceId gpu_;
  mutable berth::Metric calls_;
  berth::Async lingering_{nullptr};
};

// Binds on threads of its own.
class Blocking final : public Thrower,
                       public berth::BlockingPreBindPlugin,
                       public berth::BlockingBindPlugin,
                       public berth::PostBindPlugin {
 public:
  Blocking(const berth::ConfigValue& args, berth::Handle handle)
      : Thrower(args), handle_(handle), bound_(handle.Counter("bound_total", "Bound pods.")) {}

  Status PreBindPreFlight(CycleState&, const PodView&, std::string_view) override {
    return Status::Success();
  }
  Status PreBind(CycleState&, const PodView&, std::string_view,
                 const berth::Cancellation& cancellation) override {
    MaybeThrow("PreBind");
    return cancellation.cancelled() ? Status::Error("cancelled") : Status::Success();
  }
  Status Bind(CycleState&, const PodView& pod, std::string_view,
              const berth::Cancellation&) override {
    MaybeThrow("Bind");
    return Status::Unschedulable(std::string(pod.name()) + " may not");
  }
  void PostBind(CycleState&, const PodView&, std::string_view) override { bound_.Add(); }

 private:
  berth::Handle handle_;
  berth::Metric bound_;
};

// Only scores, and says on what that depends.
class ScoresOnly final : public berth::ScorePlugin {
 public:
  ScoresOnly(const berth::ConfigValue&, berth::Handle) {}
  berth::ScoreResult Score(const CycleState&, const PodView& pod,
                           const NodeView& node) const override {
    return {node.allocatable(berth::kCpu) > pod.request(berth::kCpu) ? 1 : 0};
  }
};

// Rejects each node with all that the host shows of the pod's volumes.
class ShowsVolumes final : public berth::FilterPlugin {
 public:
  ShowsVolumes(const berth::ConfigValue&, berth::Handle handle) : handle_(handle) {}

  Status Filter(const CycleState&, const PodView& pod, const NodeView& node) const override {
    std::string seen;
    const auto add = [&seen](std::string_view text) { seen.append(text).append(" "); };
    pod.ForEachClaim([&](std::string_view name, bool ephemeral) {
      add(ephemeral ? "ephemeral" : "claim");
      add(name);
      handle_.FindObject(BERTH_KIND_PERSISTENT_VOLUME_CLAIM, pod.namespace_(), name,
                         [&](const berth::ObjectView& claim) {
                           add(claim.phase());
                           add(std::to_string(claim.storage()));
                           ShowClass(claim.storage_class(), node, add);
                           ShowVolume(claim.volume_name(), node, add);
                         });
    });
    handle_.ForEachObject(BERTH_KIND_VOLUME_ATTACHMENT, node.name(),
                          [&](const berth::ObjectView& attachment) {
                            add(attachment.driver());
                            add(attachment.volume_name());
                            add(attachment.node_name());
                          });
    return Status::Unschedulable(seen);
  }

 private:
  template <typename Add>
  void ShowClass(std::string_view name, const NodeView& node, Add add) const {
    handle_.FindObject(BERTH_KIND_STORAGE_CLASS, "", name,
                       [&](const berth::ObjectView& storage_class) {
                         add(storage_class.driver());
                         add(storage_class.binding_mode());
                       });
    handle_.ForEachObject(BERTH_KIND_CSI_STORAGE_CAPACITY, name,
                          [&](const berth::ObjectView& capacity) {
                            if (capacity.Reaches(node)) add(std::to_string(capacity.storage()));
                          });
    handle_.ForEachObject(BERTH_KIND_PERSISTENT_VOLUME, name, [&](const berth::ObjectView& volume) {
      if (volume.Reaches(node)) add(volume.name());
    });
  }
  template <typename Add>
  void ShowVolume(std::string_view name, const NodeView& node, Add add) const {
    const bool found = handle_.FindObject(
        BERTH_KIND_PERSISTENT_VOLUME, "", name, [&](const berth::ObjectView& volume) {
          add(volume.driver());
          add(volume.volume_handle());
          add(std::string(volume.claim_namespace()) + "/" + std::string(volume.claim_name()));
          add(volume.Reaches(node) ? "here" : "elsewhere");
        });
    if (!found) add("unbound");
  }

  berth::Handle handle_;
};

berth::PluginOptions Declared() {
  berth::PluginOptions options;
  options.declares_inputs = true;
  options.pod_parts = BERTH_READS_POD_REQUESTS;
  options.reach = BERTH_REACH_NODE;
  return options;
}

}  // namespace

BERTH_PLUGINS("0.9", berth::Define<Everywhere>("Everywhere"), berth::Define<Blocking>("Blocking"),
              berth::Define<ScoresOnly>("ScoresOnly", Declared()),
              berth::Define<ShowsVolumes>("ShowsVolumes"))
