// SPDX-License-Identifier: Apache-2.0
#include "src/binding/pod_evictor.h"

#include <optional>
#include <utility>

#include "src/api/writes.h"
#include "src/binding/paths.h"

namespace berth::binding {
namespace {

// There is no pod of that name, or another one by now.
bool Gone(const client::ApiError& error) { return error.code == 404 || error.code == 409; }

void Delete(client::ApiClient& api, const api::ObjectMeta& metadata, AsyncDone done) {
  client::Request request;
  request.verb = client::Verb::kDelete;
  request.path = PodPath(metadata.namespace_, metadata.name);
  request.content_type = api::kJsonContentType;
  request.body = api::DeleteBody(metadata.uid);
  api.Send(std::move(request), [done = std::move(done)](const client::ResponseResult& result) {
    if (result.has_value() || Gone(result.error())) {
      done({});
    } else {
      done({Code::kError, result.error().ToString()});
    }
  });
}

}  // namespace

void PodEvictor::Evict(std::shared_ptr<const api::Pod> pod, std::string message, AsyncDone done) {
  api::PodStatusChange change;
  api::PodCondition& condition = change.condition.emplace();
  condition.type = "DisruptionTarget";
  condition.status = "True";
  condition.reason = "PreemptionByScheduler";
  condition.message = std::move(message);
  condition.observed_generation = pod->metadata.generation;
  status_patcher_.Patch(
      pod, std::move(change),
      [&api = api_, pod, done = std::move(done)](const std::optional<client::ApiError>& error) {
        if (!error) {
          Delete(api, pod->metadata, done);
        } else if (error->code == 404) {
          done({});
        } else {
          done({Code::kError, error->ToString()});
        }
      });
}

}  // namespace berth::binding
