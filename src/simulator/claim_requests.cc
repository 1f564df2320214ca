// SPDX-License-Identifier: Apache-2.0
// What MemoryApi does about ResourceClaims.
#include <utility>

#include "berth/api/decode_value.h"
#include "src/api/decode.h"
#include "src/api/protobuf_writer.h"
#include "src/api/protobuf_writes.h"
#include "src/documents/parse.h"
#include "src/simulator/answers.h"
#include "src/simulator/memory_api.h"

namespace berth::simulator {
namespace {

using informers::Kind;

std::string ShownName(std::string_view name) {
  return "resourceclaims.resource.k8s.io \"" + std::string(name) + "\"";
}

// The claim in the form that the request prefers.
client::Response AnswerWith(const client::Request& request, int code,
                            const api::ResourceClaim& claim) {
  if (api::EncodingOf(request.accept) == api::Encoding::kJson) {
    return Ok(code, api::EncodeJson(claim));
  }
  std::string message;
  api::EncodeProtobuf(claim, nullptr, message);
  return {code, std::string(api::kProtobufContentType), std::move(message)};
}

}  // namespace

client::ResponseResult MemoryApi::AnswerClaim(const client::Request& request,
                                              const ObjectPath& path) {
  ConfigValue body;
  if (!request.body.empty() && request.verb != client::Verb::kUpdate) {
    auto parsed = documents::ParseJson(request.body, "");
    if (!parsed) return Refuse(400, "BadRequest", parsed.error().message);
    body = *std::move(parsed);
  }
  if (request.verb == client::Verb::kCreate && path.name().empty()) {
    return CreateClaim(request, path.namespace_(), body);
  }
  const auto claim = FindIn<api::ResourceClaim>(*this, Kind::kResourceClaim, path.key);
  if (claim == nullptr) return Refuse(404, "NotFound", ShownName(path.name()) + " not found");
  switch (request.verb) {
    case client::Verb::kGet:
      return AnswerWith(request, 200, *claim);
    case client::Verb::kUpdate:
      return UpdateClaim(*claim, path, request);
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

client::ResponseResult MemoryApi::CreateClaim(const client::Request& request,
                                              std::string_view claim_namespace,
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
  client::Response answer = AnswerWith(request, 201, *claim);
  Store(std::shared_ptr<const api::ResourceClaim>(std::move(claim)));
  return answer;
}

client::ResponseResult MemoryApi::UpdateClaim(const api::ResourceClaim& claim,
                                              const ObjectPath& path,
                                              const client::Request& request) {
  auto sent = api::Decode<api::ResourceClaim>(api::EncodingOf(request.content_type), request.body);
  if (!sent) return Refuse(400, "BadRequest", sent.error().message);
  const std::string name = ShownName(claim.metadata.name);
  const api::ObjectMeta& meta = sent->metadata;
  if (!meta.uid.empty() && meta.uid != claim.metadata.uid) return ModifiedMeanwhile(name);
  if (!meta.resource_version.empty() && meta.resource_version != claim.metadata.resource_version) {
    return ModifiedMeanwhile(name);
  }
  if (path.subresource.empty()) {
    if (sent->spec != claim.spec) return Refuse(422, "Invalid", "spec: field is immutable");
    // Of what may change of the claim itself only finalizers are written, which are not kept.
    return AnswerWith(request, 200, claim);
  }
  if (sent->status == claim.status) return AnswerWith(request, 200, claim);
  auto changed = std::make_shared<api::ResourceClaim>(claim);
  changed->status = std::move(sent->status);
  changed->stored = {};
  changed->metadata.resource_version = NextVersion();
  client::Response answer = AnswerWith(request, 200, *changed);
  Store(std::shared_ptr<const api::ResourceClaim>(std::move(changed)));
  return answer;
}

}  // namespace berth::simulator
