// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/virtual_time.h"
#include "src/client/api_client.h"

namespace berth::test {

// Errors as a client reports them: a verdict of the server, no answer, and never sent.
client::ApiError Rejection(int code, std::string message = "rejected");
client::ApiError NoAnswer();
client::ApiError NeverSent();

// One request to a FakeApi, answered by the test. Answers arrive on the executor's next turn.
class FakeCall {
 public:
  FakeCall(base::VirtualExecutor& executor, client::Request a_request)
      : request(std::move(a_request)), executor_(executor) {}

  const client::Request request;
  // Of a stream.
  Duration silence{};
  bool is_stream() const { return handler_ != nullptr; }
  // No answer has been given yet.
  bool open() const { return open_; }
  bool cancelled() const { return cancelled_; }

  // Answers a request: a 2xx response, or a Rejection with `body` as its message.
  void Reply(int code, std::string body = "");
  void Fail(client::ApiError error);

  // Parts of a streamed answer.
  void Begin(std::string content_type = "application/json");
  void Push(std::string data);
  void End(std::optional<client::ApiError> error = std::nullopt);

 private:
  friend class FakeApi;
  void Finish(client::ResponseResult result);

  base::VirtualExecutor& executor_;
  client::OnResponse done_;
  std::shared_ptr<client::StreamHandler> handler_;
  bool open_ = true;
  bool cancelled_ = false;
};

// A client without a server: keeps every request for the test to look at and to answer. A cancelled
// request fails with NoAnswer(), or NeverSent() when `cancel_in_line` is set.
class FakeApi final : public client::ApiClient {
 public:
  // Answers a request at once, or leaves it open with nullopt.
  using Model = std::function<std::optional<client::ResponseResult>(const client::Request&)>;

  explicit FakeApi(base::VirtualExecutor& executor) : executor_(executor) {}
  // What waits for an answer that does not come may keep its call, and is let go.
  ~FakeApi() override;

  std::shared_ptr<client::Call> Send(client::Request request, client::OnResponse done) override;
  std::shared_ptr<client::Call> Stream(client::Request request, Duration silence,
                                       std::shared_ptr<client::StreamHandler> handler) override;
  bool MayWrite() const override { return may_write; }
  bool ReadsProtobuf() const override { return reads_protobuf; }
  base::Executor& executor() override { return executor_; }

  void set_model(Model model) { model_ = std::move(model); }

  size_t size() const { return calls_.size(); }
  // In the order they were made.
  FakeCall& at(size_t index) { return *calls_.at(index); }
  FakeCall& last() { return *calls_.back(); }
  // How many requests of this verb were made.
  size_t Count(client::Verb verb) const;

  bool cancel_in_line = false;
  bool may_write = true;  // only MayWrite() heeds it
  bool reads_protobuf = false;

 private:
  class Handle;

  base::VirtualExecutor& executor_;
  Model model_;
  std::vector<std::shared_ptr<FakeCall>> calls_;
};

}  // namespace berth::test
