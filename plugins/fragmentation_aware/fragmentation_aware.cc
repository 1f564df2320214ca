// SPDX-License-Identifier: Apache-2.0
#include "plugins/fragmentation_aware/fragmentation_aware.h"

#include <algorithm>
#include <set>
#include <utility>

#include "berth/saturating.h"
#include "plugins/fragmentation_aware/expected_use.h"

namespace berth::plugins {
namespace {

// What one unit is of a resource: a core, 4 GiB, or a piece.
constexpr int64_t kCore = 1'000;
constexpr int64_t kMemoryUnit = int64_t{4} << 30;
// For more nodes at once than that, indexes are asked instead of nodes.
constexpr size_t kFewRows = 16;
// Of one pod: more requests of devices are passed over, as each costs a look at each node.
constexpr size_t kMaxDeviceRequests = 64;
// About 16 MiB.
constexpr size_t kMaxKnownScores = size_t{1} << 20;

struct FragmentationState {
  Demand demand;
};

double UnitOf(std::string_view name) {
  if (name == "cpu") return static_cast<double>(kCore);
  if (name == "memory" || name == "ephemeral-storage") return static_cast<double>(kMemoryUnit);
  return 1;
}

int64_t AmountOf(std::string_view name, const api::Quantity& amount) {
  return name == "cpu" ? amount.MilliValue() : amount.Value();
}

// The scalar resources that the args name, in order of name; without a mix also cpu and memory,
// by which pods are kept apart.
std::vector<std::string> ResourcesOf(const FragmentationAwareArgs& args) {
  std::set<std::string> names;
  if (args.mix.empty()) names = {"cpu", "memory"};
  for (const ResourceSpec& resource : args.resources) {
    if (DeviceClassOf(resource.name).empty()) names.insert(resource.name);
  }
  for (const ShapeSpec& shape : args.mix) {
    for (const auto& [name, amount] : shape.requests) names.insert(name);
  }
  return {names.begin(), names.end()};
}

template <typename List>
size_t PlaceIn(const List& list, std::string_view name) {
  return static_cast<size_t>(std::ranges::find(list, name) - list.begin());
}

std::shared_ptr<const api::Pod> PodWith(
    const std::vector<api::NodeSelectorRequirement>& expressions) {
  if (expressions.empty()) return nullptr;
  auto pod = std::make_shared<api::Pod>();
  api::Affinity affinity;
  api::NodeSelector& required = affinity.node_affinity.emplace()
                                    .required_during_scheduling_ignored_during_execution.emplace();
  required.node_selector_terms.emplace_back().match_expressions = expressions;
  pod->spec.affinity = std::move(affinity);
  return pod;
}

// The demand as a key; devices differ from amounts by the number of these, which never changes.
std::vector<int64_t> KeyOf(const Demand& demand) {
  std::vector<int64_t> key = demand.amounts;
  for (const DeviceDemand& devices : demand.devices) {
    key.push_back(static_cast<int64_t>(devices.device_class));
    key.push_back(devices.count);
    key.push_back(devices.share);
  }
  return key;
}

// The claim's name; nullptr: none is known.
const std::string* NameOfClaim(const api::Pod& pod, const api::PodResourceClaim& entry) {
  if (entry.resource_claim_name) return &*entry.resource_claim_name;
  for (const api::PodResourceClaimStatus& status : pod.status.resource_claim_statuses) {
    if (status.name != entry.name) continue;
    return status.resource_claim_name ? &*status.resource_claim_name : nullptr;
  }
  return nullptr;
}

}  // namespace

FragmentationAware::FragmentationAware(const FragmentationAwareArgs& args, Handle& handle)
    : handle_(handle),
      learns_(args.mix.empty()),
      measure_kind_(args.measure),
      names_(ResourcesOf(args)),
      devices_(std::make_unique<DeviceShares>(handle, DeviceClassesOf(args))) {
  for (const std::string& name : names_) ids_.push_back(handle.resource_names().Intern(name));
  for (const ResourceSpec& resource : args.resources) {
    const auto weight = static_cast<double>(resource.weight);
    total_weight_ += weight;
    const std::string device_class = DeviceClassOf(resource.name);
    if (device_class.empty()) {
      counted_.push_back({false, PlaceIn(names_, resource.name), weight / UnitOf(resource.name)});
    } else {
      counted_.push_back({true, PlaceIn(devices_->classes(), device_class),
                          weight / static_cast<double>(kWholeDevice)});
    }
  }
  std::vector<Shape> shapes;
  std::vector<std::shared_ptr<const api::Pod>> pods;
  for (const ShapeSpec& shape : args.mix) {
    shapes.push_back({.weight = static_cast<double>(shape.weight), .demand = DemandOf(shape)});
    pods.push_back(PodWith(shape.match_expressions));
  }
  Expect(std::move(shapes), pods);
}

Demand FragmentationAware::DemandOf(const ShapeSpec& shape) const {
  Demand demand;
  demand.amounts.assign(names_.size(), 0);
  for (const auto& [name, amount] : shape.requests) {
    demand.amounts[PlaceIn(names_, name)] = AmountOf(name, amount);
  }
  for (const ShapeDevices& devices : shape.devices) {
    const api::Quantity::Nanos share = devices.share.nanos() * kWholeDevice / 1'000'000'000;
    demand.devices.push_back(
        {.device_class = PlaceIn(devices_->classes(), devices.device_class_name),
         .count = devices.count,
         .share = std::max<int64_t>(static_cast<int64_t>(share), 1)});
  }
  return demand;
}

void FragmentationAware::Expect(std::vector<Shape> shapes,
                                std::span<const std::shared_ptr<const api::Pod>> pods) {
  affinities_.clear();
  expects_ = !shapes.empty();
  known_scores_.clear();
  num_known_scores_ = 0;
  if (measure_kind_ == FragmentationMeasure::kExpectedUse) {
    measure_ = std::make_unique<ExpectedUse>(shapes, counted_, total_weight_, names_.size());
    return;
  }
  std::vector<std::string> keys;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (pods[i] == nullptr) continue;
    std::string key = NodeAffinityKey(*pods[i]);
    shapes[i].affinity = PlaceIn(keys, key);
    if (shapes[i].affinity < keys.size()) continue;
    keys.push_back(std::move(key));
    affinities_.push_back(RequiredNodeAffinity::Make(*pods[i]));
  }
  measure_ = std::make_unique<Fragmentation>(std::move(shapes), counted_, total_weight_);
}

