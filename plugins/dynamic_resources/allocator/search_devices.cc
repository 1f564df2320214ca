// SPDX-License-Identifier: Apache-2.0
// What a Search asks about one device, and what taking it changes.

#include <algorithm>

#include "plugins/dynamic_resources/allocator/search.h"
#include "plugins/dynamic_resources/allocator/shortage.h"

namespace berth::plugins::dra {
namespace {

using api::Quantity;

constexpr std::string_view kOptionalNodeOperations = "DRAOptionalNodeOperations";

std::string IdOf(const ViewedDevice& viewed) {
  return viewed.slice->pool->Id() + "/" + viewed.device().name;
}

}  // namespace

bool Search::IsTakenBy(uint32_t device, size_t claim) const {
  for (auto taken = taken_.rbegin(); taken != taken_.rend() && taken->claim == claim; ++taken)
    if (taken->place.device == device && !taken->is_share) return true;
  return false;
}

bool Search::IsAvailable(const RequestToAllocate& request, const ViewedDevice& viewed,
                         uint32_t device, size_t claim) const {
  if (request.admin_access) return !IsTakenBy(device, claim);
  return num_taken_[device] == 0 && !inventory_.is_held_whole(viewed.row);
}

bool Search::AllowsMany(const api::Device& device) const {
  return features_.consumable_capacity && device.allow_multiple_allocations.value_or(false);
}

AnswerColumn& Search::ColumnOf(const ViewedDevice& viewed,
                               const std::shared_ptr<Expression>& expression) {
  auto& column = viewed.slice->answers[expression.get()];
  if (column == nullptr)
    column = std::make_unique<AnswerColumn>(expression, viewed.slice->devices.size());
  return *column;
}

bool Search::IsSelectable(size_t claim, size_t request_index, const ViewedDevice& viewed) {
  const api::Device& device = viewed.device();
  if (!features_.device_binding_and_status && !device.binding_conditions.empty()) return false;
  const RequestToAllocate& request = claims_->requests[request_index];
  RequestOnNode& on_node = requests_[request_index];
  if (on_node.slice != viewed.slice) {
    on_node.slice = viewed.slice;
    on_node.columns.clear();
    for (const RequestToAllocate::Selector& selector : request.selectors)
      on_node.columns.push_back(&ColumnOf(viewed, selector.expression));
  }
  for (size_t i = 0; i < on_node.columns.size(); ++i) {
    AnswerColumn& column = *on_node.columns[i];
    if (column.answer(viewed.index) == AnswerColumn::Answer::kUnknown) {
      SelectorAnswer answer =
          expressions_.Matches(request.selectors[i].expression->text,
                               {viewed.slice->spec().driver, device, !features_.UsesStable()});
      if (answer.kind == SelectorAnswer::Kind::kOutOfBudget) return StopForBudget();
      const uint64_t cost = answer.cost;
      column.Set(viewed.index, std::move(answer));
      if (!Step(cost / kCelCostPerStep)) return false;
    }
    switch (column.answer(viewed.index)) {
      case AnswerColumn::Answer::kYes:
        continue;
      case AnswerColumn::Answer::kCompileError:
      case AnswerColumn::Answer::kRuntimeError:
        return FailSelector(claim, request, i, viewed);
      default:
        return false;
    }
  }
  if (!viewed.slice->each_device_chooses()) return true;
  if (!Step()) return false;
  if (const std::string problem = viewed.nodes().Problem(); !problem.empty()) return Fail(problem);
  return viewed.nodes().Matches(*node_);
}

bool Search::FailSelector(size_t claim, const RequestToAllocate& request, size_t selector_index,
                          const ViewedDevice& viewed) {
  const RequestToAllocate::Selector& selector = request.selectors[selector_index];
  const AnswerColumn& column = ColumnOf(viewed, selector.expression);
  const std::string where =
      (selector.of_class ? "class " + request.class_name : "claim " + claims_->claims[claim].key) +
      ": selector #" + std::to_string(selector.number);
  if (column.answer(viewed.index) == AnswerColumn::Answer::kCompileError)
    return Fail(where + ": CEL compile error: " + column.error(viewed.index));
  return Fail(where + " on device " + IdOf(viewed) +
              ": CEL runtime error: " + column.error(viewed.index));
}

bool Search::CouldHaveCapacity(const RequestToAllocate& request, const ViewedDevice& viewed) {
  const api::Device& device = viewed.device();
  ResolveDemand(request.capacity, device, features_.fractional_capacity_range, demand_);
  if (demand_.kind != CapacityDemand::Kind::kFits) return false;
  for (size_t i = 0; i < demand_.amounts.size(); ++i)
    if (demand_.amounts[i] > device.capacity[i].second.value) return false;
  return true;
}

bool Search::HasCapacity(const Position& at, const ViewedDevice& viewed, uint32_t device_index,
                         std::string_view doing) {
  if (!features_.consumable_capacity) return true;
  const RequestToAllocate& request = claims_->requests[RequestAt(at)];
  const api::Device& device = viewed.device();
  if (device.capacity.empty() && request.capacity == nullptr) {
    demand_.amounts.clear();
    return true;
  }
  if (!CouldHaveCapacity(request, viewed)) {
    if (demand_.kind != CapacityDemand::Kind::kError) return false;
    return Fail("claim " + claims_->claims[at.claim].key + ", request " + request.name + ": " +
                std::string(doing) + " capacity for device " + IdOf(viewed) + ": " + demand_.error);
  }
  const bool is_shared = inventory_.is_shared(viewed.row);
  if (!is_shared && last_share_[device_index] == kNoShare) return true;
  for (size_t i = 0; i < demand_.amounts.size(); ++i) {
    const auto& [name, capacity] = device.capacity[i];
    Quantity::Nanos amount = demand_.amounts[i].nanos();
    if (is_shared) amount += inventory_.consumed(viewed.row, name);
    for (int32_t share = last_share_[device_index]; share != kNoShare;) {
      const Taken& taken = taken_[static_cast<size_t>(share)];
      amount += amounts_[taken.amounts_begin + i].nanos();
      share = taken.share_before;
    }
    if (amount > capacity.value.nanos()) return false;
  }
  return true;
}

bool Search::TakeOneOfAll(const Position& at, Place place) {
  const RequestToAllocate& request = claims_->requests[RequestAt(at)];
  const ViewedDevice& viewed = DeviceAt(place);
  const bool is_available = request.admin_access && AllowsMany(viewed.device())
                                ? true
                                : IsAvailable(request, viewed, place.device, at.claim);
  return is_available && Take(at, place, viewed, true);
}

bool Search::Take(const Position& at, Place place, const ViewedDevice& viewed, bool must) {
  const size_t request_index = RequestAt(at);
  const RequestToAllocate& request = claims_->requests[request_index];
  const api::Device& device = viewed.device();
  const bool is_share = AllowsMany(device);
  if (!device.consumes_counters.empty() && !features_.partitionable_devices) return false;
  if (features_.UsesExperimental() && !viewed.slice->spec().skip_node_operations.empty() &&
      !CanSkipNodeOperations()) {
    return false;
  }
  if (features_.device_taints && !ToleratesTaints(request, device)) return false;

  Taken taken{.claim = at.claim, .request = request_index, .place = place, .is_share = is_share};
  // Those who share a device share the counters that it takes.
  const bool counted =
      is_share && (inventory_.is_shared(viewed.row) || last_share_[place.device] != kNoShare);
  if (!device.consumes_counters.empty() && !counted) {
    if (!JoinGroups(place.pool, viewed, taken.num_groups)) return false;
    if (!TakeCounters(place.pool, viewed)) {
      LeaveGroups(taken.num_groups);
      return false;
    }
    taken.took_counters = true;
  }
  const bool fits = MeetsConstraints(at, viewed, must, taken.num_constraints) &&
                    (!must || HasCapacity(at, viewed, place.device, "rechecking"));
  if (!fits) {
    RemoveConstraints(request_index, taken.num_constraints);
    if (taken.took_counters) ReturnCounters(place.pool, viewed);
    LeaveGroups(taken.num_groups);
    return false;
  }
  if (is_share) {
    taken.share_before = last_share_[place.device];
    taken.amounts_begin = amounts_.size();
    amounts_.insert(amounts_.end(), demand_.amounts.begin(), demand_.amounts.end());
    last_share_[place.device] = static_cast<int32_t>(taken_.size());
  } else {
    ++num_taken_[place.device];
  }
  ++num_results_[at.claim];
  taken_.push_back(taken);
  return true;
}

void Search::PutBack() {
  const Taken& taken = taken_.back();
  if (taken.is_share) {
    last_share_[taken.place.device] = taken.share_before;
    amounts_.resize(taken.amounts_begin);
  } else {
    --num_taken_[taken.place.device];
  }
  --num_results_[taken.claim];
  RemoveConstraints(taken.request, taken.num_constraints);
  if (taken.took_counters) ReturnCounters(taken.place.pool, DeviceAt(taken.place));
  LeaveGroups(taken.num_groups);
  taken_.pop_back();
}

bool Search::CanSkipNodeOperations() const {
  const auto& declared = node_->status.declared_features;
  return features_.optional_node_operations &&
         std::find(declared.begin(), declared.end(), kOptionalNodeOperations) != declared.end();
}

bool Search::MeetsConstraints(const Position& at, const ViewedDevice& viewed, bool must,
                              size_t& num_constraints) {
  const RequestToAllocate& request = claims_->requests[RequestAt(at)];
  for (const RequestToAllocate::Constraint& constraint : request.constraints) {
    const api::DeviceAttribute* attribute = nullptr;
    if (!FindAttributeOf(constraint, viewed, attribute)) return false;
    if (!constraints_[constraint.constraint].Add(attribute)) {
      // A claim for all devices whose constraint not all of them can meet makes no sense.
      return must && Fail("claim " + claims_->claims[at.claim].key + ", request " + request.name +
                          ": cannot add device " + IdOf(viewed) +
                          " because a claim constraint would not be satisfied");
    }
    ++num_constraints;
  }
  return true;
}

bool Search::FindAttributeOf(const RequestToAllocate::Constraint& constraint,
                             const ViewedDevice& viewed, const api::DeviceAttribute*& attribute) {
  const std::string& name = claims_->constraints[constraint.constraint].attribute;
  const std::string& driver = viewed.slice->spec().driver;
  if (constraint.derived == nullptr) {
    attribute = FindAttribute(viewed.device(), driver, name);
    return true;
  }
  AnswerColumn& column = ColumnOf(viewed, constraint.derived);
  const DerivedAttribute* derived = column.derived(viewed.index);
  if (derived == nullptr) {
    DerivedAttribute made =
        expressions_.Derive(constraint.derived->text, {driver, viewed.device()});
    if (made.kind == DerivedAttribute::Kind::kOutOfBudget) return StopForBudget();
    derived = &column.Set(viewed.index, std::move(made));
    if (!Step(derived->cost / kCelCostPerStep)) return false;
  }
  switch (derived->kind) {
    case DerivedAttribute::Kind::kCompileError:
      return Fail("compile derived attribute " + name + " failed: " + derived->error);
    case DerivedAttribute::Kind::kRuntimeError:
      return Fail("evaluate derived attribute " + name + " on device " + IdOf(viewed) +
                  " failed: " + derived->error);
    case DerivedAttribute::Kind::kValue:
    case DerivedAttribute::Kind::kOutOfBudget:
      break;
  }
  attribute = derived->value ? &*derived->value : nullptr;
  return true;
}

void Search::RemoveConstraints(size_t request, size_t num_constraints) {
  const auto& constraints = claims_->requests[request].constraints;
  for (size_t i = num_constraints; i-- > 0;) constraints_[constraints[i].constraint].Remove();
}

bool Search::JoinGroups(uint32_t pool, const ViewedDevice& viewed, size_t& num_groups) {
  if (!features_.compatibility_groups) return true;
  const PoolView& view = *pools_->pools[pool];
  const auto& held = view.counters()->HeldGroups(inventory_, view.pool().held_version);
  for (const api::DeviceCounterConsumption& consumption : viewed.device().consumes_counters) {
    const auto [entry, is_new] = groups_[pool].try_emplace(consumption.counter_set);
    if (const auto found = held.find(consumption.counter_set); is_new && found != held.end())
      entry->second = found->second;
    SavedGroups& saved = saved_groups_.emplace_back(pool, consumption.counter_set);
    if (!is_new) saved.before = entry->second;
    ++num_groups;
    if (!entry->second.Admits(consumption.compatibility_groups)) {
      LeaveGroups(num_groups);
      num_groups = 0;
      return false;
    }
    entry->second.Add(consumption.compatibility_groups);
  }
  return true;
}

void Search::LeaveGroups(size_t num_groups) {
  for (; num_groups > 0; --num_groups) {
    SavedGroups& saved = saved_groups_.back();
    if (saved.before) {
      groups_[saved.pool][saved.set] = *std::move(saved.before);
    } else {
      groups_[saved.pool].erase(saved.set);
    }
    saved_groups_.pop_back();
  }
}

bool Search::TakeCounters(uint32_t pool, const ViewedDevice& viewed) {
  const PoolView& view = *pools_->pools[pool];
  PoolCounters& counters = *view.counters();
  const auto available = counters.Available(inventory_, view.pool().held_version);
  // All of the pool's counters must hold; those that nothing is taken of hold unless overdrawn.
  if (counters.overdrawn()) return false;
  std::vector<Quantity::Nanos>& taken = counters_[pool];
  if (taken.empty()) taken.assign(counters.size(), 0);
  bool enough = true;
  for (const CounterUse& use : view.uses(viewed)) {
    taken[use.counter] += use.amount;
    enough &= taken[use.counter] <= available[use.counter];
  }
  if (!enough) ReturnCounters(pool, viewed);
  return enough;
}

void Search::ReturnCounters(uint32_t pool, const ViewedDevice& viewed) {
  for (const CounterUse& use : pools_->pools[pool]->uses(viewed))
    counters_[pool][use.counter] -= use.amount;
}

}  // namespace berth::plugins::dra
