// SPDX-License-Identifier: Apache-2.0
#include "src/serving/tls_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <filesystem>

#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/thread.h"
#include "src/client/openssl_ptr.h"
#include "src/serving/http_server.h"
#include "src/serving/tls_settings.h"
#include "tests/unit/client/temp_folder.h"
#include "tests/unit/serving/tls_client.h"

namespace berth::serving {
namespace {

using test::TempFolder;
using test::TestAuthority;
using test::TlsClient;
using testing::HasSubstr;
using testing::StartsWith;

// A server with a context of the test's own.
class TlsContextTest : public testing::Test {
 protected:
  void Start(TlsOptions options) {
    auto tls = TlsContext::Make(std::move(options), clock_.Now());
    ASSERT_TRUE(tls.has_value()) << tls.error().message;
    tls_ = std::move(*tls);
    loop_ = std::make_unique<base::EventLoop>(clock_);
    auto server =
        HttpServer::Listen({.address = "127.0.0.1"}, {}, tls_.get(), *loop_,
                           [](const RequestPtr&, const Respond& respond) { respond(Response()); });
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
    loop_->Post([this] { server_->Start(); });
    thread_ = base::NamedThread("test-serve", [this] { loop_->Run(); });
  }
  void Stop() {
    loop_->Post([this] { server_.reset(); });
    loop_->Stop();
    thread_.Join();
  }
  ~TlsContextTest() override {
    if (server_ != nullptr) Stop();
  }

  // The CN of the certificate that a client is shown.
  std::string Shown(const std::string& server_name = "") {
    return TlsClient(server_->port(), {.server_name = server_name}).server_name();
  }
  // On the server's thread, as the daemon does it.
  Result<bool> Reload() {
    Result<bool> result = false;
    std::atomic<bool> done = false;
    loop_->Post([&] {
      result = tls_->Reload();
      done = true;
    });
    while (!done) std::this_thread::yield();
    return result;
  }
  // Writes <name>.crt and <name>.key.
  void Write(const std::string& name, const std::string& common_name,
             const std::vector<std::string>& names = {}) {
    const test::CertifiedKey pair = authority_.Issue(common_name, names);
    folder_.Write(name + ".crt", pair.certificate_pem);
    folder_.Write(name + ".key", pair.key_pem);
  }
  std::string Path(const std::string& name) { return folder_.Path(name); }