// Claims are shown, and released, without any change to a pod or a node, and what was seen belongs
// to no node: then each pod is asked about.
Inputs FragmentationAware::DeclaredInputs() const {
  if (learns_ || !devices_->classes().empty()) return Inputs::EachPod();
  return Inputs::Of(pod_part::kRequests, {{Reach::kNode}, {Reach::kUsage}});
}

Demand FragmentationAware::DemandOf(const PodInfo& pod) const {
  Demand demand;
  demand.amounts.reserve(ids_.size());
  for (const ResourceId id : ids_) demand.amounts.push_back(pod.requests.Get(id));
  if (devices_->classes().empty()) return demand;
  devices_->Update();
  for (const api::PodResourceClaim& entry : pod.pod->spec.resource_claims) {
    const std::string* name = NameOfClaim(*pod.pod, entry);
    if (name == nullptr) continue;
    const ClaimPtr claim = handle_.claims().Find(pod.pod->metadata.namespace_, *name);
    if (claim == nullptr || claim->status.allocation ||
        handle_.claims().FindPending(claim->metadata.uid) != nullptr) {
      continue;
    }
    AddDevices(*claim, demand);
  }
  return demand;
}

// What cannot be counted beforehand is left out: alternatives, all devices that match, those that
// the claim selects by expressions of its own, and access for administrators.
void FragmentationAware::AddDevices(const api::ResourceClaim& claim, Demand& demand) const {
  for (const api::DeviceRequest& request : claim.spec.devices.requests) {
    if (demand.devices.size() == kMaxDeviceRequests) return;
    if (!request.exactly) continue;
    const api::ExactDeviceRequest& exactly = *request.exactly;
    const size_t device_class = PlaceIn(devices_->classes(), exactly.device_class_name);
    if (device_class == devices_->classes().size() || !exactly.selectors.empty() ||
        exactly.admin_access.value_or(false) ||
        !(exactly.allocation_mode.empty() || exactly.allocation_mode == "ExactCount")) {
      continue;
    }
    const int64_t share = exactly.capacity
                              ? devices_->ShareOf(device_class, exactly.capacity->requests)
                              : kWholeDevice;
    demand.devices.push_back({.device_class = device_class,
                              .count = std::max<int64_t>(exactly.count, 1),
                              .share = share});
  }
}

Status FragmentationAware::PreScore(CycleState& state, const PodInfo& pod, const Snapshot&,
                                    const NodeSet&) {
  if (!expects_) return Status::Skip();
  state.Write(FragmentationState{DemandOf(pod)});
  return Status::Success();
}

void FragmentationAware::FillDevices(const api::Node& node, NodeLeft& left) const {
  const std::span<const DeviceLeft> devices = devices_->On(node.metadata.name);
  left.devices.assign(devices.begin(), devices.end());
}

