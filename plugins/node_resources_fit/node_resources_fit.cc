// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources_fit/node_resources_fit.h"

#include <algorithm>
#include <array>

#include "berth/cluster_event.h"
#include "plugins/shared/hint_objects.h"
#include "plugins/shared/spend_on_nodes.h"

// Which events may make room for a pod that NodeResourcesFit rejected.

namespace berth::plugins {
namespace {

struct FitHintOptions {
  // How the incoming pod's requests are added up.
  PodRequestsOptions pod;
  // How requests are added up when pods are compared over time.
  PodRequestsOptions placed_pod;
  // Pods whose resize is deferred are queued.
  bool deferred_resizes = false;
};

using api::ResourceList;

// In the units of the scheduler; 0 when the list does not have it.
int64_t AmountOf(const ResourceList& list, std::string_view name) {
  const api::Quantity* amount = api::Find(list, name);
  if (amount == nullptr) return 0;
  return name == "cpu" ? amount->MilliValue() : amount->Value();
}

bool IsCounted(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" ||
         IsScalarResourceName(name);
}

// Whether the node has the resource by devices, if it has it at all.
bool IsOfDevices(const ExtendedResourceClasses& classes, std::string_view name,
                 const ResourceList& allocatable) {
  return IsDeviceResourceName(name) && AmountOf(allocatable, name) <= 0 &&
         classes.Find(name) != nullptr;
}

// On the node without any pod. Ignored resources count here too, as upstream.
bool FitsEmptyNode(const ExtendedResourceClasses& classes, const ResourceList& requests,
                   const api::Node& node) {
  const ResourceList& allocatable = node.status.allocatable;
  if (AmountOf(allocatable, "pods") < 1) return false;
  return std::all_of(requests.begin(), requests.end(), [&](const auto& entry) {
    if (!IsCounted(entry.first)) return true;
    const int64_t amount = AmountOf(requests, entry.first);
    return amount <= 0 || amount <= AmountOf(allocatable, entry.first) ||
           IsOfDevices(classes, entry.first, allocatable);
  });
}

bool AnyRequestedGrew(const ExtendedResourceClasses& classes, const ResourceList& requests,
                      const api::Node& before, const api::Node& after) {
  const auto grew = [&](std::string_view name) {
    return AmountOf(after.status.allocatable, name) > AmountOf(before.status.allocatable, name);
  };
  return grew("pods") || std::any_of(requests.begin(), requests.end(), [&](const auto& entry) {
           return IsCounted(entry.first) && AmountOf(requests, entry.first) != 0 &&
                  (grew(entry.first) ||
                   IsOfDevices(classes, entry.first, after.status.allocatable));
         });
}

// Whether what happens on the node cannot matter to the pod, since it is to be resized on another.
bool IsElsewhere(const FitHintOptions& options, const api::Pod& pod, std::string_view node_name) {
  return options.deferred_resizes && IsResizeDeferred(pod) && pod.spec.node_name != node_name;
}

Result<QueueingHint> AfterPodDelete(const FitHintOptions& options, const api::Pod& pod,
                                    const api::ObjectPtr& old_object,
                                    const api::ObjectPtr& new_object) {
  const auto change = AsChange<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return Fail("the event has no deleted object");
  const api::Pod& deleted = *change->old_object;
  return QueueIf(IsPlaced(deleted) && !IsElsewhere(options, pod, deleted.spec.node_name));
}

Result<QueueingHint> AfterNodeChange(const ExtendedResourceClasses& classes,
                                     const FitHintOptions& options, const api::Pod& pod,
                                     const api::ObjectPtr& old_object,
                                     const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::Node>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (IsElsewhere(options, pod, change->new_object->metadata.name)) return QueueingHint::kQueueSkip;
  const ResourceList requests = PodRequests(pod, options.pod);
  if (!FitsEmptyNode(classes, requests, *change->new_object)) return QueueingHint::kQueueSkip;
  if (change->old_object == nullptr ||
      AnyRequestedGrew(classes, requests, *change->old_object, *change->new_object)) {
    return QueueingHint::kQueue;
  }
  return QueueingHint::kQueueSkip;
}

Result<QueueingHint> AfterClassChange(const api::Pod& pod, const api::ObjectPtr& old_object,
                                      const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::DeviceClass>(old_object, new_object);
  if (!change) return Fail(change.error());
  const ResourceList requests = PodRequests(pod, {});
  const api::DeviceClass& after = *change->new_object;
  const auto& resource = after.spec.extended_resource_name;
  if (change->old_object != nullptr) {
    // The name, and with it the implicit resource, stays.
    if (change->old_object->spec.extended_resource_name.value_or("") == resource.value_or("")) {
      return QueueingHint::kQueueSkip;
    }
  } else if (api::Find(requests, ImplicitResourceOf(after.metadata.name)) != nullptr) {
    return QueueingHint::kQueue;
  }
  return QueueIf(resource && api::Find(requests, *resource) != nullptr);
}

Result<QueueingHint> AfterPodScaleDown(const FitHintOptions& options, const api::Pod& pod,
                                       const api::ObjectPtr& old_object,
                                       const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return Fail("the event has no old object");
  const std::string& node_name = change->new_object->spec.node_name;
  if (node_name.empty() || IsElsewhere(options, pod, node_name)) return QueueingHint::kQueueSkip;
  const ResourceList before = PodRequests(*change->old_object, options.placed_pod);
  const ResourceList after = PodRequests(*change->new_object, options.placed_pod);
  const ResourceList wanted = PodRequests(pod, options.placed_pod);
  const bool freed = std::any_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
    const auto& [name, amount] = entry;
    return !amount.IsZero() && IsCounted(name) && AmountOf(before, name) > AmountOf(after, name);
  });
  return QueueIf(freed);
}

