// SPDX-License-Identifier: Apache-2.0
// What MemoryApi does about ResourceClaims.
#include <utility>

#include "berth/api/decode_value.h"
#include "src/api/decode.h"
#include "src/documents/parse.h"
#include "src/simulator/answers.h"
#include "src/simulator/claim_patch.h"
#include "src/simulator/memory_api.h"

namespace berth::simulator {
namespace {

using informers::Kind;

std::string ShownName(std::string_view name) {
  return "resourceclaims.resource.k8s.io \"" + std::string(name) + "\"";
}

}  // namespace

client::ResponseResult MemoryApi::AnswerClaim(const client::Request& request,
                                              const ObjectPath& path) {
  ConfigValue body;
  if (!request.body.empty()) {
    auto parsed = documents::ParseJson(request.body, "");
    if (!parsed) return Refuse(400, "BadRequest", parsed.error().message);
    body = *std::move(parsed);
  }
  if (request.verb == client::Verb::kCreate && path.name().empty()) {
    return CreateClaim(path.namespace_(), body);
  }
  const auto claim = FindIn<api::ResourceClaim>(*this, Kind::kResourceClaim, path.key);
  if (claim == nullptr) return Refuse(404, "NotFound", ShownName(path.name()) + " not found");
  switch (request.verb) {
    case client::Verb::kGet:
      return Ok(200, api::EncodeJson(*claim));
    case client::Verb::kPatch:
      return PatchClaim(*claim, body);
    case client::Verb::kDelete: {
      const std::string uid = StringAt(body, {"preconditions", "uid"});
      if (!uid.empty() && uid != claim->metadata.uid) return Conflict("the UID is another one");
      Remove(Kind::kResourceClaim, claim->metadata.Key());
      return Ok(200);
    }
    default:
      return Refuse(405, "MethodNotAllowed", "the simulator does not do that to a claim");
  }
}

client::ResponseResult MemoryApi::CreateClaim(std::string_view claim_namespace,
                                              const ConfigValue& body) {
  auto decoded = api::DecodeValue<api::ResourceClaim>(body, "");
  if (!decoded) return Refuse(400, "BadRequest", decoded.error().message);
  auto claim = std::make_shared<api::ResourceClaim>(*std::move(decoded));
  api::ObjectMeta& meta = claim->metadata;
  meta.namespace_ = claim_namespace;
  meta.resource_version = NextVersion();
  if (meta.name.empty())
    meta.name = StringAt(body, {"metadata", "generateName"}) + meta.resource_version;
  meta.uid = "ResourceClaim/" + meta.Key() + "/" + meta.resource_version;
  meta.creation_timestamp = clock_.Now();
  if (Has(Kind::kResourceClaim, meta.Key())) {
    return Refuse(409, "AlreadyExists", ShownName(meta.name) + " already exists");
  }
  std::string answer = api::EncodeJson(*claim);
  Store(std::shared_ptr<const api::ResourceClaim>(std::move(claim)));
  return Ok(201, std::move(answer));
}

client::ResponseResult MemoryApi::PatchClaim(const api::ResourceClaim& claim,
                                             const ConfigValue& body) {
  const auto patch = ReadClaimPatch(body);
  if (!patch) return Refuse(422, "Invalid", patch.error().message);
  const std::string name = ShownName(claim.metadata.name);
  if (!patch->uid.empty() && patch->uid != claim.metadata.uid) return ModifiedMeanwhile(name);
  if (!patch->resource_version.empty() &&
      patch->resource_version != claim.metadata.resource_version) {
    return ModifiedMeanwhile(name);
  }
  auto patched = std::make_shared<api::ResourceClaim>(claim);
  patch->Apply(*patched);
  if (*patched == claim) return Ok(200, api::EncodeJson(claim));
  patched->metadata.resource_version = NextVersion();
  std::string answer = api::EncodeJson(*patched);
  Store(std::shared_ptr<const api::ResourceClaim>(std::move(patched)));
  return Ok(200, std::move(answer));
}

}  // namespace berth::simulator
