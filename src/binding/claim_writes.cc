// SPDX-License-Identifier: Apache-2.0
#include "src/binding/claim_writes.h"

#include <memory>
#include <string>
#include <utility>

#include "src/api/claim_patches.h"
#include "src/api/decode.h"
#include "src/api/writes.h"
#include "src/binding/error_text.h"
#include "src/binding/paths.h"

namespace berth::binding {
namespace {

using client::Verb;

ClaimAnswer::Outcome OutcomeOf(const client::ApiError& error) {
  if (error.code == 404) return ClaimAnswer::Outcome::kNotFound;
  if (error.code == 409) return ClaimAnswer::Outcome::kConflict;
  return error.unknown_outcome() ? ClaimAnswer::Outcome::kUnknown : ClaimAnswer::Outcome::kFailed;
}

ClaimAnswer AnswerOf(const client::ResponseResult& result) {
  if (!result) {
    return {.outcome = OutcomeOf(result.error()), .error = Text(result.error())};
  }
  auto claim = api::DecodeJson<api::ResourceClaim>(result->body);
  if (!claim) {
    return {.outcome = ClaimAnswer::Outcome::kUnknown,
            .error = "the answer cannot be read: " + claim.error().message};
  }
  return {.claim = std::make_shared<const api::ResourceClaim>(*std::move(claim))};
}

// The pod is bound once this is done: it goes with the binds.
client::Request RequestFor(Verb verb, std::string path, std::string_view content_type,
                           std::string body) {
  client::Request request;
  request.verb = verb;
  request.priority = client::Priority::kBind;
  request.path = std::move(path);
  request.content_type = content_type;
  request.body = std::move(body);
  return request;
}

std::string PathOf(const api::ResourceClaim& claim) {
  return ResourceClaimPath(claim.metadata.namespace_, claim.metadata.name);
}

}  // namespace

void ClaimWrites::Send(client::Request request, ClaimDone done) {
  api_.Send(std::move(request), [done = std::move(done)](const client::ResponseResult& result) {
    done(AnswerOf(result));
  });
}

void ClaimWrites::Read(std::string_view namespace_, std::string_view name, ClaimDone done) {
  Send(RequestFor(Verb::kGet, ResourceClaimPath(namespace_, name), "", ""), std::move(done));
}

void ClaimWrites::AddFinalizer(const api::ResourceClaim& claim, ClaimDone done) {
  Send(RequestFor(Verb::kPatch, PathOf(claim), api::kStrategicMergePatchContentType,
                  api::AddFinalizerPatch(claim)),
       std::move(done));
}

void ClaimWrites::RemoveFinalizer(const api::ResourceClaim& claim, ClaimDone done) {
  Send(RequestFor(Verb::kPatch, PathOf(claim), api::kStrategicMergePatchContentType,
                  api::RemoveFinalizerPatch(claim)),
       std::move(done));
}

void ClaimWrites::WriteStatus(const api::ResourceClaim& claim, ClaimDone done) {
  Send(RequestFor(Verb::kPatch, PathOf(claim) + "/status", api::kJsonPatchContentType,
                  api::ClaimStatusPatch(claim)),
       std::move(done));
}

void ClaimWrites::RemoveReservation(const api::ResourceClaim& claim, std::string_view consumer_uid,
                                    ClaimDone done) {
  Send(RequestFor(Verb::kPatch, PathOf(claim) + "/status", api::kStrategicMergePatchContentType,
                  api::RemoveReservationPatch(claim, consumer_uid)),
       std::move(done));
}

void ClaimWrites::Create(const api::ResourceClaim& claim, std::string_view generate_name,
                         ClaimDone done) {
  Send(RequestFor(Verb::kCreate, ResourceClaimsPath(claim.metadata.namespace_),
                  api::kJsonContentType, api::NewClaimBody(claim, generate_name)),
       std::move(done));
}

void ClaimWrites::Delete(const api::ResourceClaim& claim, ClaimDone done) {
  api_.Send(RequestFor(Verb::kDelete, PathOf(claim), api::kJsonContentType,
                       api::DeleteBody(claim.metadata.uid)),
            [done = std::move(done)](const client::ResponseResult& result) {
              ClaimAnswer answer;
              if (!result)
                answer = {.outcome = OutcomeOf(result.error()), .error = Text(result.error())};
              done(std::move(answer));
            });
}

void ClaimWrites::WriteExtendedResourceClaimStatus(
    const api::Pod& pod, const api::PodExtendedResourceClaimStatus& status, AsyncDone done) {
  api_.Send(RequestFor(Verb::kPatch, PodPath(pod.metadata.namespace_, pod.metadata.name, "/status"),
                       api::kStrategicMergePatchContentType,
                       api::ExtendedResourceClaimStatusPatch(pod, status)),
            [done = std::move(done)](const client::ResponseResult& result) {
              done(result ? AsyncStatus() : AsyncStatus{Code::kError, Text(result.error())});
            });
}

}  // namespace berth::binding
