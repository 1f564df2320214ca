// SPDX-License-Identifier: Apache-2.0
#include "src/binding/pod_evictor.h"

#include <optional>
#include <utility>

#include "berth/random.h"
#include "src/api/writes.h"
#include "src/binding/paths.h"
#include "src/binding/status_write.h"

namespace berth::binding {

class PodEvictor::Impl : public std::enable_shared_from_this<PodEvictor::Impl> {
 public:
  Impl(client::ApiClient& api, const Clock& clock, uint64_t seed)
      : api_(api), clock_(clock), random_(seed) {}

  void Evict(std::shared_ptr<const api::Pod> pod, std::string message, AsyncDone done);
  void Ask(const std::shared_ptr<const api::Pod>& pod, AsyncDone done);

 private:
  using PodPtr = std::shared_ptr<const api::Pod>;

  // Executor's thread.
  void Mark(const PodPtr& pod, const api::PodStatusChange& change, AsyncDone done);
  void Delete(const api::ObjectMeta& pod, AsyncDone done);

  client::ApiClient& api_;
  const Clock& clock_;
  Random random_;  // executor's thread
};

void PodEvictor::Impl::Evict(PodPtr pod, std::string message, AsyncDone done) {
  api::PodStatusChange change;
  api::PodCondition& condition = change.condition.emplace();
  condition.type = "DisruptionTarget";
  condition.status = "True";
  condition.reason = "PreemptionByScheduler";
  condition.message = std::move(message);
  condition.observed_generation = pod->metadata.generation;
  condition.last_transition_time = clock_.WallNow();
  api_.executor().Post([weak = weak_from_this(), pod = std::move(pod), change = std::move(change),
                        done = std::move(done)] {
    if (const auto self = weak.lock()) self->Mark(pod, change, done);
  });
}

void PodEvictor::Impl::Mark(const PodPtr& pod, const api::PodStatusChange& change, AsyncDone done) {
  auto body = api::PodStatusPatch(pod->status, change, pod->metadata.uid);
  if (!body) {
    Delete(pod->metadata, std::move(done));
    return;
  }
  const auto write =
      std::make_shared<StatusWrite>(api_, PodPath(pod->metadata.namespace_, pod->metadata.name),
                                    std::move(*body), client::Priority::kEviction, random_.Next(),
                                    [weak = weak_from_this(), pod, done = std::move(done)](
                                        const std::optional<client::ApiError>& error) {
                                      if (error && error->object_is_gone()) {
                                        done({Code::kSkip});
                                      } else if (error) {
                                        done({Code::kError, error->ToString()});
                                      } else if (const auto self = weak.lock()) {
                                        self->Delete(pod->metadata, done);
                                      }
                                    });
  write->Start({});
}

void PodEvictor::Impl::Delete(const api::ObjectMeta& pod, AsyncDone done) {
  client::Request request;
  request.verb = client::Verb::kDelete;
  request.priority = client::Priority::kEviction;
  request.repeats_5xx = true;
  request.path = PodPath(pod.namespace_, pod.name);
  request.content_type = api::kJsonContentType;
  request.body = api::DeleteBody(pod.uid);
  api_.Send(std::move(request), [done = std::move(done)](const client::ResponseResult& result) {
    if (result.has_value()) {
      done({});
    } else if (result.error().object_is_gone()) {
      done({Code::kSkip});
    } else {
      done({Code::kError, result.error().ToString()});
    }
  });
}

// The answer 429 is for now. It is not repeated here: who asked may want something else by then.
void PodEvictor::Impl::Ask(const PodPtr& pod, AsyncDone done) {
  const api::ObjectMeta& meta = pod->metadata;
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.priority = client::Priority::kEviction;
  request.path = PodPath(meta.namespace_, meta.name, "/eviction");
  request.content_type = api::kJsonContentType;
  request.body = api::EvictionBody(meta.namespace_, meta.name, meta.uid);
  api_.Send(std::move(request), [done = std::move(done)](const client::ResponseResult& result) {
    if (result.has_value()) {
      done({});
    } else if (result.error().object_is_gone()) {
      done({Code::kSkip});
    } else if (result.error().code == 429) {
      done({Code::kUnschedulable, result.error().ToString()});
    } else {
      done({Code::kError, result.error().ToString()});
    }
  });
}

PodEvictor::PodEvictor(client::ApiClient& api, const Clock& clock, uint64_t seed)
    : impl_(std::make_shared<Impl>(api, clock, seed)) {}
PodEvictor::~PodEvictor() = default;

void PodEvictor::Evict(std::shared_ptr<const api::Pod> pod, std::string message, AsyncDone done) {
  impl_->Evict(std::move(pod), std::move(message), std::move(done));
}

void PodEvictor::Ask(std::shared_ptr<const api::Pod> pod, AsyncDone done) {
  impl_->Ask(pod, std::move(done));
}

}  // namespace berth::binding