// The room that the pod was waiting to be given may be gone, and others have to make way.
Result<QueueingHint> AfterPodScaleUp(const FitHintOptions& options, const api::Pod& pod,
                                     const api::ObjectPtr& old_object,
                                     const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  return QueueIf(IsResizeDeferred(pod) &&
                 !IsElsewhere(options, pod, change->new_object->spec.node_name));
}

// `classes` must outlive the hints.
std::vector<ClusterEventWithHint> FitEvents(const ExtendedResourceClasses& classes,
                                            const FitHintOptions& options) {
  std::vector<ClusterEventWithHint> events = {
      {{EventResource::kAssignedPod, action::kDelete},
       [options](const api::Pod& pod, const api::ObjectPtr& old_object,
                 const api::ObjectPtr& new_object) {
         return AfterPodDelete(options, pod, old_object, new_object);
       }},
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeAllocatable},
       [&classes, options](const api::Pod& pod, const api::ObjectPtr& old_object,
                           const api::ObjectPtr& new_object) {
         return AfterNodeChange(classes, options, pod, old_object, new_object);
       }},
      {{EventResource::kDeviceClass, action::kAdd | action::kUpdate},
       [](const api::Pod& pod, const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
         return AfterClassChange(pod, old_object, new_object);
       }},
      {{EventResource::kAssignedPod, action::kUpdatePodScaleDown},
       [options](const api::Pod& pod, const api::ObjectPtr& old_object,
                 const api::ObjectPtr& new_object) {
         return AfterPodScaleDown(options, pod, old_object, new_object);
       }},
      {{EventResource::kTargetPod, action::kUpdatePodScaleDown}, nullptr},
  };
  if (!options.deferred_resizes) return events;
  for (const EventResource resource : {EventResource::kAssignedPod, EventResource::kTargetPod}) {
    events.push_back({{resource, action::kUpdatePodScaleUp},
                      [options](const api::Pod& pod, const api::ObjectPtr& old_object,
                                const api::ObjectPtr& new_object) {
                        return AfterPodScaleUp(options, pod, old_object, new_object);
                      }});
  }
  return events;
}

