// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/claim_patch.h"

#include <algorithm>
#include <utility>

#include "berth/api/decode_value.h"
#include "src/simulator/answers.h"

namespace berth::simulator {
namespace {

Result<void> ReadOperation(const ConfigValue& operation, ClaimPatch& patch) {
  const std::string path = StringAt(operation, {"path"});
  const ConfigValue* value = operation.Find("value");
  if (StringAt(operation, {"op"}) != "add" || value == nullptr) {
    return Fail("only \"add\" with a value is known");
  }
  if (path == "/metadata/uid") {
    patch.uid = StringAt(operation, {"value"});
  } else if (path == "/metadata/resourceVersion") {
    patch.resource_version = StringAt(operation, {"value"});
  } else if (path == "/status") {
    auto claim =
        api::DecodeValue<api::ResourceClaim>(ConfigValue(ConfigValue::Map{{"status", *value}}), "");
    if (!claim) return Fail(claim.error());
    patch.status = std::move(claim->status);
  } else {
    return Fail("path " + path + " is not known");
  }
  return {};
}

}  // namespace

void ClaimPatch::Apply(api::ResourceClaim& claim) const {
  if (status) claim.status = *status;
  std::erase_if(claim.status.reserved_for, [this](const auto& consumer) {
    return std::ranges::find(removed_consumers, consumer.uid) != removed_consumers.end();
  });
}

Result<ClaimPatch> ReadClaimPatch(const ConfigValue& body) {
  ClaimPatch patch;
  if (body.list() != nullptr) {
    for (const ConfigValue& operation : *body.list()) {
      if (auto read = ReadOperation(operation, patch); !read) return Fail(read.error());
    }
    return patch;
  }
  patch.uid = StringAt(body, {"metadata", "uid"});
  patch.resource_version = StringAt(body, {"metadata", "resourceVersion"});
  const ConfigValue* status = body.Find("status");
  const ConfigValue* consumers = status == nullptr ? nullptr : status->Find("reservedFor");
  if (consumers == nullptr || consumers->list() == nullptr) return patch;
  for (const ConfigValue& consumer : *consumers->list()) {
    if (StringAt(consumer, {"$patch"}) != "delete") return Fail("reservedFor: only $patch: delete");
    patch.removed_consumers.push_back(StringAt(consumer, {"uid"}));
  }
  return patch;
}

}  // namespace berth::simulator
