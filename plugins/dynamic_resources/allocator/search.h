// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/api/node.h"
#include "plugins/dynamic_resources/allocator/capacity.h"
#include "plugins/dynamic_resources/allocator/claims_to_allocate.h"
#include "plugins/dynamic_resources/allocator/constraint_state.h"
#include "plugins/dynamic_resources/allocator/device_inventory.h"
#include "plugins/dynamic_resources/allocator/expressions.h"
#include "plugins/dynamic_resources/allocator/node_pools.h"

namespace berth::plugins::dra {

// Where the search ended on one node.
enum class AllocationOutcome : uint8_t {
  kAllocated,
  kNone,          // the node does not have the devices
  kInvalidPools,  // nor might it have: some of its pools cannot be read
  kOutOfSteps,
  kError,  // the claims, their classes or the slices are wrong in a way that no other node mends
};

// A device that a request was given.
struct ChosenDevice {
  size_t claim = 0;
  size_t request = 0;  // of ClaimsToAllocate::requests
  const PublishedSlice* slice = nullptr;
  uint32_t index = 0;  // in the slice

  const api::Device& device() const { return slice->spec().devices[index]; }
  friend bool operator==(const ChosenDevice&, const ChosenDevice&) = default;
};

// What kInvalidPools is called.
inline constexpr std::string_view kInvalidPoolsMessage = "invalid resource pools were encountered";
// How the error of a request for all devices ends where a pool of the node is such.
inline constexpr std::string_view kPoolIsInvalid = " is currently invalid";

// What was found on one node. Good until the inventory's slices change; reused from node to node.
struct NodeAllocation {
  AllocationOutcome outcome = AllocationOutcome::kNone;
  std::string error = {};                    // of kInvalidPools and kError, in upstream's words
  std::vector<ChosenDevice> devices = {};    // kAllocated: claim by claim, as results are listed
  std::vector<size_t> chosen_requests = {};  // kAllocated: of each request in each claim, in a row
  // kAllocated: sum over requests with firstAvailable of 8 less the place of the one chosen.
  int64_t score = 0;
  uint64_t steps = 0;  // how much work it was
};

// One node's search for devices, depth first, the first solution wins: claim by claim, request by
// request, of firstAvailable each subrequest, device by device in the order of the node's pools.
// The devices of one request are only tried in that order, so each set of them once.
//
// It asks for expressions' answers and keeps them with the slices; else it changes nothing but its
// own scratch.
//
// Thread safety: the scheduling thread only.
class Search {
 public:
  // What CEL's cost counts in steps: a step is about what looking at one device costs.
  static constexpr uint64_t kCelCostPerStep = 10;

  Search(const DeviceInventory& inventory, DeviceExpressions& expressions)
      : inventory_(inventory), features_(inventory.features()), expressions_(expressions) {}

  void Run(const ClaimsToAllocate& claims, const api::Node& node, const PoolsOfNode& pools,
           uint64_t max_steps, NodeAllocation& found);

 private:
  // What became of a branch of the search.
  enum class Branch : uint8_t {
    kOpen,     // the top frame goes on
    kFound,    // all claims are satisfied
    kNone,     // nothing fits
    kTooMany,  // the claim would have more results than it may: other devices change nothing
    kStopped,  // outcome_ says why
  };
  // What is looked for next.
  struct Position {
    size_t claim = 0;
    size_t request = 0;  // in the claim
    size_t subrequest = 0;
    int64_t device = 0;  // of the request
    bool in_subrequest = false;
  };
  // What the search comes back to when a branch fails.
  struct Frame {
    enum class Kind : uint8_t { kClaim, kSubRequests, kAllDevices, kDevice };
    Kind kind = Kind::kClaim;
    bool all_too_many = true;  // kSubRequests
    uint32_t pool = 0;         // kDevice
    uint32_t next = 0;         // kDevice: the device to look at next; kSubRequests: the subrequest
    Position position = {};
  };
  // A device by its pool and its number over all pools.
  struct Place {
    uint32_t pool = 0;
    uint32_t device = 0;
  };
  static constexpr int32_t kNoShare = -1;
  // A device that the current path has taken.
  struct Taken {
    size_t claim = 0;
    size_t request = 0;
    Place place = {};
    size_t num_constraints = 0;
    bool took_counters = false;
    size_t num_groups = 0;  // of saved_groups_, its own
    bool is_share = false;
    int32_t share_before = kNoShare;  // in taken_: the share of the same device before this one
    size_t amounts_begin = 0;         // in amounts_
  };
  // What has been found out about a request on this node.
  struct RequestOnNode {
    int64_t num_devices = 0;
    size_t all_begin = 0;  // in all_devices_
    // The answers of its selectors for one slice.
    const PublishedSlice* slice = nullptr;
    std::vector<AnswerColumn*> columns = {};
  };

