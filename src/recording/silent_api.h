// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "src/client/api_client.h"

namespace berth::recording {

// An API server that never answers, and an executor that never runs anything: what goes out of a
// scheduler that replays ends here.
//
// Thread safety: one owner.
class SilentApi final : public client::ApiClient {
 public:
  std::shared_ptr<client::Call> Send(client::Request, client::OnResponse) override {
    return std::make_shared<NoCall>();
  }
  std::shared_ptr<client::Call> Stream(client::Request, Duration,
                                       std::shared_ptr<client::StreamHandler>) override {
    return std::make_shared<NoCall>();
  }
  base::Executor& executor() override { return executor_; }

 private:
  class NoCall final : public client::Call {
   public:
    void Cancel() override {}
  };
  class IdleExecutor final : public base::Executor {
   public:
    void Post(Task) override {}
    TimerId PostAfter(Duration, Task) override { return ++last_id_; }
    void Cancel(TimerId) override {}

   private:
    TimerId last_id_ = 0;
  };

  IdleExecutor executor_;
};

}  // namespace berth::recording
