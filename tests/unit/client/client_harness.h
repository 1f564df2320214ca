// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
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

 private:
  base::RealClock clock_;
  std::unique_ptr<client::CurlClient> client_;
};

inline client::Request Get(const std::string& path, int max_retries = 0) {
  client::Request request;
  request.path = path;
  request.max_retries = max_retries;
  return request;
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
