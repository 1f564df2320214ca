// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/claim_binding.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "berth/field_errors.h"
#include "plugins/dynamic_resources/device_claims.h"

namespace berth::plugins {
namespace {

const api::AllocatedDeviceStatus* StatusOf(const api::ResourceClaim& claim,
                                           const api::DeviceRequestAllocationResult& result) {
  const auto& devices = claim.status.devices;
  const auto found = std::ranges::find_if(devices, [&](const api::AllocatedDeviceStatus& status) {
    return status.device == result.device && status.driver == result.driver &&
           status.pool == result.pool;
  });
  return found == devices.end() ? nullptr : &*found;
}

const api::Condition* TrueCondition(const api::AllocatedDeviceStatus& status,
                                    const std::string& type) {
  const auto found = std::ranges::find(status.conditions, type, &api::Condition::type);
  return found == status.conditions.end() || found->status != "True" ? nullptr : &*found;
}

using Outcome = ClaimAnswer::Outcome;

// How long a claim that was made may take to be shown, as in kube-scheduler.
constexpr Duration kLongestUnshown = std::chrono::seconds(120);
// How often kube-scheduler looks whether a claim's time for its conditions is over.
constexpr Duration kLookPeriod = std::chrono::seconds(5);
// How often it is asked for whether a reservation has been taken out of its claim.
constexpr Duration kRemovalPeriod = std::chrono::milliseconds(200);
// Between two reads of a claim whose write got no answer, at most.
constexpr Duration kLongestPause = std::chrono::seconds(10);
constexpr std::string_view kTimedOut = "device binding timeout";

bool IsReservedFor(const api::ResourceClaim& claim,
                   const api::ResourceClaimConsumerReference& consumer) {
  return std::ranges::find(claim.status.reserved_for, consumer.uid,
                           &api::ResourceClaimConsumerReference::uid) !=
         claim.status.reserved_for.end();
}

// Whether two allocations have the same devices. The API server may write other parts in its own
// way, such as drivers' parameters.
bool HasSameDevices(const api::AllocationResult& a, const api::AllocationResult& b) {
  return std::ranges::equal(a.devices.results, b.devices.results, [](const auto& x, const auto& y) {
    return x.request == y.request && x.driver == y.driver && x.pool == y.pool &&
           x.device == y.device && x.share_id == y.share_id;
  });
}

// A claim that was made for the pod's extended resources has a name by now.
void NameMadeClaim(const ReservedClaims& reserved, NodeAllocatableClaims& of_node) {
  for (const ReservedClaims::Claim& made : reserved.claims) {
    if (!made.extended) continue;
    for (api::NodeAllocatableResourceClaimStatus& status : of_node.statuses) {
      if (status.resource_claim_name == kMadeUpName) {
        status.resource_claim_name = made.claim->metadata.name;
      }
    }
  }
}

}  // namespace

bool HasBindingConditions(const api::AllocationResult& allocation) {
  return std::ranges::any_of(allocation.devices.results,
                             [](const auto& result) { return !result.binding_conditions.empty(); });
}

Result<bool> IsReadyForBinding(const api::ResourceClaim& claim) {
  if (!claim.status.allocation) return false;
  for (const auto& result : claim.status.allocation->devices.results) {
    if (result.binding_conditions.empty()) continue;
    const api::AllocatedDeviceStatus* status = StatusOf(claim, result);
    if (status == nullptr) return false;
    for (const std::string& type : result.binding_failure_conditions) {
      if (const api::Condition* failed = TrueCondition(*status, type)) {
        std::string text(kBindingFailed);
        text.append(": claim=").append(claim.metadata.name).append(", reason=");
        text.append(failed->reason).append(", message=").append(Quoted(failed->message));
        return Fail(std::move(text));
      }
    }
    for (const std::string& type : result.binding_conditions) {
      if (TrueCondition(*status, type) == nullptr) return false;
    }
  }
  return true;
}

bool IsBindingTimedOut(const api::ResourceClaim& claim, Duration timeout, Time now) {
  if (!claim.status.allocation || !claim.status.allocation->allocation_timestamp) return false;
  return HasBindingConditions(*claim.status.allocation) &&
         *claim.status.allocation->allocation_timestamp + timeout < now;
}

ClaimBinding::ClaimBinding(std::shared_ptr<ReservedClaims> reserved, NodeAllocatableClaims* of_node,
                           std::shared_ptr<const api::Pod> pod, std::string node_name,
                           Duration binding_timeout, Handle& handle,
                           std::shared_ptr<ClaimTurns> turns, Cancellation& cancellation,
                           AsyncDone done)
    : reserved_(std::move(reserved)),
      of_node_(of_node),
      pod_(std::move(pod)),
      node_name_(std::move(node_name)),
      binding_timeout_(binding_timeout),
      handle_(handle),
      turns_(std::move(turns)),
      cancellation_(cancellation),
      done_(std::move(done)) {}

void ClaimBinding::Next() {
  const GroupReservations groups = handle_.features().dra_workload_resource_claims
                                       ? GroupReservations::kCount
                                       : GroupReservations::kIgnored;
  while (index_ < reserved_->claims.size() && !current().is_being_removed &&
         IsReservedForPod(*pod_, *current().claim, groups)) {
    ++index_;
  }
  if (cancellation_.cancelled()) return FailWith("binding devices: context canceled");
  if (index_ == reserved_->claims.size()) return TellOfNode();
  tries_ = 0;
  if (current().to_be_made) return Make();
  turns_->Take(current().claim->metadata.uid, [self = shared_from_this()](ClaimPtr latest) {
    self->has_turn_ = true;
    if (latest != nullptr) self->current().claim = std::move(latest);
    if (self->current().is_being_removed) return self->AwaitRemoved();
    self->Try();
  });
}

// The version that is known has the reservation; what is written now would lose it to the write
// that is under way.
void ClaimBinding::AwaitRemoved() {
  ObjectWait wait;
  wait.objects = {{EventResource::kResourceClaim, current().claim->metadata.Key()}};
  wait.check = [&claims = handle_.claims(), uid = current().claim->metadata.uid,
                consumer_uid = current().consumer.uid]() -> std::optional<AsyncStatus> {
    if (claims.IsBeingRemoved(uid, consumer_uid)) return std::nullopt;
    return AsyncStatus{};
  };
  wait.timeout = kRemovalPeriod;
  wait.timed_out = {Code::kSkip, {}};
  // A cancelled pod gives its turn on the binding thread: Try() looks.
  handle_.WaitFor(std::move(wait), uncancelled_,
                  [self = shared_from_this()](const AsyncStatus& status) {
                    if (status.code == Code::kSkip) return self->AwaitRemoved();
                    self->current().is_being_removed = false;
                    self->Reread();
                  });
}

void ClaimBinding::GiveTurn(ClaimPtr written) {
  if (!std::exchange(has_turn_, false)) return;
  turns_->Give(current().claim->metadata.uid, std::move(written));
}

void ClaimBinding::Make() {
  const std::string prefix = pod_->metadata.name + "-extended-resources-";
  handle_.claim_writer().Create(
      *current().claim, prefix, [self = shared_from_this()](ClaimAnswer answer) {
        ReservedClaims::Claim& claim = self->current();
        self->handle_.CountMetric("dynamic_resource_allocation_resourceclaim_creates_total",
                                  {answer.ok() ? "success" : "failure", "false", "", "Pod"}, 1);
        if (!answer.ok()) {
          return self->FailWith("create claim for extended resources " +
                                claim.claim->metadata.namespace_ + "/: " + answer.error);
        }
        claim.claim = std::move(answer.claim);
        claim.to_be_made = false;
        self->Try();
      });
}

void ClaimBinding::Try() {
  const ReservedClaims::Claim& claim = current();
  const std::string name = claim.claim->metadata.Key();
  if (claim.claim->metadata.deletion_timestamp) {
    return FailWith("claim " + name + " got deleted in the meantime");
  }
  const auto& allocation = claim.claim->status.allocation;
  const bool as_wanted =
      allocation && (claim.allocation == nullptr || HasSameDevices(*allocation, *claim.allocation));
  // An answer got lost, and this is what was written; or the group has it.
  if (as_wanted && IsReservedFor(*claim.claim, claim.consumer)) return OnWritten(claim.claim);
  if (cancellation_.cancelled()) return FailWith("binding devices: context canceled");
  if (tries_ >= kMaxTries) return FailWith(failure_);
  if (claim.allocation == nullptr) return WriteStatus(claim.claim);
  if (!allocation) return AddFinalizer(claim.claim);
  if (as_wanted && claim.of_group) return WriteStatus(claim.claim);
  FailWith("claim " + name + " got allocated elsewhere in the meantime");
}

void ClaimBinding::AddFinalizer(ClaimPtr claim) {
  handle_.claim_writer().AddFinalizer(
      *claim, [self = shared_from_this(), name = claim->metadata.Key()](const ClaimAnswer& answer) {
        if (!answer.ok()) return self->OnFailed(answer, "add finalizer to claim " + name);
        self->current().claim = answer.claim;
        self->WriteStatus(answer.claim);
      });
}

void ClaimBinding::WriteStatus(const ClaimPtr& claim) {
  const ReservedClaims::Claim& wanted = current();
  api::ResourceClaim changed = *claim;
  if (wanted.allocation != nullptr && !changed.status.allocation) {
    changed.status.allocation = *wanted.allocation;
  }
  changed.status.reserved_for.push_back(wanted.consumer);
  if (handle_.features().dra_device_binding_conditions) {
    if (!changed.status.allocation) {
      return FailWith("claim " + claim->metadata.Key() +
                      " got deallocated elsewhere in the meantime");
    }
    auto& timestamp = changed.status.allocation->allocation_timestamp;
    if (!timestamp) timestamp = handle_.clock().WallNow();
  }
  const std::string doing =
      std::string(wanted.allocation != nullptr ? "add allocation and reservation to claim "
                                               : "add reservation to claim ") +
      claim->metadata.Key();
  handle_.claim_writer().WriteStatus(
      changed, [self = shared_from_this(), doing](ClaimAnswer answer) {
        self->write_lost_ =
            answer.outcome == Outcome::kUnknown && self->current().allocation != nullptr;
        if (!answer.ok()) return self->OnFailed(answer, doing);
        self->OnWritten(std::move(answer.claim));
      });
}

void ClaimBinding::OnFailed(const ClaimAnswer& answer, const std::string& doing) {
  const bool again = answer.outcome == Outcome::kConflict || answer.outcome == Outcome::kUnknown;
  if (again && ++tries_ < kMaxTries) return Reread();
  failure_ = doing + ": " + answer.error;
  if (write_lost_ && answer.outcome != Outcome::kNotFound) return ReadLater();
  FailWith(failure_);
}

// Until it is known whether the allocation was written, its devices must not be given to another
// claim, whatever becomes of the pod.
void ClaimBinding::ReadLater() {
  ObjectWait wait;
  wait.check = [] { return std::nullopt; };
  wait.timeout = std::exchange(pause_, std::min(2 * pause_, kLongestPause));
  handle_.WaitFor(std::move(wait), uncancelled_,
                  [self = shared_from_this()](const AsyncStatus&) { self->Reread(); });
}

void ClaimBinding::Reread() {
  const api::ObjectMeta& meta = current().claim->metadata;
  handle_.claim_writer().Read(
      meta.namespace_, meta.name,
      [self = shared_from_this(), name = meta.Key(), uid = meta.uid](ClaimAnswer answer) {
        if (answer.ok() && answer.claim->metadata.uid != uid) {
          return self->FailWith("claim " + name + " got deleted in the meantime");
        }
        if (!answer.ok()) {
          return self->OnFailed(answer, "get updated claim " + name + " after conflict");
        }
        self->write_lost_ = false;
        self->current().claim = std::move(answer.claim);
        self->Try();
      });
}

void ClaimBinding::OnWritten(ClaimPtr claim) {
  ReservedClaims::Claim& written = current();
  written.claim = claim;
  GiveTurn(claim);
  if (written.extended) return AwaitShown();
  // What is assumed is assumed before the pod's outcome arrives: both come in order.
  handle_.Post(ClaimWritten{std::move(claim)});
  ++index_;
  Next();
}

// The watch need not have shown yet the claim that was made. What it was given is pending under
// another uid, and would be free once that is settled.
void ClaimBinding::AwaitShown() {
  const api::ObjectMeta& made = current().claim->metadata;
  ObjectWait wait;
  wait.objects = {{EventResource::kResourceClaim, made.Key()}};
  wait.check = [&claims = handle_.claims(), namespace_ = made.namespace_,
                name = made.name]() -> std::optional<AsyncStatus> {
    if (claims.Find(namespace_, name) == nullptr) return std::nullopt;
    return AsyncStatus{};
  };
  wait.timeout = kLongestUnshown;
  handle_.WaitFor(std::move(wait), cancellation_, [self = shared_from_this()](const AsyncStatus&) {
    if (self->cancellation_.cancelled()) {
      return self->FailWith("binding devices: context canceled");
    }
    self->handle_.Post(ClaimWritten{self->current().claim});
    self->TellPod();
  });
}

void ClaimBinding::TellPod() {
  // A pod's overhead may ask for what none of its containers asks for; that is no status.
  if (reserved_->mappings.empty()) {
    return FailWith("nil or empty request mappings, no update of pod " + pod_->metadata.Key() +
                    " ExtendedResourceClaimStatus");
  }
  handle_.claim_writer().WriteExtendedResourceClaimStatus(
      *pod_, {reserved_->mappings, current().claim->metadata.name},
      [self = shared_from_this()](const AsyncStatus& status) {
        if (!status.ok()) {
          return self->FailWith("update pod " + self->pod_->metadata.Key() +
                                " ExtendedResourceClaimStatus: " + status.message);
        }
        ++self->index_;
        self->Next();
      });
}

void ClaimBinding::TellOfNode() {
  if (of_node_ == nullptr || of_node_->statuses.empty()) return Wait();
  NameMadeClaim(*reserved_, *of_node_);
  of_node_->sent = true;
  handle_.claim_writer().WriteNodeAllocatableClaimStatuses(
      *pod_, of_node_->statuses, [self = shared_from_this()](const AsyncStatus& status) {
        if (!status.ok()) {
          return self->FailWith("updating pod " + self->pod_->metadata.Key() +
                                " NodeAllocatableResourceClaimStatuses: " + status.message);
        }
        self->Wait();
      });
}

void ClaimBinding::Wait() {
  const bool has_conditions =
      handle_.features().dra_device_binding_conditions &&
      std::ranges::any_of(reserved_->claims, [](const ReservedClaims::Claim& claim) {
        return claim.claim->status.allocation &&
               HasBindingConditions(*claim.claim->status.allocation);
      });
  if (!has_conditions) return Finish({});
  wait_began_ = handle_.stopwatch().Now();
  first_asked_ = handle_.clock().Now();
  handle_.RecordEvent(*pod_, PodEventType::kNormal, "BindingConditionsPending", "Scheduling",
                      "waiting for binding conditions for device on node " + node_name_, {});
  AwaitConditions();
}

void ClaimBinding::AwaitConditions() {
  const Time end = first_asked_ + binding_timeout_;
  const std::optional<Time> look = NextTimeout();
  const bool looks_again = look && *look < end;
  ObjectWait wait;
  for (const ReservedClaims::Claim& claim : reserved_->claims) {
    wait.objects.push_back({EventResource::kResourceClaim, claim.claim->metadata.Key()});
  }
  wait.check = [self = shared_from_this()] { return self->CheckConditions(); };
  wait.timeout = (looks_again ? *look : end) - handle_.clock().Now();
  wait.timed_out = {Code::kError, std::string(kTimedOut) + ": context deadline exceeded"};
  if (looks_again) wait.timed_out = {Code::kSkip, {}};
  wait.cancelled = {Code::kError, "context canceled"};
  handle_.WaitFor(std::move(wait), cancellation_, [self = shared_from_this()](AsyncStatus status) {
    if (status.code == Code::kSkip) return self->AwaitConditions();
    self->CountWait(status);
    self->Finish(std::move(status));
  });
}

std::optional<Time> ClaimBinding::NextTimeout() const {
  const Time now = handle_.clock().Now();
  const Time wall_now = handle_.clock().WallNow();
  std::optional<Time> next;
  for (const ReservedClaims::Claim& claim : reserved_->claims) {
    const auto& allocation = claim.claim->status.allocation;
    if (!allocation || !allocation->allocation_timestamp) continue;
    const Duration left = *allocation->allocation_timestamp + binding_timeout_ - wall_now;
    if (left < Duration::zero() || !HasBindingConditions(*allocation)) continue;
    const auto steps = (now + left - first_asked_) / kLookPeriod + 1;
    const Time look = first_asked_ + steps * kLookPeriod;
    next = next ? std::min(*next, look) : look;
  }
  return next;
}

void ClaimBinding::CountWait(const AsyncStatus& status) {
  std::string_view outcome = "error";
  if (status.ok()) {
    outcome = "success";
  } else if (status.message.starts_with(kTimedOut)) {
    outcome = "timeout";
  } else if (status.message.starts_with(kBindingFailed)) {
    outcome = "failure";
  }
  const double seconds =
      std::chrono::duration<double>(handle_.stopwatch().Now() - wait_began_).count();
  // As kube-scheduler counts: the time for all devices, the allocation for those that it waits for.
  for (const ReservedClaims::Claim& claim : reserved_->claims) {
    if (!claim.claim->status.allocation) continue;
    for (const auto& result : claim.claim->status.allocation->devices.results) {
      const auto labels = {handle_.scheduler_name(), std::string_view(result.driver), outcome};
      handle_.ObserveMetric("dra_bindingconditions_wait_duration_seconds", labels, seconds);
      if (result.binding_conditions.empty()) continue;
      handle_.CountMetric("dra_bindingconditions_allocations_total", labels, 1);
    }
  }
}

// On the scheduling thread, while nothing else goes on here.
std::optional<AsyncStatus> ClaimBinding::CheckConditions() {
  for (ReservedClaims::Claim& waiting : reserved_->claims) {
    const api::ObjectMeta& meta = waiting.claim->metadata;
    ClaimPtr latest = handle_.claims().Find(meta.namespace_, meta.name);
    if (latest == nullptr) {
      // A claim that has just been made has not been shown yet.
      if (waiting.extended) return std::nullopt;
      return AsyncStatus{Code::kError, "could not find ResourceClaim \"" + meta.Key() + "\""};
    }
    waiting.claim = std::move(latest);
    const auto ready = IsReadyForBinding(*waiting.claim);
    if (!ready) return AsyncStatus{Code::kError, ready.error().message};
    if (*ready) continue;
    if (IsBindingTimedOut(*waiting.claim, binding_timeout_, handle_.clock().WallNow())) {
      return AsyncStatus{Code::kError,
                         std::string(kTimedOut) + ": claim=" + waiting.claim->metadata.name};
    }
    return std::nullopt;
  }
  return AsyncStatus{};
}

void ClaimBinding::Finish(AsyncStatus status) {
  if (status.ok()) {
    ClaimsSettled settled;
    for (ReservedClaims::Claim& claim : reserved_->claims) {
      if (claim.pending_uid.empty()) continue;
      settled.uids.push_back(std::exchange(claim.pending_uid, ""));
    }
    if (!settled.uids.empty()) handle_.Post(std::move(settled));
  }
  done_(std::move(status));
}

}  // namespace berth::plugins
