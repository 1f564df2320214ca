// SPDX-License-Identifier: Apache-2.0
#include "src/api/lease.h"

#include <absl/strings/str_cat.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "src/api/time_format.h"
#include "src/base/json.h"

namespace berth::api {
namespace {

using base::JsonObject;
using nlohmann::ordered_json;

const std::string kUnfinishedPods(kUnfinishedPodsAnnotation);

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

std::string SpecText(const LeaseRecord& record) {
  std::string text;
  JsonObject spec(text);
  spec.Add("holderIdentity", record.holder_identity);
  spec.Add("leaseDurationSeconds", record.lease_duration_seconds);
  if (record.acquire_time) spec.Add("acquireTime", FormatMicroTime(*record.acquire_time));
  if (record.renew_time) spec.Add("renewTime", FormatMicroTime(*record.renew_time));
  spec.Add("leaseTransitions", record.lease_transitions);
  spec.Close();
  return text;
}

}  // namespace

Result<LeaseDocument> ReadLease(std::string_view json) {
  const auto document = ordered_json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return Fail("the lease is no JSON object");
  LeaseDocument lease;
  lease.document = json;
  bool good = true;
  if (const ordered_json* metadata = Member(document, "metadata")) {
    good = metadata->is_object() && Read(*metadata, "uid", lease.uid) &&
           Read(*metadata, "resourceVersion", lease.resource_version);
    const ordered_json* annotations = good ? Member(*metadata, "annotations") : nullptr;
    if (annotations != nullptr && annotations->is_object()) {
      Read(*annotations, kUnfinishedPods.c_str(), lease.record.unfinished_pods);
    }
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

std::string LeaseBody(const LeaseDocument& lease, const LeaseRecord& record) {
  // It has been read before.
  auto document = ordered_json::parse(lease.document, nullptr, /*allow_exceptions=*/false);
  document["spec"] = ordered_json::parse(SpecText(record));
  ordered_json& metadata = document["metadata"];
  const bool annotated = metadata.is_object() && metadata.contains("annotations") &&
                         metadata["annotations"].is_object();
  if (!record.unfinished_pods.empty()) {
    if (!annotated) metadata["annotations"] = ordered_json::object();
    metadata["annotations"][kUnfinishedPods] = record.unfinished_pods;
  } else if (annotated && metadata["annotations"].erase(kUnfinishedPods) > 0 &&
             metadata["annotations"].empty()) {
    metadata.erase("annotations");
  }
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string NewLeaseBody(std::string_view namespace_name, std::string_view name,
                         const LeaseRecord& record) {
  std::string body;
  JsonObject lease(body);
  lease.Add("apiVersion", "coordination.k8s.io/v1");
  lease.Add("kind", "Lease");
  lease.Add("metadata", {{"name", name}, {"namespace", namespace_name}});
  lease.Key("spec") += SpecText(record);
  lease.Close();
  return body;
}

std::string LeaseEventBody(std::string_view namespace_name, std::string_view name,
                           const LeaseDocument& lease, std::string_view component,
                           std::string_view message, Time now) {
  const auto nanos = static_cast<uint64_t>(now.time_since_epoch().count());
  const std::string seconds = FormatTime(now);
  std::string body;
  JsonObject event(body);
  event.Add("apiVersion", "v1");
  event.Add("kind", "Event");
  event.Add("metadata", {{"name", std::string(name) + "." + absl::StrCat(absl::Hex(nanos))},
                         {"namespace", namespace_name}});
  event.Add("involvedObject", {{"kind", "Lease"},
                               {"namespace", namespace_name},
                               {"name", name},
                               {"uid", lease.uid},
                               {"apiVersion", "coordination.k8s.io/v1"},
                               {"resourceVersion", lease.resource_version}});
  event.Add("reason", "LeaderElection");
  event.Add("message", message);
  event.Add("source", {{"component", component}});
  event.Add("firstTimestamp", seconds);
  event.Add("lastTimestamp", seconds);
  event.Add("count", 1);
  event.Add("type", "Normal");
  event.Add("reportingComponent", component);
  event.Add("reportingInstance", "");
  event.Close();
  return body;
}

}  // namespace berth::api
