// SPDX-License-Identifier: Apache-2.0
#include "src/api/lease.h"

#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "src/api/time_format.h"

namespace berth::api {
namespace {

using nlohmann::ordered_json;

std::string Dump(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// The member, or nullptr where it is absent or null.
const ordered_json* Member(const ordered_json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// Each leaves `out` alone where there is no such member, and is false where it has another type.
bool Read(const ordered_json& object, const char* name, std::string& out) {
  const ordered_json* member = Member(object, name);
  if (member == nullptr) return true;
  if (!member->is_string()) return false;
  out = member->get<std::string>();
  return true;
}

bool Read(const ordered_json& object, const char* name, int32_t& out) {
  const ordered_json* member = Member(object, name);
  if (member == nullptr) return true;
  if (!member->is_number_integer()) return false;
  const auto value = member->get<int64_t>();
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
    return false;
  }
  out = static_cast<int32_t>(value);
  return true;
}

bool Read(const ordered_json& object, const char* name, std::optional<Time>& out) {
  std::string text;
  if (!Read(object, name, text)) return false;
  if (text.empty()) return true;
  const auto time = ParseTime(text);
  if (!time) return false;
  out = *time;
  return true;
}

ordered_json SpecJson(const LeaseRecord& record) {
  ordered_json spec = {{"holderIdentity", record.holder_identity},
                       {"leaseDurationSeconds", record.lease_duration_seconds}};
  if (record.acquire_time) spec["acquireTime"] = FormatMicroTime(*record.acquire_time);
  if (record.renew_time) spec["renewTime"] = FormatMicroTime(*record.renew_time);
  spec["leaseTransitions"] = record.lease_transitions;
  return spec;
}

std::string Hex(uint64_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return std::string(digits.data(), end);
}

}  // namespace

Result<Lease> ReadLease(std::string_view json) {
  const auto document = ordered_json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return Fail("the lease is no JSON object");
  Lease lease;
  lease.document = json;
  bool good = true;
  if (const ordered_json* metadata = Member(document, "metadata")) {
    good = metadata->is_object() && Read(*metadata, "uid", lease.uid) &&
           Read(*metadata, "resourceVersion", lease.resource_version);
  }
  if (const ordered_json* spec = good ? Member(document, "spec") : nullptr) {
    LeaseRecord& record = lease.record;
    good = spec->is_object() && Read(*spec, "holderIdentity", record.holder_identity) &&
           Read(*spec, "leaseDurationSeconds", record.lease_duration_seconds) &&
           Read(*spec, "acquireTime", record.acquire_time) &&
           Read(*spec, "renewTime", record.renew_time) &&
           Read(*spec, "leaseTransitions", record.lease_transitions);
  }
  if (!good) return Fail("the lease has a field of another type");
  return lease;
}

std::string LeaseBody(const Lease& lease, const LeaseRecord& record) {
  // It has been read before.
  auto document = ordered_json::parse(lease.document, nullptr, /*allow_exceptions=*/false);
  document["spec"] = SpecJson(record);
  return Dump(document);
}

std::string NewLeaseBody(std::string_view namespace_name, std::string_view name,
                         const LeaseRecord& record) {
  return Dump({{"apiVersion", "coordination.k8s.io/v1"},
               {"kind", "Lease"},
               {"metadata", {{"name", name}, {"namespace", namespace_name}}},
               {"spec", SpecJson(record)}});
}

std::string LeaseEventBody(std::string_view namespace_name, std::string_view name,
                           const Lease& lease, std::string_view component, std::string_view message,
                           Time now) {
  const auto nanos = static_cast<uint64_t>(now.time_since_epoch().count());
  const std::string seconds = FormatTime(now);
  return Dump({{"apiVersion", "v1"},
               {"kind", "Event"},
               {"metadata",
                {{"name", std::string(name) + "." + Hex(nanos)}, {"namespace", namespace_name}}},
               {"involvedObject",
                {{"kind", "Lease"},
                 {"namespace", namespace_name},
                 {"name", name},
                 {"uid", lease.uid},
                 {"apiVersion", "coordination.k8s.io/v1"},
                 {"resourceVersion", lease.resource_version}}},
               {"reason", "LeaderElection"},
               {"message", message},
               {"source", {{"component", component}}},
               {"firstTimestamp", seconds},
               {"lastTimestamp", seconds},
               {"count", 1},
               {"type", "Normal"},
               {"reportingComponent", component},
               {"reportingInstance", ""}});
}

}  // namespace berth::api
