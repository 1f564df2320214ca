// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/in_tree/claim_tracker.h"

namespace berth::test {

// A ClaimWriter that records; the test calls `done` of what it recorded. Thread safety: one owner.
class FakeClaimWriter final : public ClaimWriter {
 public:
  // A request about a claim, by the name of its function.
  struct Request {
    std::string what;
    api::ResourceClaim claim;
    // The consumer of RemoveReservation, the name of Create.
    std::string text;
    ClaimDone done;
  };
  struct PodWrite {
    api::PodExtendedResourceClaimStatus status;
    std::vector<api::NodeAllocatableResourceClaimStatus> of_node;
    AsyncDone done;
  };

  void Read(std::string_view namespace_, std::string_view name, ClaimDone done) override {
    api::ResourceClaim claim;
    claim.metadata.namespace_ = namespace_;
    claim.metadata.name = name;
    Add("Read", claim, "", std::move(done));
  }
  void AddFinalizer(const api::ResourceClaim& claim, ClaimDone done) override {
    Add("AddFinalizer", claim, "", std::move(done));
  }
  void RemoveFinalizer(const api::ResourceClaim& claim, ClaimDone done) override {
    Add("RemoveFinalizer", claim, "", std::move(done));
  }
  void WriteStatus(const api::ResourceClaim& claim, ClaimDone done) override {
    Add("WriteStatus", claim, "", std::move(done));
  }
  void RemoveReservation(const api::ResourceClaim& claim, std::string_view consumer_uid,
                         ClaimDone done) override {
    Add("RemoveReservation", claim, consumer_uid, std::move(done));
  }
  void Create(const api::ResourceClaim& claim, std::string_view generate_name,
              ClaimDone done) override {
    Add("Create", claim, generate_name, std::move(done));
  }
  void Delete(const api::ResourceClaim& claim, ClaimDone done) override {
    Add("Delete", claim, "", std::move(done));
  }
  void WriteExtendedResourceClaimStatus(const api::Pod&,
                                        const api::PodExtendedResourceClaimStatus& status,
                                        AsyncDone done) override {
    pod_writes.push_back({status, {}, std::move(done)});
  }
  void WriteNodeAllocatableClaimStatuses(
      const api::Pod&, const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses,
      AsyncDone done) override {
    pod_writes.push_back({{}, statuses, std::move(done)});
  }

  // The oldest request, taken out.
  Request Take() {
    Request request = std::move(requests.front());
    requests.erase(requests.begin());
    return request;
  }

  std::vector<Request> requests;
  std::vector<PodWrite> pod_writes;

 private:
  void Add(std::string_view what, const api::ResourceClaim& claim, std::string_view text,
           ClaimDone done) {
    requests.push_back({std::string(what), claim, std::string(text), std::move(done)});
  }
};

}  // namespace berth::test