ScoreResult FragmentationAware::Score(const CycleState& state, const PodInfo& pod,
                                      const NodeView& node) const {
  const auto data =
      state.ReadOr<FragmentationState>([&] { return FragmentationState{DemandOf(pod)}; });
  NodeLeft left;
  for (const ResourceId id : ids_) {
    left.amounts.push_back(std::max<int64_t>(node.allocatable(id) - node.requested(id), 0));
  }
  FillDevices(node.node(), left);
  for (size_t i = 0; i < affinities_.size(); ++i) {
    left.admits[i] = affinities_[i].Matches(node.node());
  }
  return {measure_->Score(data->demand, left)};
}

void FragmentationAware::FindAdmitted(const Snapshot& snapshot) const {
  admitted_.resize(affinities_.size());
  for (size_t i = 0; i < affinities_.size(); ++i) {
    admitted_[i] = snapshot.nodes();
    affinities_[i].FilterNodes(snapshot, admitted_[i]);
  }
}

void FragmentationAware::ScoreNodes(const CycleState& state, const PodInfo& pod,
                                    const Snapshot& snapshot, std::span<const NodeRow> nodes,
                                    std::span<int64_t> scores) const {
  const auto data =
      state.ReadOr<FragmentationState>([&] { return FragmentationState{DemandOf(pod)}; });
  const bool many = nodes.size() > kFewRows;
  if (many) FindAdmitted(snapshot);
  std::vector<std::pair<Column, Column>> columns;
  columns.reserve(ids_.size());
  for (const ResourceId id : ids_) {
    columns.emplace_back(snapshot.allocatable(id), snapshot.requested(id));
  }
  // Elsewhere the engine keeps them.
  std::vector<KnownScore>* known =
      devices_->classes().empty() ? nullptr : &KnownScores(data->demand, snapshot.num_rows());
  left_.amounts.resize(ids_.size());
  left_.admits.reset();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeRow row = nodes[i];
    for (size_t r = 0; r < columns.size(); ++r) {
      left_.amounts[r] = std::max<int64_t>(columns[r].first[row] - columns[r].second[row], 0);
    }
    if (known != nullptr) FillDevices(snapshot.node(row), left_);
    for (size_t a = 0; a < affinities_.size(); ++a) {
      left_.admits[a] = many ? admitted_[a].Test(row) : affinities_[a].Matches(snapshot.node(row));
    }
    scores[i] = known == nullptr ? measure_->Score(data->demand, left_)
                                 : ScoreOnRow(data->demand, *known, row);
  }
}

std::vector<FragmentationAware::KnownScore>& FragmentationAware::KnownScores(const Demand& demand,
                                                                             size_t rows) const {
  known_left_.resize(std::max(known_left_.size(), rows));
  std::vector<int64_t> key = KeyOf(demand);
  if (const auto found = known_scores_.find(key); found != known_scores_.end()) {
    num_known_scores_ += rows - std::min(rows, found->second.size());
    found->second.resize(std::max(rows, found->second.size()));
    return found->second;
  }
  if (num_known_scores_ + rows > kMaxKnownScores) {
    known_scores_.clear();
    num_known_scores_ = 0;
  }
  num_known_scores_ += rows;
  return known_scores_.emplace(std::move(key), std::vector<KnownScore>(rows)).first->second;
}

int64_t FragmentationAware::ScoreOnRow(const Demand& demand, std::vector<KnownScore>& known,
                                       NodeRow row) const {
  KnownLeft& left = known_left_[row];
  if (left.number == 0 || left.left != left_) {
    left.left = left_;
    left.number = ++last_number_;
  }
  KnownScore& score = known[row];
  if (score.left != left.number) score = {left.number, measure_->Score(demand, left_)};
  return score.score;
}

size_t FragmentationAware::kept_bytes() const {
  size_t bytes = devices_->kept_bytes() + seen_.kept_bytes() + measure_->kept_bytes() +
                 num_known_scores_ * sizeof(KnownScore) + known_left_.size() * sizeof(KnownLeft);
  for (const KnownLeft& known : known_left_) {
    bytes += known.left.amounts.capacity() * sizeof(int64_t) +
             known.left.devices.capacity() * sizeof(DeviceLeft);
  }
  return bytes;
}

PreFilterResult LearningFragmentationAware::PreFilter(CycleState&, const PodInfo& pod,
                                                      const Snapshot&) {
  if (!seen_.See(pod.pod, DemandOf(pod))) return {Status::Skip()};
  std::vector<Shape> shapes;
  std::vector<std::shared_ptr<const api::Pod>> pods;
  for (const SeenPods::Kind* kind : seen_.Mix()) {
    shapes.push_back({.weight = static_cast<double>(kind->pods), .demand = kind->demand});
    pods.push_back(kind->example);
  }
  Expect(std::move(shapes), pods);
  return {Status::Skip()};
}

}  // namespace berth::plugins
