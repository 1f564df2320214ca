// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/check.h"
#include "src/base/clock.h"
#include "src/client/curl_client.h"
#include "tests/support/test_server.h"

namespace berth::test {

// Waits for an answer that a test owes itself; far longer than any takes.
template <typename T>
T Await(std::future<T> future) {
  BERTH_CHECK(future.wait_for(std::chrono::seconds(60)) == std::future_status::ready,
              "no answer within a minute");
  return future.get();
}

// What a server saw, from any thread.
class Served {
 public:
  void Add(const ServedRequest& request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
  }
  std::vector<ServedRequest> all() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  size_t size() const { return all().size(); }

 private:
  mutable std::mutex mutex_;
  std::vector<ServedRequest> requests_;
};

// The machine's time, and what a test adds to it. Thread safety: any thread.
class AheadClock final : public Clock {
 public:
  Time Now() const override { return machine_.Now() + ahead_.load(); }
  void Advance(Duration by) { ahead_ = ahead_.load() + by; }

 private:
  const base::RealClock machine_;
  std::atomic<Duration> ahead_{Duration::zero()};
};

// A client of one test; `configure` changes its options first.
class TestClient {
 public:
  explicit TestClient(const TestServer& server,
                      const std::function<void(client::ClientOptions&)>& configure = {})
      : TestClient(server.url(), server.authority().certificate_pem(), configure) {}
  TestClient(const std::string& url, const std::string& ca_pem,
             const std::function<void(client::ClientOptions&)>& configure = {}) {
    client::ClientOptions options;
    options.server.cluster.server = url;
    options.server.cluster.ca_data = ca_pem;
    if (configure) configure(options);
    auto made = client::CurlClient::Make(std::move(options), clock_);
    BERTH_CHECK(made.has_value(), "the options are wrong");
    client_ = std::move(*made);
  }

  client::CurlClient& operator*() { return *client_; }
  client::CurlClient* operator->() { return client_.get(); }

  std::future<client::ResponseResult> Start(client::Request request,
                                            std::shared_ptr<client::Call>* call = nullptr) {
    auto promise = std::make_shared<std::promise<client::ResponseResult>>();
    auto future = promise->get_future();
    auto made = client_->Send(std::move(request), [promise](client::ResponseResult result) {
      promise->set_value(std::move(result));
    });
    if (call != nullptr) *call = std::move(made);
    return future;
  }
  client::ResponseResult Do(client::Request request) { return Await(Start(std::move(request))); }

  // Returns once everything that was asked of the client so far has begun.
  void Flush() {
    std::promise<void> flushed;
    client_->executor().Post([&flushed] { flushed.set_value(); });
    Await(flushed.get_future());
  }
  void Advance(Duration by) {
    clock_.Advance(by);
    Flush();  // the loop looks at its timers
  }

 private:
  AheadClock clock_;
  std::unique_ptr<client::CurlClient> client_;
};

inline client::Request Get(const std::string& path, int max_retries = 0) {
  client::Request request;
  request.path = path;
  request.max_retries = max_retries;
  return request;
}

// A stream, and when its first data and its end come.
class Watch final : public client::StreamHandler {
 public:
  void OnStart(const client::Response&) override {}
  bool OnData(std::string_view) override {
    if (!std::exchange(spoke_, true)) data.set_value();
    return true;
  }
  void OnEnd(std::optional<client::ApiError> error) override { end.set_value(std::move(error)); }

  std::promise<void> data;
  std::promise<std::optional<client::ApiError>> end;

 private:
  bool spoke_ = false;
};

inline std::shared_ptr<Watch> StartWatch(client::ApiClient& client) {
  auto watch = std::make_shared<Watch>();
  client::Request request = Get("/watch");
  request.verb = client::Verb::kWatch;
  request.priority = client::Priority::kUnlimited;
  request.timeout = {};
  client.Stream(std::move(request), std::chrono::seconds(1000), watch);
  return watch;
}

inline client::Request Post(const std::string& path, const std::string& body, int max_retries = 0) {
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.priority = client::Priority::kBind;
  request.path = path;
  request.content_type = "application/json";
  request.body = body;
  request.max_retries = max_retries;
  return request;
}

}  // namespace berth::test