struct NodeChecks {
  std::vector<FitCheck> checks;
  std::shared_ptr<const FitReasons> reasons = nullptr;  // nullptr: made up node by node
};

struct PreFilterState {
  NodeChecks any_node;
  NodeChecks its_node = {};  // of a pod whose resize is deferred

  const NodeChecks& Of(const PodInfo& pod, const NodeView& node) const {
    return pod.resize_deferred && pod.pod->spec.node_name == node.node().metadata.name ? its_node
                                                                                       : any_node;
  }
};

struct PreScoreState {
  std::vector<AllocationTerm> terms;
};

constexpr size_t kWordBits = 64;
constexpr std::string_view kTooManyPods = "Too many pods";
// 2^6 combinations: pods and five resources.
constexpr size_t kMaxTableChecks = 5;
// Workloads ask for few lists of resources; pods that each bring a list of their own must not be
// remembered.
constexpr size_t kMaxLists = 64;

// Bit i: have[i] - used[i] >= amount. What a node has is at least 0, and so is what pods take, so
// that no difference is beyond an int64.
uint64_t RowsThatHave(const int64_t* have, const int64_t* used, size_t count, int64_t amount) {
  uint64_t rows = 0;
  for (size_t i = 0; i < count; ++i) {
    rows |= static_cast<uint64_t>(have[i] - used[i] >= amount) << i;
  }
  return rows;
}

// The values of a column, not one that lists few rows, from a row on; no values read as zeros.
class ColumnReader {
 public:
  explicit ColumnReader(const Column& column) : values_(column.values) {}

  const int64_t* At(size_t row) const {
    static constexpr std::array<int64_t, kWordBits> kZeros{};
    return values_.empty() ? kZeros.data() : values_.data() + row;
  }

 private:
  std::span<const int64_t> values_;
};

struct Comparison {
  ColumnReader have;
  ColumnReader used;
  int64_t amount = 0;
};

// Takes out the rows that fail a check of a resource that few rows offer or take.
void FilterByRareResource(const Column& have, const Column& used, int64_t amount, NodeSet& nodes) {
  const auto fits = [&](NodeRow row) { return have[row] - used[row] >= amount; };
  if (!have.values.empty() || !used.values.empty()) return nodes.Filter(fits);
  // Where nothing is offered nor taken, nothing is left: only rows that either names can pass.
  NodeSet fitting(nodes.size());
  for (const auto& rows : {have.few, used.few}) {
    for (const RowAmount& named : rows) {
      if (fits(named.row)) fitting.Set(named.row);
    }
  }
  nodes &= fitting;
}

bool TooManyPods(const NodeView& node) { return node.pod_count() + 1 > node.allowed_pods(); }

bool IsShort(const FitCheck& check, const NodeView& node) {
  const int64_t have = node.allocatable(check.id);
  return !(check.or_devices && have <= 0) &&
         check.amount > DifferenceSaturated(have, node.requested(check.id));
}

std::string Insufficient(ResourceId id, const ResourceNames& names) {
  return "Insufficient " + std::string(names.Name(id));
}

ReasonSet ReasonsFor(FitFailures failures, std::span<const FitCheck> checks,
                     const ResourceNames& names) {
  ReasonSet reasons;
  if ((failures & 1) != 0) reasons.emplace_back(kTooManyPods);
  for (size_t i = 0; i < checks.size(); ++i) {
    if (((failures >> (i + 1)) & 1) != 0) reasons.push_back(Insufficient(checks[i].id, names));
  }
  return reasons;
}

}  // namespace

NodeResourcesFit::NodeResourcesFit(const NodeResourcesFitArgs& args, Handle& handle)
    : handle_(&handle),
      ignored_resources_(args.ignored_resources.begin(), args.ignored_resources.end()),
      ignored_resource_groups_(args.ignored_resource_groups.begin(),
                               args.ignored_resource_groups.end()),
      reason_memo_(handle.resource_names()),
      classes_(handle.listers()),
      strategy_(args.scoring_strategy.type, args.scoring_strategy.shape),
      scored_(args.scoring_strategy.resources, handle.resource_names()),
      device_counts_(std::make_unique<DeviceCounts>(handle)) {}

