// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/client/curl_client.h"
#include "tests/unit/client/client_harness.h"
#include "tests/unit/client/temp_folder.h"

namespace berth::client {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using test::Get;
using test::Post;
using test::Served;
using test::ServedRequest;
using test::ServerPeer;
using test::TempFolder;
using test::TestAuthority;
using test::TestClient;
using test::TestServer;
using testing::HasSubstr;

TestServer::Script Record(Served& served) {
  return [&served](const ServedRequest& request, ServerPeer& peer) {
    served.Add(request);
    peer.Answer(200, "{}");
  };
}

// Answers 401 to all but this Authorization.
TestServer::Script Demand(Served& served, std::string authorization) {
  return [&served, authorization](const ServedRequest& request, ServerPeer& peer) {
    served.Add(request);
    peer.Answer(request.header("authorization") == authorization ? 200 : 401, "{}");
  };
}

TEST(CurlTlsTest, AServerOfAnotherAuthorityIsNotTalkedTo) {
  Served served;
  TestServer server(Record(served));
  TestClient client(server.url(), TestAuthority("another authority").certificate_pem());
  const auto response = client.Do(Post("/x", "{}"));
  ASSERT_FALSE(response);
  EXPECT_TRUE(response.error().never_sent);
  EXPECT_THAT(response.error().message, HasSubstr("certificate"));
  EXPECT_EQ(served.size(), 0u);
}

TEST(CurlTlsTest, AServerOfAnotherNameIsNotTalkedTo) {
  Served served;
  TestServer server(Record(served), {.tls = true, .names = {"DNS:apiserver"}});
  TestClient client(server);
  const auto response = client.Do(Post("/x", "{}"));
  ASSERT_FALSE(response);
  EXPECT_TRUE(response.error().never_sent);
  EXPECT_EQ(served.size(), 0u);
}

TEST(CurlTlsTest, TlsServerNameIsAskedForAndVerifiedInsteadOfTheAddress) {
  Served served;
  TestServer server(Record(served), {.tls = true, .names = {"DNS:apiserver"}});
  TestClient client(server,
                    [](ClientOptions& o) { o.server.cluster.tls_server_name = "apiserver"; });
  const auto response = client.Do(Get("/x"));
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(served.all()[0].server_name, "apiserver");
  EXPECT_EQ(served.all()[0].header("host"), "127.0.0.1:" + std::to_string(server.port()));
  TestClient wrong(server, [](ClientOptions& o) { o.server.cluster.tls_server_name = "other"; });
  EXPECT_FALSE(wrong.Do(Get("/x")));
}

TEST(CurlTlsTest, InsecureSkipTlsVerifyTalksToAnybody) {
  Served served;
  TestServer server(Record(served), {.tls = true, .names = {"DNS:apiserver"}});
  TestClient client(server.url(), "",
                    [](ClientOptions& o) { o.server.cluster.insecure_skip_tls_verify = true; });
  EXPECT_TRUE(client.Do(Get("/x")));
}

TEST(CurlTlsTest, TheClientCertificateIsShownAndARotatedOneOnANewConnection) {
  const TempFolder folder;
  Served served;
  TestServer server([&](const ServedRequest& request, ServerPeer& peer) {
    served.Add(request);
    peer.Answer(request.client_subject == "old" && served.size() > 1 ? 401 : 200, "{}");
  });
  const auto write = [&](const char* name) {
    const auto issued = server.authority().Issue(name, {});
    folder.Write("crt", issued.certificate_pem);
    folder.Write("key", issued.key_pem);
  };
  write("old");
  TestClient client(server, [&](ClientOptions& options) {
    options.server.user.client_certificate_file = folder.Path("crt");
    options.server.user.client_key_file = folder.Path("key");
  });
  ASSERT_TRUE(client.Do(Post("/x", "{}")));
  write("new");
  ASSERT_TRUE(client.Do(Post("/x", "{}")));
  ASSERT_EQ(served.size(), 3u);
  EXPECT_EQ(served.all()[0].client_subject, "old");
  EXPECT_EQ(served.all()[2].client_subject, "new");
  EXPECT_EQ(served.all()[2].connection, 2);
}

// The watch would go on for as long as the server lets it.
TEST(CurlTlsTest, ARotatedCertificateEndsTheStreamsOfTheOldOne) {
  const TempFolder folder;
  Served served;
  TestServer server([&](const ServedRequest& request, ServerPeer& peer) {
    served.Add(request);
    peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nline\n");
    peer.WaitForPeer();
  });
  const auto write = [&](const char* name) {
    const auto issued = server.authority().Issue(name, {});
    folder.Write("crt", issued.certificate_pem);
    folder.Write("key", issued.key_pem);
  };
  write("old");
  test::AheadClock clock;
  ClientOptions options;
  options.server.cluster.server = server.url();
  options.server.cluster.ca_data = server.authority().certificate_pem();
  options.server.user.client_certificate_file = folder.Path("crt");
  options.server.user.client_key_file = folder.Path("key");
  const auto client = std::move(CurlClient::Make(std::move(options), clock).value());
  const auto pass = [&](Duration by) {
    clock.Advance(by);
    // The loop looks at its timers.
    std::promise<void> looked;
    client->executor().Post([&] { client->executor().Post([&] { looked.set_value(); }); });
    test::Await(looked.get_future());
  };
  const auto first = test::StartWatch(*client);
  test::Await(first->data.get_future());
  auto end = first->end.get_future();
  pass(minutes(1));
  EXPECT_NE(end.wait_for(seconds(0)), std::future_status::ready);
  write("new");
  pass(minutes(1));
  pass(seconds(30));
  const std::optional<ApiError> error = test::Await(std::move(end));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reason, kReasonConnectionLost);
  const auto second = test::StartWatch(*client);
  test::Await(second->data.get_future());
  ASSERT_EQ(served.size(), 2u);
  EXPECT_EQ(served.all()[0].client_subject, "old");
  EXPECT_EQ(served.all()[1].client_subject, "new");
}

