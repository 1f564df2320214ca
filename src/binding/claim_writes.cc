// SPDX-License-Identifier: Apache-2.0
#include "src/binding/claim_writes.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "src/api/claim_bodies.h"
#include "src/api/decode.h"
#include "src/api/protobuf_writes.h"
#include "src/api/stored_form.h"
#include "src/api/writes.h"
#include "src/base/logging.h"
#include "src/binding/paths.h"
#include "src/binding/status_write.h"

namespace berth::binding {
namespace {

using client::Verb;

ClaimAnswer::Outcome OutcomeOf(const client::ApiError& error) {
  if (error.code == 404) return ClaimAnswer::Outcome::kNotFound;
  if (error.code == 409) return ClaimAnswer::Outcome::kConflict;
  return error.unknown_outcome() ? ClaimAnswer::Outcome::kUnknown : ClaimAnswer::Outcome::kFailed;
}

ClaimAnswer AnswerOf(const client::ResponseResult& result) {
  if (!result) return {.outcome = OutcomeOf(result.error()), .error = Text(result.error())};
  const api::Encoding encoding = api::EncodingOf(result->content_type);
  auto claim = api::Decode<api::ResourceClaim>(encoding, result->body);
  if (!claim) {
    return {.outcome = ClaimAnswer::Outcome::kUnknown,
            .error = "the answer cannot be read: " + claim.error().message};
  }
  claim->stored = api::StoredFormOf(encoding, result->body);
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

// Not all who write wait for the answer.
void LogRefusal(const std::string& path, const ClaimAnswer& answer) {
  if (answer.outcome != ClaimAnswer::Outcome::kFailed) return;
  base::LogWarning("Write of a ResourceClaim was refused", {{"path", path}, {"err", answer.error}});
}

std::string PathOf(const api::ResourceClaim& claim) {
  return ResourceClaimPath(claim.metadata.namespace_, claim.metadata.name);
}

// What is answered with a claim. Always protobuf where the server has it: in JSON it does not leave
// drivers' parameters as they are.
void Send(client::ApiClient& api, client::Request request, ClaimDone done) {
  request.accept =
      std::string(api::kProtobufContentType) + "," + std::string(api::kJsonContentType);
  const bool reads = request.verb == Verb::kGet;
  std::string path = request.path;
  api.Send(std::move(request), [reads, path = std::move(path),
                                done = std::move(done)](const client::ResponseResult& result) {
    ClaimAnswer answer = AnswerOf(result);
    if (!reads) LogRefusal(path, answer);
    done(std::move(answer));
  });
}

void ReadClaim(client::ApiClient& api, std::string path, ClaimDone done) {
  Send(api, RequestFor(Verb::kGet, std::move(path), "", ""), std::move(done));
}

// What a write makes of the claim; nullopt: nothing is to be changed.
using Change = std::function<Result<std::optional<api::StoredForm>>(const api::ResourceClaim&)>;

// `claim` was read with what it is stored as. `subresource`: "" or "/status". `change` is called
// at once.
void Put(client::ApiClient& api, const api::ResourceClaim& claim, std::string_view subresource,
         const Change& change, ClaimDone done) {
  const auto changed = change(claim);
  if (changed && *changed) {
    const api::StoredForm& form = **changed;
    using ClaimKind = api::KindOf<api::ResourceClaim>;
    Send(api,
         RequestFor(Verb::kUpdate, PathOf(claim) + std::string(subresource),
                    api::ContentTypeOf(form),
                    api::BodyOf(form, ClaimKind::kApiVersion, ClaimKind::kKind)),
         std::move(done));
    return;
  }
  ClaimAnswer answer;
  if (changed) {
    answer.claim = std::make_shared<const api::ResourceClaim>(claim);
  } else {
    answer = {.outcome = ClaimAnswer::Outcome::kFailed, .error = changed.error().message};
  }
  api.executor().Post([done = std::move(done), answer = std::move(answer)] { done(answer); });
}

// Writes upon this very version.
void Update(client::ApiClient& api, const api::ResourceClaim& claim, std::string_view subresource,
            Change change, ClaimDone done) {
  if (claim.stored.bytes != nullptr) {
    Put(api, claim, subresource, change, std::move(done));
    return;
  }
  ReadClaim(api, PathOf(claim),
            [&api, uid = claim.metadata.uid, version = claim.metadata.resource_version, subresource,
             change = std::move(change), done = std::move(done)](ClaimAnswer answer) {
              if (!answer.ok()) return done(std::move(answer));
              const api::ObjectMeta& now = answer.claim->metadata;
              if (now.uid != uid || now.resource_version != version) {
                return done({.outcome = ClaimAnswer::Outcome::kConflict,
                             .error = "ResourceClaim " + now.Key() +
                                      " has been modified: it was of version " + version +
                                      ", and is of " + now.resource_version});
              }
              Put(api, *answer.claim, subresource, change, done);
            });
}

constexpr int kMostTries = 5;

// A write of a claim whatever its version is.
struct LatestChange {
  std::string path;
  std::string uid;
  std::string_view subresource;  // a literal
  Change change;
};

// Reads the claim, and again after a conflict; `tries` of all tries have been made.
void ChangeLatest(client::ApiClient& api, LatestChange wanted, int tries, ClaimDone done) {
  std::string path = wanted.path;
  ReadClaim(
      api, std::move(path),
      [&api, wanted = std::move(wanted), tries, done = std::move(done)](ClaimAnswer answer) {
        if (!answer.ok()) return done(std::move(answer));
        if (answer.claim->metadata.uid != wanted.uid) {
          return done(
              {.outcome = ClaimAnswer::Outcome::kConflict,
               .error = "ResourceClaim " + answer.claim->metadata.Key() + " is another one"});
        }
        Put(api, *answer.claim, wanted.subresource, wanted.change,
            [&api, wanted, tries, done](ClaimAnswer written) {
              if (written.outcome != ClaimAnswer::Outcome::kConflict || tries + 1 == kMostTries) {
                return done(std::move(written));
              }
              ChangeLatest(api, wanted, tries + 1, done);
            });
      });
}

// Tells `done` whether the request succeeded.
std::shared_ptr<client::Call> SendFor(client::ApiClient& api, client::Request request,
                                      AsyncDone done) {
  return api.Send(std::move(request),
                  [done = std::move(done)](const client::ResponseResult& result) {
                    done(result ? AsyncStatus() : AsyncStatus{Code::kError, Text(result.error())});
                  });
}

void Patch(client::ApiClient& api, std::string path, std::string body, Cancellation& cancellation,
           AsyncDone done) {
  client::Request request = RequestFor(Verb::kPatch, std::move(path),
                                       api::kStrategicMergePatchContentType, std::move(body));
  // It names the version: a patch that was executed already is a conflict.
  request.repeats_5xx = true;
  // Once `done` is called, the cancellation may be gone.
  const auto call = SendFor(api, std::move(request), std::move(done));
  cancellation.OnCancel([call] { call->Cancel(); });
}

}  // namespace

void WriteClaimStatuses(client::ApiClient& api, const api::Pod& pod,
                        const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses,
                        AsyncDone done) {
  std::string body = api::NodeAllocatableClaimStatusesPatch(pod, statuses);
  if (!statuses.empty()) {
    PatchPodBeingBound(api, pod, std::move(body), api::kMergePatchContentType, std::move(done));
    return;
  }
  // Sent once: later it might take back what the pod's next attempt has written.
  SendFor(api,
          RequestFor(Verb::kPatch, PodPath(pod.metadata.namespace_, pod.metadata.name, "/status"),
                     api::kMergePatchContentType, std::move(body)),
          std::move(done));
}

void ClaimWrites::Read(std::string_view namespace_, std::string_view name, ClaimDone done) {
  ReadClaim(api_, ResourceClaimPath(namespace_, name), std::move(done));
}

void ClaimWrites::AddFinalizer(const api::ResourceClaim& claim, ClaimDone done) {
  const auto add = [](const api::ResourceClaim& now) -> Result<std::optional<api::StoredForm>> {
    return api::WithFinalizer(now.stored);
  };
  Update(api_, claim, "", add, std::move(done));
}

void ClaimWrites::RemoveFinalizer(const api::ResourceClaim& claim, ClaimDone done) {
  const auto remove = [](const api::ResourceClaim& now) -> Result<std::optional<api::StoredForm>> {
    return api::WithoutFinalizer(now.stored);
  };
  Update(api_, claim, "", remove,
         [&api = api_, wanted = LatestChange{PathOf(claim), claim.metadata.uid, "", remove},
          done = std::move(done)](ClaimAnswer answer) {
           if (answer.outcome != ClaimAnswer::Outcome::kConflict) return done(std::move(answer));
           ChangeLatest(api, wanted, 1, done);
         });
}

void ClaimWrites::WriteStatus(const api::ResourceClaim& claim, ClaimDone done) {
  // As mostly: then the status need not live on.
  if (claim.stored.bytes != nullptr) {
    const auto write_now =
        [](const api::ResourceClaim& now) -> Result<std::optional<api::StoredForm>> {
      return api::WithStatus(now.stored, now.status);
    };
    return Put(api_, claim, "/status", write_now, std::move(done));
  }
  const auto write = [status = claim.status](
                         const api::ResourceClaim& now) -> Result<std::optional<api::StoredForm>> {
    return api::WithStatus(now.stored, status);
  };
  Update(api_, claim, "/status", write, std::move(done));
}

void ClaimWrites::RemoveReservation(const api::ResourceClaim& claim, std::string_view consumer_uid,
                                    ClaimDone done) {
  const auto remove = [consumer_uid = std::string(consumer_uid)](
                          const api::ResourceClaim& now) -> Result<std::optional<api::StoredForm>> {
    api::ResourceClaimStatus status = now.status;
    const bool has_it = std::erase_if(status.reserved_for, [&](const auto& consumer) {
                          return consumer.uid == consumer_uid;
                        }) > 0;
    if (!has_it) return std::optional<api::StoredForm>();
    return api::WithStatus(now.stored, status);
  };
  ChangeLatest(api_, {PathOf(claim), claim.metadata.uid, "/status", remove}, 0, std::move(done));
}

void ClaimWrites::Create(const api::ResourceClaim& claim, std::string_view generate_name,
                         ClaimDone done) {
  Send(api_,
       RequestFor(Verb::kCreate, ResourceClaimsPath(claim.metadata.namespace_),
                  api::kJsonContentType, api::NewClaimBody(claim, generate_name)),
       std::move(done));
}

void ClaimWrites::Delete(const api::ResourceClaim& claim, ClaimDone done) {
  api_.Send(RequestFor(Verb::kDelete, PathOf(claim), api::kJsonContentType,
                       api::DeleteBody(claim.metadata.uid)),
            [path = PathOf(claim), done = std::move(done)](const client::ResponseResult& result) {
              ClaimAnswer answer;
              if (!result)
                answer = {.outcome = OutcomeOf(result.error()), .error = Text(result.error())};
              LogRefusal(path, answer);
              done(std::move(answer));
            });
}

void ClaimWrites::WriteExtendedResourceClaimStatus(
    const api::Pod& pod, const api::PodExtendedResourceClaimStatus& status, AsyncDone done) {
  PatchPodBeingBound(api_, pod, api::ExtendedResourceClaimStatusPatch(pod, status),
                     api::kStrategicMergePatchContentType, std::move(done));
}

void WriteAssumed(client::ApiClient& api, const api::PersistentVolume& volume,
                  Cancellation& cancellation, AsyncDone done) {
  Patch(api, VolumePath(volume.metadata.name), api::VolumePatch(volume), cancellation,
        std::move(done));
}

void WriteAssumed(client::ApiClient& api, const api::PersistentVolumeClaim& claim,
                  Cancellation& cancellation, AsyncDone done) {
  Patch(api, ClaimPath(claim.metadata.namespace_, claim.metadata.name), api::ClaimPatch(claim),
        cancellation, std::move(done));
}

}  // namespace berth::binding