bool NodeResourcesFit::IsIgnored(std::string_view resource) const {
  if (ignored_resources_.empty() && ignored_resource_groups_.empty()) return false;
  return IsExtendedResourceName(resource) &&
         (ignored_resources_.contains(resource) ||
          ignored_resource_groups_.contains(resource.substr(0, resource.find('/'))));
}

std::vector<FitCheck> NodeResourcesFit::ChecksFor(const PodInfo& pod) const {
  const Resources& requests = pod.requests;
  std::vector<FitCheck> checks;
  const auto add = [&checks](ResourceId id, int64_t amount, bool or_devices = false) {
    if (amount > 0) checks.push_back({id, amount, or_devices});
  };
  add(kCpu, requests.milli_cpu);
  add(kMemory, requests.memory);
  add(kEphemeralStorage, requests.ephemeral_storage);
  const ResourceNames& names = handle_->resource_names();
  const auto scalars_begin = static_cast<std::ptrdiff_t>(checks.size());
  for (const auto& [id, amount] : requests.scalars) {
    const std::string_view name = names.Name(id);
    if (!IsIgnored(name)) add(id, amount, classes_.Find(name) != nullptr);
  }
  std::sort(
      checks.begin() + scalars_begin, checks.end(),
      [&](const FitCheck& a, const FitCheck& b) { return names.Name(a.id) < names.Name(b.id); });
  return checks;
}

std::vector<FitCheck> NodeResourcesFit::ChecksOnItsNode(const PodInfo& pod) const {
  std::vector<FitCheck> checks = ChecksFor(pod);
  for (FitCheck& check : checks) {
    const int64_t missing = std::max(check.amount - pod.placed.Get(check.id), int64_t{0});
    // As upstream: of a scalar the pod's node could give all of what is missing, or it never will.
    check.total = check.id < kFirstScalar ? check.amount : missing;
    check.amount = missing;
  }
  std::erase_if(
      checks, [](const FitCheck& check) { return check.id >= kFirstScalar && check.amount == 0; });
  return checks;
}

PreFilterResult NodeResourcesFit::PreFilter(CycleState& state, const PodInfo& pod,
                                            const Snapshot&) {
  PreFilterState data{{ChecksFor(pod)}};
  data.any_node.reasons = reason_memo_.Find(data.any_node.checks);
  if (pod.resize_deferred) {
    data.its_node.checks = ChecksOnItsNode(pod);
    data.its_node.reasons = reason_memo_.Find(data.its_node.checks);
  }
  state.Write(std::move(data));
  return {};
}

Status NodeResourcesFit::Filter(const CycleState& state, const PodInfo& pod,
                                const NodeView& node) const {
  const auto data = state.ReadOr<PreFilterState>(
      [&] { return PreFilterState{{ChecksFor(pod)}, {ChecksOnItsNode(pod)}}; });
  const NodeChecks& on_node = data->Of(pod, node);
  if (!SpendOnNodes(state, on_node.checks.size())) return OutOfBudget(state);
  const FitResult result = RunFitChecks(on_node.checks, node);
  if (result.fits) return Status::Success();
  const Code code =
      result.unresolvable ? Code::kUnschedulableAndUnresolvable : Code::kUnschedulable;
  if (on_node.reasons) return Status(code, on_node.reasons->by_failures[result.failures]);
  return state.reasons().Make(code, ReasonsOnNode(on_node.checks, node, handle_->resource_names()));
}

