// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "src/client/api_client.h"

namespace berth::client {

// Lets reads through to another client. A write is not sent: it is answered with success on the
// executor's next turn, so that the caller goes on as if it was done; an update with what was sent,
// else without a body.
//
// Thread safety: any thread, as ApiClient.
class ReadOnlyClient final : public ApiClient {
 public:
  // `client` must outlive this.
  explicit ReadOnlyClient(ApiClient& client) : client_(client) {}

  std::shared_ptr<Call> Send(Request request, OnResponse done) override;
  std::shared_ptr<Call> Stream(Request request, Duration silence,
                               std::shared_ptr<StreamHandler> handler) override;
  base::Executor& executor() override { return client_.executor(); }

 private:
  ApiClient& client_;
};

}  // namespace berth::client