TEST(CurlIdentityTest, A401IsTriedAgainOnceWithATokenReadAnew) {
  const TempFolder folder;
  folder.Write("token", "old");
  Served served;
  TestServer server(Demand(served, "Bearer new"));
  TestClient client(server, [&](ClientOptions& options) {
    options.server.user.token_file = folder.Path("token");
  });
  const auto refused = client.Do(Post("/x", "{}"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, 401);
  EXPECT_EQ(served.size(), 2u);
  folder.Write("token", "new");
  EXPECT_TRUE(client.Do(Post("/x", "{}")));
  EXPECT_EQ(served.size(), 4u);
}

TEST(CurlIdentityTest, A401ToAFixedTokenIsFinal) {
  Served served;
  TestServer server(Demand(served, "Bearer new"));
  TestClient client(server, [](ClientOptions& options) { options.server.user.token = "old"; });
  EXPECT_EQ(client.Do(Post("/x", "{}", 5)).error().code, 401);
  EXPECT_EQ(served.size(), 1u);
}

TEST(CurlIdentityTest, ThePluginIsRunAgainAfterA401) {
  const TempFolder folder;
  Served served;
  TestServer server(Demand(served, "Bearer 2"));
  TestClient client(server, [&](ClientOptions& options) {
    ExecConfig& exec = options.server.user.exec.emplace();
    exec.command = "sh";
    exec.args = {
        "-c", R"(echo x >> "$COUNT"; printf '{"kind":"ExecCredential","apiVersion":)"
              R"("client.authentication.k8s.io/v1","status":{"token":"%s"}}' $(wc -l < "$COUNT"))"};
    exec.env = {{"COUNT", folder.Path("count")}};
    exec.api_version = "client.authentication.k8s.io/v1";
    exec.interactive_mode = "Never";
  });
  const auto response = client.Do(Post("/x", "{}"));
  ASSERT_TRUE(response) << response.error().ToString();
  ASSERT_EQ(served.size(), 2u);
  EXPECT_EQ(served.all()[0].header("authorization"), "Bearer 1");
}

TEST(CurlIdentityTest, WithoutCredentialsNothingIsSent) {
  Served served;
  TestServer server(Record(served));
  TestClient client(server, [](ClientOptions& options) {
    options.server.user.token_file = "/nonexistent/token";
  });
  const auto response = client.Do(Post("/x", "{}"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason, kReasonCredentials);
  EXPECT_TRUE(response.error().never_sent);
  EXPECT_EQ(served.size(), 0u);
}

TEST(CurlIdentityTest, NothingSecretGoesOverAPlainConnection) {
  Served served;
  TestServer server(Record(served), {.tls = false});
  TestClient client(server, [](ClientOptions& options) { options.server.user.token = "secret"; });
  EXPECT_TRUE(client.Do(Get("/x")));
  EXPECT_FALSE(served.all()[0].headers.contains("authorization"));
}

TEST(CurlProxyTest, TheProxyIsAskedForATunnelAndLearnsNoSecret) {
  Served served;
  TestServer proxy(
      [&](const ServedRequest& request, ServerPeer& peer) {
        served.Add(request);
        peer.Answer(403, "no");
      },
      {.tls = false});
  TestClient client("https://api.example:6443", TestAuthority().certificate_pem(),
                    [&](ClientOptions& options) {
                      options.server.cluster.proxy_url = proxy.url();
                      options.server.user.token = "secret";
                    });
  const auto response = client.Do(Post("/x", "{}"));
  ASSERT_FALSE(response);
  EXPECT_TRUE(response.error().never_sent);
  ASSERT_EQ(served.size(), 1u);
  EXPECT_EQ(served.all()[0].method, "CONNECT");
  EXPECT_EQ(served.all()[0].target, "api.example:6443");
  EXPECT_FALSE(served.all()[0].headers.contains("authorization"));
}

}  // namespace
}  // namespace berth::client