Status NodeResourcesFit::FilterNodes(const CycleState& state, const PodInfo& pod,
                                     const Snapshot& snapshot, NodeSet& nodes) const {
  const auto data = state.ReadOr<PreFilterState>(
      [&] { return PreFilterState{{ChecksFor(pod)}, {ChecksOnItsNode(pod)}}; });
  const std::vector<FitCheck>& checks = data->any_node.checks;
  if (!SpendOnNodes(state, checks.size(), snapshot.num_rows())) return OutOfBudget(state);
  const NodeRow its_row = pod.resize_deferred ? snapshot.FindNode(pod.pod->spec.node_name) : kNoRow;
  const bool asks_its_row = its_row != kNoRow && nodes.Test(its_row);
  FilterByFitChecks(checks, snapshot, nodes);
  if (asks_its_row) {
    nodes.Put(its_row, RunFitChecks(data->its_node.checks, NodeView(snapshot, its_row)).fits);
  }
  return {};
}

// As upstream, the score counts what containers request: no pod-level resources, no status, but
// defaults for containers that request no cpu or memory.
std::vector<int64_t> NodeResourcesFit::AmountsOf(const PodInfo& pod) const {
  const PodRequestsOptions options{
      .use_status = false, .pod_level = false, .pod_level_status = false, .non_missing = true};
  return scored_.PodAmounts(*pod.pod, options);
}

std::vector<AllocationTerm> NodeResourcesFit::TermsFor(const PodInfo& pod) const {
  return scored_.Terms(AmountsOf(pod),
                       [this](std::string_view name) { return device_counts_->Find(name); });
}

Status NodeResourcesFit::PreScore(CycleState& state, const PodInfo& pod, const Snapshot&,
                                  const NodeSet&) {
  state.Write(PreScoreState{TermsFor(pod)});
  return Status::Success();
}

ScoreResult NodeResourcesFit::Score(const CycleState& state, const PodInfo& pod,
                                    const NodeView& node) const {
  const auto data = state.ReadOr<PreScoreState>([&] { return PreScoreState{TermsFor(pod)}; });
  const std::span<const AllocationTerm> terms = data->terms;
  return {strategy_.Score(terms, ViewAllocations(node, terms, NodeAmounts::kNonZeroRequested))};
}

void NodeResourcesFit::ScoreNodes(const CycleState& state, const PodInfo& pod,
                                  const Snapshot& snapshot, std::span<const NodeRow> nodes,
                                  std::span<int64_t> scores) const {
  const auto data = state.ReadOr<PreScoreState>([&] { return PreScoreState{TermsFor(pod)}; });
  const std::span<const AllocationTerm> terms = data->terms;
  ColumnAllocations allocations(snapshot, terms, NodeAmounts::kNonZeroRequested);
  for (size_t i = 0; i < nodes.size(); ++i) {
    allocations.MoveTo(nodes[i]);
    scores[i] = strategy_.Score(terms, allocations);
  }
}

bool NodeResourcesFit::NormalizesByValue(const CycleState& state) const {
  const auto* data = state.Find<PreScoreState>();
  return data != nullptr && !CountsDevices(data->terms);
}

ScoreResult NodeResourcesFit::ScorePlacement(CycleState&, const PodGroupInfo&,
                                             const Snapshot& snapshot,
                                             const PodGroupAssignments& placement) {
  std::vector<int64_t> amounts(scored_.size());
  for (const ProposedAssignment& assignment : placement.assignments) {
    const std::vector<int64_t> of_pod = AmountsOf(*assignment.pod);
    for (size_t i = 0; i < amounts.size(); ++i) amounts[i] = SumSaturated(amounts[i], of_pod[i]);
  }
  const std::vector<AllocationTerm> terms = scored_.Terms(amounts);
  std::vector<NodeAllocation> sums(terms.size());
  ColumnAllocations allocations(snapshot, terms, NodeAmounts::kNonZeroRequested);
  placement.placement->nodes.ForEach([&](NodeRow row) {
    allocations.MoveTo(row);
    for (size_t i = 0; i < terms.size(); ++i) {
      const NodeAllocation node = allocations(i);
      if (node.allocatable == 0) continue;
      sums[i].allocatable = SumSaturated(sums[i].allocatable, node.allocatable);
      sums[i].allocated = SumSaturated(sums[i].allocated, node.allocated);
    }
  });
  return {MostAllocatedScore(terms, [&sums](size_t term) { return sums[term]; })};
}

