// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/api/pod.h"
#include "berth/in_tree/async.h"
#include "berth/random.h"
#include "src/api/writes.h"
#include "src/base/backoff.h"
#include "src/client/api_client.h"

namespace berth::binding {

// In the API server's own words where it answered.
inline std::string Text(const client::ApiError& error) {
  return error.code != 0 && !error.message.empty() ? error.message : error.ToString();
}

// One PATCH of an object's status, over all its tries: as kube-scheduler does, 409, 500, 503 and a
// refused connection are tried four times in all, besides what the client tries again.
//
// Thread safety: the executor's thread.
class StatusWrite : public std::enable_shared_from_this<StatusWrite> {
 public:
  // nullopt: written.
  using Done = std::function<void(const std::optional<client::ApiError>&)>;

  // `path` is that of the object; `body` is a strategic merge patch, unless `content_type` (a
  // literal) says otherwise. `api` must outlive the write.
  StatusWrite(client::ApiClient& api, std::string_view path, std::string body,
              client::Priority priority, uint64_t seed, Done done,
              std::string_view content_type = api::kStrategicMergePatchContentType);

  // Calls `done` exactly once, never inside the call. `waited` is how long it has waited already.
  void Start(Duration waited);
  // Gives up; `done` may be called within. What is under way may still be written.
  void Cancel();

 private:
  void Send();
  void OnAnswer(const client::ResponseResult& result);
  void Finish(const std::optional<client::ApiError>& error);

  client::ApiClient& api_;
  const std::string path_;
  const std::string body_;
  const client::Priority priority_;
  const std::string_view content_type_;
  Duration waited_{};
  Random random_;
  base::Backoff backoff_;
  Done done_;  // empty once it has been called
  int tries_ = 0;
  bool cancelled_ = false;
  std::optional<base::Executor::TimerId> timer_;
  std::shared_ptr<client::Call> call_;
};

// The same for the status of a pod that is being bound, in turn with the binds. `done` is called on
// the executor's thread, never inside the call; the Code is kError where it failed, in the API
// server's words. `api` must outlive the write. Any thread.
void PatchPodBeingBound(client::ApiClient& api, const api::Pod& pod, std::string body,
                        std::string_view content_type, AsyncDone done);

}  // namespace berth::binding