  // Where these return false, stopped() says whether the search is over; Step and Fail end it.
  bool Begin();
  bool BeginRequest(size_t claim, const ClaimToAllocate::Request& of_claim, int64_t& least);
  bool FindAllDevices(size_t claim, size_t request_index);
  bool Step(uint64_t steps = 1);
  // An expression is not known, and the cycle has no budget left for it. False.
  bool StopForBudget();
  bool Fail(std::string error);
  bool stopped() const { return outcome_ != AllocationOutcome::kNone; }

  Branch Descend(Position at, uint32_t pool, uint32_t first_device);
  Branch Resume();
  Branch ResumeDevices();
  Branch Unwind(Branch branch);
  void Finish(bool is_found, NodeAllocation& found);
  void ListChosenRequests(NodeAllocation& found) const;

  size_t RequestAt(const Position& at) const {
    return claims_->claims[at.claim].requests[at.request].first + at.subrequest;
  }
  const ViewedDevice& DeviceAt(Place place) const {
    return pools_->pools[place.pool]->devices()[place.device - pools_->first_device[place.pool]];
  }

  // What a device is asked. As above.
  bool IsTakenBy(uint32_t device, size_t claim) const;
  bool IsAvailable(const RequestToAllocate& request, const ViewedDevice& viewed, uint32_t device,
                   size_t claim) const;
  bool AllowsMany(const api::Device& device) const;
  bool CanSkipNodeOperations() const;
  AnswerColumn& ColumnOf(const ViewedDevice& viewed, const std::shared_ptr<Expression>& expression);
  bool IsSelectable(size_t claim, size_t request_index, const ViewedDevice& viewed);
  bool FailSelector(size_t claim, const RequestToAllocate& request, size_t selector_index,
                    const ViewedDevice& viewed);
  // Whether the device, were none of it in use, has what the request takes. Fills demand_, whose
  // error does not end the search.
  bool CouldHaveCapacity(const RequestToAllocate& request, const ViewedDevice& viewed);
  bool HasCapacity(const Position& at, const ViewedDevice& viewed, uint32_t device_index,
                   std::string_view doing);

  // Takes a selectable device, if taints, counters and constraints allow it; `must`: and if its
  // capacity does, and the search is over where constraints do not. PutBack() undoes the last.
  bool Take(const Position& at, Place place, const ViewedDevice& viewed, bool must);
  bool TakeOneOfAll(const Position& at, Place place);
  void PutBack();
  bool MeetsConstraints(const Position& at, const ViewedDevice& viewed, bool must,
                        size_t& num_constraints);
  bool FindAttributeOf(const RequestToAllocate::Constraint& constraint, const ViewedDevice& viewed,
                       const api::DeviceAttribute*& attribute);
  void RemoveConstraints(size_t request, size_t num_constraints);
  // Whether the device may take from its counter sets beside those that do already.
  bool JoinGroups(uint32_t pool, const ViewedDevice& viewed, size_t& num_groups);
  void LeaveGroups(size_t num_groups);
  bool TakeCounters(uint32_t pool, const ViewedDevice& viewed);
  void ReturnCounters(uint32_t pool, const ViewedDevice& viewed);

  const DeviceInventory& inventory_;
  const AllocatorFeatures& features_;
  DeviceExpressions& expressions_;

  // The run.
  const ClaimsToAllocate* claims_ = nullptr;
  const api::Node* node_ = nullptr;
  const PoolsOfNode* pools_ = nullptr;
  uint64_t steps_ = 0;
  uint64_t max_steps_ = 0;
  AllocationOutcome outcome_ = AllocationOutcome::kNone;
  std::string error_;

  // Scratch, kept from run to run for its room.
  std::vector<RequestOnNode> requests_;
  std::vector<Place> all_devices_;    // of requests for all devices
  std::vector<int64_t> num_results_;  // by claim
  std::vector<ConstraintState> constraints_;
  std::vector<Frame> frames_;
  std::vector<Taken> taken_;
  std::vector<api::Quantity> amounts_;  // of the shares in taken_
  CapacityDemand demand_;
  // By device over all pools: how often the path has taken it whole (with admin access it may be
  // several times), and its last share in taken_. Between runs 0 and kNoShare.
  std::vector<uint32_t> num_taken_;
  std::vector<int32_t> last_share_;
  // By pool: what the path takes of its counters; empty: nothing yet.
  std::vector<std::vector<api::Quantity::Nanos>> counters_;
  // By pool: the groups of the counter sets that the path takes from; and what they were before.
  std::vector<absl::flat_hash_map<std::string, SharedGroups>> groups_;
  struct SavedGroups {
    uint32_t pool = 0;
    std::string set = {};
    std::optional<SharedGroups> before = std::nullopt;
  };
  std::vector<SavedGroups> saved_groups_;
};

}  // namespace berth::plugins::dra