std::vector<ClusterEventWithHint> NodeResourcesFit::EventsToRegister() const {
  const Features& features = handle_->features();
  return FitEvents(
      classes_,
      {.pod = {.pod_level = features.pod_level_resources},
       .placed_pod = {.use_status = true,
                      .pod_level_status = features.in_place_pod_level_resources_vertical_scaling},
       .deferred_resizes = features.in_place_pod_vertical_scaling_scheduler_preemption});
}

FitResult RunFitChecks(std::span<const FitCheck> checks, const NodeView& node) {
  FitResult result;
  if (TooManyPods(node)) {
    result.fits = false;
    result.failures = 1;
  }
  for (size_t i = 0; i < checks.size(); ++i) {
    if (!IsShort(checks[i], node)) continue;
    result.fits = false;
    const int64_t needed = std::max(checks[i].amount, checks[i].total);
    result.unresolvable = result.unresolvable || needed > node.allocatable(checks[i].id);
    if (i + 1 < kWordBits) result.failures |= FitFailures{1} << (i + 1);
  }
  return result;
}

ReasonSet ReasonsOnNode(std::span<const FitCheck> checks, const NodeView& node,
                        const ResourceNames& names) {
  ReasonSet reasons;
  if (TooManyPods(node)) reasons.emplace_back(kTooManyPods);
  for (const FitCheck& check : checks) {
    if (IsShort(check, node)) reasons.push_back(Insufficient(check.id, names));
  }
  return reasons;
}

void FilterByFitChecks(std::span<const FitCheck> checks, const Snapshot& snapshot, NodeSet& nodes) {
  std::vector<Comparison> comparisons;
  comparisons.reserve(checks.size() + 1);
  comparisons.push_back(
      {ColumnReader(snapshot.allowed_pods()), ColumnReader(snapshot.pod_count()), 1});
  for (const FitCheck& check : checks) {
    const Column have = snapshot.allocatable(check.id);
    const Column used = snapshot.requested(check.id);
    if (check.or_devices) {
      nodes.Filter(
          [&](NodeRow row) { return have[row] <= 0 || have[row] - used[row] >= check.amount; });
      continue;
    }
    if (have.few.empty() && used.few.empty()) {
      comparisons.push_back({ColumnReader(have), ColumnReader(used), check.amount});
    } else {
      FilterByRareResource(have, used, check.amount, nodes);
    }
  }
  const std::span<uint64_t> words = nodes.words();
  for (size_t w = 0; w < words.size(); ++w) {
    uint64_t kept = words[w];
    const size_t row = w * kWordBits;
    const size_t count = std::min(kWordBits, nodes.size() - row);
    for (size_t i = 0; kept != 0 && i < comparisons.size(); ++i) {
      const Comparison& comparison = comparisons[i];
      kept &=
          RowsThatHave(comparison.have.At(row), comparison.used.At(row), count, comparison.amount);
    }
    words[w] = kept;
  }
}

std::shared_ptr<const FitReasons> FitReasonMemo::Find(std::span<const FitCheck> checks) {
  if (checks.size() > kMaxTableChecks) return nullptr;
  std::vector<ResourceId> ids;
  ids.reserve(checks.size());
  for (const FitCheck& check : checks) ids.push_back(check.id);
  if (const auto known = tables_.find(ids); known != tables_.end()) return known->second;
  if (tables_.size() >= kMaxLists) tables_.clear();
  auto made = std::make_shared<FitReasons>();
  const FitFailures combinations = FitFailures{1} << (checks.size() + 1);
  made->by_failures.reserve(combinations);
  made->by_failures.push_back(nullptr);  // nothing failed
  for (FitFailures failures = 1; failures < combinations; ++failures) {
    made->by_failures.push_back(made->table.Intern(ReasonsFor(failures, checks, *names_)));
  }
  tables_.emplace(std::move(ids), made);
  return made;
}

}  // namespace berth::plugins