  base::RealClock clock_;
  TempFolder folder_;
  TestAuthority authority_;
  std::unique_ptr<base::EventLoop> loop_;
  std::unique_ptr<TlsContext> tls_;
  std::unique_ptr<HttpServer> server_;
  base::NamedThread thread_;
};

TEST_F(TlsContextTest, WithoutFilesItMakesItsOwnCertificate) {
  Start({});
  EXPECT_THAT(Shown(), StartsWith("localhost@"));
  EXPECT_FALSE(Reload().value());
}

TEST(OwnCertificateTest, IsForTheAddressThatIsListenedOn) {
  const auto is_for = [](const std::string& address, const char* asked) {
    const auto made = MakeOwnCertificate(base::RealClock().WallNow(), address);
    EXPECT_TRUE(made.has_value());
    const client::OpensslPtr<BIO> text(BIO_new_mem_buf(
        made->certificate_pem.data(), static_cast<int>(made->certificate_pem.size())));
    const client::OpensslPtr<X509> certificate(
        PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
    return X509_check_ip_asc(certificate.get(), asked, 0) == 1;
  };
  EXPECT_TRUE(is_for("10.0.0.5", "10.0.0.5"));
  EXPECT_TRUE(is_for("10.0.0.5", "127.0.0.1"));
  EXPECT_TRUE(is_for("fd00::1", "fd00::1"));
  EXPECT_FALSE(is_for("0.0.0.0", "0.0.0.0"));
  EXPECT_FALSE(is_for("::", "::"));
  EXPECT_TRUE(is_for("", "127.0.0.1"));
}

TEST_F(TlsContextTest, ItsOwnCertificateIsKeptWhereItIsTold) {
  TlsOptions options;
  options.own_certificate_folder = Path("new/folder");
  Start(options);
  const std::string shown = Shown();
  for (const char* name : {"new/folder/kube-scheduler.key", "new/folder/kube-scheduler.crt"}) {
    struct stat status{};
    ASSERT_EQ(stat(Path(name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u) << name;
  }
  Stop();
  Start(options);
  EXPECT_EQ(Shown(), shown);
}

TEST_F(TlsContextTest, ItsOwnKeyIsNotWrittenThroughALink) {
  TlsOptions options;
  options.own_certificate_folder = Path(".");
  const std::string elsewhere = folder_.Write("elsewhere", "precious");
  std::filesystem::create_symlink(elsewhere, Path("kube-scheduler.key"));
  const auto made = TlsContext::Make(options, Time());
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("no regular file"));
  EXPECT_EQ(base::ReadFile(elsewhere).value_or(""), "precious");
}

TEST_F(TlsContextTest, RotatedFilesAreReadAndHalfRotatedOnesAreNot) {
  Write("tls", "first");
  Start({.certificate_file = Path("tls.crt"), .key_file = Path("tls.key")});
  EXPECT_EQ(Shown(), "first");
  EXPECT_FALSE(Reload().value());

  const test::CertifiedKey next = authority_.Issue("second", {});
  folder_.Write("tls.crt", next.certificate_pem);
  const auto half = Reload();
  ASSERT_FALSE(half.has_value());
  EXPECT_THAT(half.error().message, HasSubstr("tls.crt: the key cannot be used"));
  EXPECT_EQ(Shown(), "first");

  folder_.Write("tls.key", next.key_pem);
  EXPECT_TRUE(Reload().value());
  EXPECT_EQ(Shown(), "second");

  folder_.Remove("tls.key");
  EXPECT_FALSE(Reload().has_value());
  EXPECT_EQ(Shown(), "second");
}

TEST_F(TlsContextTest, AClientIsShownTheCertificateForTheNameItAsksFor) {
  Write("main", "main");
  Write("a", "a", {"DNS:a.example.org"});
  Write("b", "b");
  Start({.certificate_file = Path("main.crt"),
         .key_file = Path("main.key"),
         .sni = {{Path("a.crt"), Path("a.key"), {}},
                 {Path("b.crt"), Path("b.key"), {"*.b.org", "c.org"}}}});
  const struct {
    const char* name;
    const char* shown;
  } cases[] = {{"", "main"},   {"a.example.org", "a"}, {"x.b.org", "b"},
               {"c.org", "b"}, {"x.y.b.org", "main"},  {"other.org", "main"}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Shown(c.name), c.shown);
  }
  Write("main", "main2");
  EXPECT_TRUE(Reload().value());
  EXPECT_EQ(Shown("c.org"), "b");
  EXPECT_EQ(Shown(), "main2");
}

TEST_F(TlsContextTest, OlderVersionsThanTheLeastAreRefused) {
  Start({.min_version = "VersionTLS13"});
  EXPECT_FALSE(TlsClient(server_->port(), {.max_version = 0x0303}).connected());
  EXPECT_TRUE(TlsClient(server_->port()).connected());
}

// What Go's crypto/tls has on by default, and nothing else.
TEST_F(TlsContextTest, DefaultSuitesAndGroupsAreGos) {
  Start({});
  const auto suite = [this](const char* ciphers) {
    const TlsClient client(server_->port(), {.max_version = 0x0303, .ciphers = ciphers});
    return client.connected() ? client.suite() : "";
  };
  // The own certificate has an ECDSA key.
  for (const char* name : {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
                           "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES128-SHA"}) {
    EXPECT_EQ(suite(name), name);
  }
  for (const char* name :
       {"ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-CCM", "ECDHE-ECDSA-CAMELLIA128-SHA256",
        "ECDHE-ECDSA-ARIA128-GCM-SHA256", "AES128-GCM-SHA256", "DHE-RSA-AES128-GCM-SHA256"}) {
    EXPECT_EQ(suite(name), "") << name;
  }
  // The server's order counts.
  EXPECT_EQ(suite("ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256"),
            "ECDHE-ECDSA-AES128-GCM-SHA256");
  EXPECT_EQ(TlsClient(server_->port()).suite(), "TLS_AES_128_GCM_SHA256");
  for (const char* name : {"X25519", "P-256", "P-384", "P-521"}) {
    EXPECT_TRUE(TlsClient(server_->port(), {.groups = name}).connected()) << name;
  }
  EXPECT_FALSE(TlsClient(server_->port(), {.groups = "X448"}).connected());
  EXPECT_FALSE(TlsClient(server_->port(), {.groups = "ffdhe2048"}).connected());
}

TEST_F(TlsContextTest, SuitesOfTls13AloneLeaveNothingOlder) {
  Start({.cipher_suites = {"TLS_AES_128_GCM_SHA256"}});
  EXPECT_FALSE(TlsClient(server_->port(), {.max_version = 0x0303}).connected());
  EXPECT_TRUE(TlsClient(server_->port()).connected());
}

TEST_F(TlsContextTest, WhatCannotBeUsedIsNamed) {
  Write("tls", "first");
  Write("other", "other");
  const struct {
    const char* name;
    TlsOptions options;
    const char* problem;
  } cases[] = {
      {"no key", {.certificate_file = Path("tls.crt")}, "go together"},
      {"no file", {.certificate_file = "/no", .key_file = "/no"}, "open /no: no such file"},
      {"another's key",
       {.certificate_file = Path("tls.crt"), .key_file = Path("other.key")},
       "tls.crt: the key cannot be used with the certificate"},
      {"no certificate",
       {.certificate_file = Path("tls.key"), .key_file = Path("tls.key")},
       "the certificate cannot be used"},
      {"version", {.min_version = "TLS12"}, "--tls-min-version: unknown tls version \"TLS12\""},
      {"suite", {.cipher_suites = {"FOO"}}, "--tls-cipher-suites: Cipher suite FOO not supported"},
      {"curve", {.curves = {1}}, "--tls-curve-preferences: curve preference 1 is not supported"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto made = TlsContext::Make(c.options, clock_.Now());
    ASSERT_FALSE(made.has_value());
    EXPECT_THAT(made.error().message, HasSubstr(c.problem));
  }
}

TEST(TlsSettingsTest, GoNamesBecomeOpensslNames) {
  EXPECT_EQ(*ParseTlsVersion(""), 0x0303);
  EXPECT_EQ(*ParseTlsVersion("VersionTLS13"), 0x0304);
  EXPECT_EQ(*ParseCipherSuites({"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256",
                                "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305"}),
            "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305");
  // OpenSSL is built without suites that Go still has.
  EXPECT_EQ(*ParseCipherSuites({"TLS_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
                                "TLS_ECDHE_RSA_WITH_RC4_128_SHA"}),
            "ECDHE-RSA-AES128-GCM-SHA256");
  EXPECT_TRUE(ParseCipherSuites({"TLS_RSA_WITH_3DES_EDE_CBC_SHA"}).has_value());
  EXPECT_EQ(*ParseCipherSuites({"TLS_ECDHE_RSA_WITH_RC4_128_SHA"}), "");
  // And Go without suites that OpenSSL has.
  for (const char* name : {"TLS_DHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_128_CCM"}) {
    EXPECT_FALSE(ParseCipherSuites({name}).has_value()) << name;
  }
  EXPECT_EQ(*ParseCurves({4588, 29, 23}), "X25519:P-256");
  EXPECT_FALSE(ParseCurves({4588}).has_value());
  EXPECT_EQ(ParseCurves({29, 0}).error().message,
            "curve preference 0 is out of range (must be 1-65535)");
  EXPECT_EQ(ParseCurves({65536}).error().message,
            "curve preference 65536 is out of range (must be 1-65535)");
  EXPECT_EQ(ParseCurves({23, 29, 23}).error().message, "duplicate curve preference 23");
}

}  // namespace
}  // namespace berth::serving
