// SPDX-License-Identifier: Apache-2.0
#include "src/binding/volume_writes.h"

#include <string>
#include <utility>

#include "src/api/claim_bodies.h"
#include "src/api/writes.h"
#include "src/binding/paths.h"
#include "src/binding/status_write.h"

namespace berth::binding {
namespace {

// The pod is bound once this is done: it goes with the binds.
void Patch(client::ApiClient& api, std::string path, std::string body, Cancellation& cancellation,
           AsyncDone done) {
  client::Request request;
  request.verb = client::Verb::kPatch;
  request.priority = client::Priority::kBind;
  // It names the version: a patch that was executed already is a conflict.
  request.repeats_5xx = true;
  request.path = std::move(path);
  request.content_type = api::kStrategicMergePatchContentType;
  request.body = std::move(body);
  // Once `done` is called, the cancellation may be gone.
  const auto call =
      api.Send(std::move(request), [done = std::move(done)](const client::ResponseResult& result) {
        done(result.has_value() ? AsyncStatus() : AsyncStatus{Code::kError, Text(result.error())});
      });
  cancellation.OnCancel([call] { call->Cancel(); });
}

}  // namespace

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
