// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "berth/api/resource_claim.h"
#include "berth/in_tree/handle.h"
#include "berth/resources.h"
#include "berth/result.h"
#include "berth/time.h"
#include "plugins/dynamic_resources/claim_turns.h"
#include "plugins/dynamic_resources/reserved_claims.h"

namespace berth::plugins {

// What devices demand before a pod that has them may be bound: conditions that their driver sets.
//
// Thread safety: any thread.

bool HasBindingConditions(const api::AllocationResult& allocation);

// What the error of IsReadyForBinding begins with.
inline constexpr std::string_view kBindingFailed = "device binding failed";

// Whether the claim is allocated and all conditions of its devices hold. Error: one that says that
// binding has failed holds.
Result<bool> IsReadyForBinding(const api::ResourceClaim& claim);
// Whether the claim's conditions have had `timeout` since it was allocated.
bool IsBindingTimedOut(const api::ResourceClaim& claim, Duration timeout, Time now);

// The PreBind of one pod: claim by claim writes allocation and reservation, then waits for what the
// devices demand.
//
//          +---------------------------- conflict, or no answer ----------------+
//          v                                                                     |
//        Read (not the first time) -> AddFinalizer -> WriteStatus ---------------+
//     the claim is made first,          where it is to      |
//     where it is to be, else           be allocated        +-> next claim ... -> Wait -> done
//     ClaimTurns are kept (first                                (first AwaitShown and TellPod,
//     AwaitRemoved, where a reservation                         where the claim was made)
//     is being taken out)
//
// Thread safety: the binding thread; what it leaves behind is the scheduling thread's once `done`
// has been called.
class ClaimBinding : public std::enable_shared_from_this<ClaimBinding> {
 public:
  // Of one claim, but for reads that tell whether it got its devices by a write without an answer:
  // those go on until one is answered.
  static constexpr int kMaxTries = 5;

  // `of_node`: what the claims take of the node, to be written, too; may be nullptr. It, `handle`
  // and `cancellation` must live until `done` is called.
  ClaimBinding(std::shared_ptr<ReservedClaims> reserved, NodeAllocatableClaims* of_node,
               std::shared_ptr<const api::Pod> pod, std::string node_name, Duration binding_timeout,
               Handle& handle, std::shared_ptr<ClaimTurns> turns, Cancellation& cancellation,
               AsyncDone done);

  void Start() { Next(); }

 private:
  // Of what goes on all the same.
  class Uncancelled final : public Cancellation {
   public:
    bool cancelled() const override { return false; }
    void OnCancel(std::function<void()> /*hook*/) override {}
  };

  ReservedClaims::Claim& current() { return reserved_->claims[index_]; }

  // Goes on with claims_[index_].
  void Next();
  void Make();
  // Ends the turn of current(), if it is this pod's.
  void GiveTurn(ClaimPtr written);
  // Until it is known what became of a reservation that is being taken out.
  void AwaitRemoved();
  void Try();
  void Reread();
  void ReadLater();
  void AddFinalizer(ClaimPtr claim);
  void WriteStatus(const ClaimPtr& claim);
  // The claim is allocated and reserved.
  void OnWritten(ClaimPtr claim);
  // Until the watch shows the claim that was made.
  void AwaitShown();
  void TellPod();
  // All claims are written: what they take of the node is still to be.
  void TellOfNode();
  // A write failed: again, where that may help.
  void OnFailed(const ClaimAnswer& answer, const std::string& doing);
  void Wait();
  void AwaitConditions();
  // When kube-scheduler would see next that the time of a claim is over; nullopt: not any more.
  std::optional<Time> NextTimeout() const;
  // The wait has ended with `status`.
  void CountWait(const AsyncStatus& status);
  std::optional<AsyncStatus> CheckConditions();
  void Finish(AsyncStatus status);
  void FailWith(std::string text) {
    GiveTurn(nullptr);
    Finish({Code::kError, std::move(text)});
  }

  std::shared_ptr<ReservedClaims> reserved_;
  NodeAllocatableClaims* const of_node_;
  std::shared_ptr<const api::Pod> pod_;
  std::string node_name_;
  Duration binding_timeout_;
  Handle& handle_;
  const std::shared_ptr<ClaimTurns> turns_;
  Cancellation& cancellation_;
  AsyncDone done_;

  size_t index_ = 0;
  int tries_ = 0;
  std::string failure_;      // the last one
  bool write_lost_ = false;  // whether current() got its devices is not known
  Duration pause_ = std::chrono::milliseconds(100);
  Uncancelled uncancelled_;
  bool has_turn_ = false;
  Time wait_began_;   // by the stopwatch
  Time first_asked_;  // the same by the clock
};

}  // namespace berth::plugins
