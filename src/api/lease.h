// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "berth/time.h"

// Leases (coordination.k8s.io/v1) as documents: read, edited and written back whole, so that what
// others put into a Lease's metadata survives.
//
// Thread safety: any thread.
namespace berth::api {

// What Berth notes on its Lease for the next leader: UIDs of pods, joined by ",".
inline constexpr std::string_view kUnfinishedPodsAnnotation = "berth/unfinished-pods";

// What leader election keeps in a Lease's spec, and the note.
struct LeaseRecord {
  std::string holder_identity;  // "" when the lease is free
  int32_t lease_duration_seconds = 0;
  std::optional<Time> acquire_time;
  std::optional<Time> renew_time;
  int32_t lease_transitions = 0;
  std::string unfinished_pods;  // "": no annotation

  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

// A Lease as the server sent it; api::Lease is what a field table reads of one.
struct LeaseDocument {
  std::string document;  // JSON
  LeaseRecord record;
  std::string uid;
  std::string resource_version;
};

// Errors: no JSON object, or a spec whose members have other types. Annotations of another type are
// none.
Result<LeaseDocument> ReadLease(std::string_view json);

// The body of a PUT: the Lease's own document with `record` in the place of its spec and its note.
std::string LeaseBody(const LeaseDocument& lease, const LeaseRecord& record);

// The body of a POST that creates the Lease.
std::string NewLeaseBody(std::string_view namespace_name, std::string_view name,
                         const LeaseRecord& record);

// The body of a POST of a v1 Event about the Lease, in the form of client-go's older recorder,
// which leader election still uses. `component` is its source.
std::string LeaseEventBody(std::string_view namespace_name, std::string_view name,
                           const LeaseDocument& lease, std::string_view component,
                           std::string_view message, Time now);

}  // namespace berth::api
