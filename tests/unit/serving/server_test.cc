// SPDX-License-Identifier: Apache-2.0
#include "src/serving/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "src/base/clock.h"
#include "tests/unit/client/temp_folder.h"
#include "tests/unit/serving/resident_bytes.h"
#include "tests/unit/serving/tls_client.h"

namespace berth::serving {
namespace {

using test::TlsClient;
using testing::StartsWith;

// An API server that answers nothing. It holds what it was asked, as a client would.
class SilentApi final : public client::ApiClient {
 public:
  explicit SilentApi(const Clock& clock) : loop_(clock) {}

  std::shared_ptr<client::Call> Send(client::Request request, client::OnResponse done) override {
    const std::lock_guard lock(mutex_);
    ++asked_;
    open_.emplace(asked_, std::pair(std::move(request), std::move(done)));
    return std::make_shared<SilentCall>(*this, asked_);
  }
  std::shared_ptr<client::Call> Stream(
      client::Request /*request*/, Duration /*silence*/,
      std::shared_ptr<client::StreamHandler> /*handler*/) override {
    return nullptr;
  }
  base::Executor& executor() override { return loop_; }

  size_t asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  size_t open() {
    const std::lock_guard lock(mutex_);
    return open_.size();
  }

 private:
  class SilentCall final : public client::Call {
   public:
    SilentCall(SilentApi& api, size_t id) : api_(api), id_(id) {}
    void Cancel() override {
      const std::lock_guard lock(api_.mutex_);
      api_.open_.erase(id_);
    }

   private:
    SilentApi& api_;
    const size_t id_;
  };

  base::EventLoop loop_;
  std::mutex mutex_;
  size_t asked_ = 0;
  std::map<size_t, std::pair<client::Request, client::OnResponse>> open_;
};

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    ServerOptions options;
    options.listen.address = "127.0.0.1";
    options.authentication.skip_lookup = true;
    const auto router = std::make_shared<Router>();
    router->Answer("/livez", [](const Request&) { return Response{.body = "ok"}; });
    auto made = Server::Make(std::move(options), {&api_, &api_}, clock_, router);
    EXPECT_TRUE(made.has_value()) << made.error().message;
    server_ = std::move(*made);
    EXPECT_TRUE(server_->Start().has_value());
  }

  // `count` clients, one after another, that ask and go without their answer.
  void SendAndGo(size_t count, const std::function<std::string(size_t)>& request) {
    for (size_t i = 0; i < count; ++i) TlsClient(server_->port()).Send(request(i));
    EXPECT_THAT(TlsClient(server_->port()).Get("/livez"), StartsWith("HTTP/1.1 200 "));
  }

  base::RealClock clock_;
  SilentApi api_{clock_};
  std::unique_ptr<Server> server_;
};

std::string Head(const std::string& path, const std::string& fields) {
  return "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n";
}

TEST_F(ServerTest, WhatIsTooLongOrTooMuchIsRefusedBeforeAnythingIsAsked) {
  std::string many;
  for (int i = 0; i < 7000; ++i) many += "a:\r\n";
  const struct {
    const char* name;
    std::string request;
    const char* answer;
  } cases[] = {
      {"a path", Head("/" + std::string(30'000, 'a'), ""), "HTTP/1.1 414 "},
      {"headers", Head("/a", many), "HTTP/1.1 431 "},
      {"a token", Head("/a", "Authorization: Bearer " + std::string(20'000, 'a') + "\r\n"),
       "HTTP/1.1 401 "},
      {"a body", "PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n", "HTTP/1.1 413 "},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    TlsClient client(server_->port());
    client.Send(c.request);
    EXPECT_THAT(client.ReadAnswer(), StartsWith(c.answer));
  }
  EXPECT_EQ(api_.asked(), 0u);
}

TEST_F(ServerTest, OptionsAreCheckedWithoutListening) {
  const auto options = [this] {
    ServerOptions made;
    made.listen.address = "127.0.0.1";
    made.listen.port = server_->port();  // taken
    return made;
  };
  EXPECT_TRUE(Server::Check(options(), clock_));
  ServerOptions suites = options();
  suites.tls.cipher_suites = {"foo"};
  EXPECT_THAT(Server::Check(std::move(suites), clock_).error().message,
              StartsWith("--tls-cipher-suites: "));
  ServerOptions authorities = options();
  authorities.authentication.client_ca_file = "/nonexistent/ca.crt";
  EXPECT_THAT(Server::Check(std::move(authorities), clock_).error().message,
              StartsWith("--client-ca-file: "));
}

TEST_F(ServerTest, OnlyTheAuthoritiesOfTheFrontProxyMayBeWaitedFor) {
  const test::TempFolder folder;
  ServerOptions options;
  options.listen.address = "127.0.0.1";
  options.lookup_must_succeed = true;
  options.authentication.request_header_client_ca_file =
      folder.Write("proxy.crt", test::TestAuthority().certificate_pem());
  auto server =
      Server::Make(std::move(options), {&api_, &api_}, clock_, std::make_shared<Router>());
  ASSERT_TRUE(server.has_value()) << server.error().message;
  // Those of clients are asked for, and the answer never comes.
  EXPECT_TRUE((*server)->Start().has_value());
}

TEST_F(ServerTest, RequestsOfClientsThatAreGoneTakeNoMemory) {
  const auto large = [](size_t i) {
    std::string fields;
    for (int field = 0; field < 90; ++field) fields += "x: " + std::string(300, 'a') + "\r\n";
    return Head("/" + std::to_string(i) + std::string(2000, 'a'), fields);
  };
  SendAndGo(100, large);
  [[maybe_unused]] const size_t before = test::ResidentBytes();
  SendAndGo(300, large);
  EXPECT_EQ(api_.asked(), 400u);
  EXPECT_LE(api_.open(), 64u);
#ifndef __SANITIZE_ADDRESS__  // It keeps for a while what was freed.
  EXPECT_LT(test::ResidentBytes(), before + (10u << 20));
#endif
}

}  // namespace
}  // namespace berth::serving
