// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include <cstring>
#include <memory>

#include "src/base/mutex.h"
#include "tests/unit/client/client_harness.h"

namespace berth::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Await;
using test::Get;
using test::ServedRequest;
using test::ServerPeer;
using test::TestClient;
using test::TestServer;

constexpr char kName[] = "api.lookup.test";
constexpr char kSubjectName[] = "DNS:api.lookup.test";

// The name server of kName, which may hang. Look-ups are made by threads of libcurl's that no call
// joins, so this lives as long as the process.
class NameServer {
 public:
  static NameServer& Get() {
    static auto* const server = new NameServer;
    return *server;
  }

  void Hang() {
    base::MutexLock lock(mutex_);
    hangs_ = true;
  }
  // Those who wait are answered; returns once they are.
  void Recover() {
    base::MutexLock lock(mutex_);
    hangs_ = false;
    changed_.NotifyAll();
    while (waiting_ > 0) changed_.Wait(mutex_);
  }
  void AwaitLookup() {
    base::MutexLock lock(mutex_);
    while (waiting_ == 0) changed_.Wait(mutex_);
  }
  void LookUp() {
    base::MutexLock lock(mutex_);
    ++waiting_;
    changed_.NotifyAll();
    while (hangs_) changed_.Wait(mutex_);
    --waiting_;
    changed_.NotifyAll();
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  bool hangs_ = false;
  int waiting_ = 0;
};

// A lease's request over a connection that stands.
Request LeaseRequest() {
  Request request = Get("/lease");
  request.priority = Priority::kUnlimited;
  request.timeout = seconds(60);
  return request;
}

class NameLookupTest : public testing::Test {
 protected:
  NameLookupTest() {
    TestServer::Options options;
    options.names = {kSubjectName};
    server_ = std::make_unique<TestServer>(
        [](const ServedRequest&, ServerPeer& peer) { peer.Answer(200, "{}"); }, options);
    client_ = std::make_unique<TestClient>(
        "https://" + std::string(kName) + ":" + std::to_string(server_->port()),
        server_->authority().certificate_pem());
  }
  ~NameLookupTest() override { NameServer::Get().Recover(); }

  std::unique_ptr<TestServer> server_;
  std::unique_ptr<TestClient> client_;
};

// What a look-up under way costs those whose connections stand, once its request is over.
TEST_F(NameLookupTest, ALookupThatHangsHoldsUpNoOtherRequest) {
  ASSERT_TRUE(client_->Do(LeaseRequest()));
  NameServer::Get().Hang();
  std::shared_ptr<Call> call;
  auto lost = client_->Start(Get("/other"), &call);
  NameServer::Get().AwaitLookup();
  const base::RealClock clock;
  const Time began = clock.Now();
  call->Cancel();
  auto lease = client_->Start(LeaseRequest());
  const bool in_time = lease.wait_for(seconds(5)) == std::future_status::ready;
  RecordProperty("lease_answered_after_ms",
                 std::to_string((clock.Now() - began) / milliseconds(1)));
  EXPECT_TRUE(in_time) << "the I/O thread waits for the look-up";
  NameServer::Get().Recover();
  EXPECT_TRUE(Await(std::move(lease)));
  EXPECT_EQ(Await(std::move(lost)).error().reason, kReasonCancelled);
}

TEST_F(NameLookupTest, ALookupThatHangsEndsWithItsRequestsTimeout) {
  NameServer::Get().Hang();
  Request request = Get("/other");
  request.timeout = milliseconds(100);
  auto late = client_->Start(request);
  ASSERT_EQ(late.wait_for(seconds(5)), std::future_status::ready);
  const ResponseResult result = late.get();
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().never_sent) << result.error().ToString();
}

TEST_F(NameLookupTest, AClientIsDestroyedWhileALookupHangs) {
  NameServer::Get().Hang();
  auto lost = client_->Start(Get("/other"));
  NameServer::Get().AwaitLookup();
  std::promise<void> destroyed;
  auto done = destroyed.get_future();
  base::NamedThread thread("destroys", [&] {
    client_.reset();
    destroyed.set_value();
  });
  EXPECT_EQ(done.wait_for(seconds(5)), std::future_status::ready);
  NameServer::Get().Recover();
  thread.Join();
  EXPECT_FALSE(Await(std::move(lost)));
}

}  // namespace
}  // namespace berth::client

// In place of the C library's, for all that this program looks up.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  static const auto real =
      reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  if (name == nullptr || std::strcmp(name, berth::client::kName) != 0) {
    return real(name, service, hints, found);
  }
  berth::client::NameServer::Get().LookUp();
  return real("127.0.0.1", service, hints, found);
}
