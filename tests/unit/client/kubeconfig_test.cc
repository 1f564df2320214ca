// SPDX-License-Identifier: Apache-2.0
#include "src/client/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/client/temp_folder.h"

namespace berth::client {
namespace {

using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// "-----BEGIN X-----"
constexpr char kPem64[] = "LS0tLS1CRUdJTiBYLS0tLS0=";

std::string File(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: main\n"
         "contexts:\n- name: main\n  context: {cluster: c, user: u, namespace: team}\n"
         "- name: other\n  context: {cluster: missing, user: u}\n"
         "clusters:\n- name: c\n  cluster: {" +
         cluster + "}\n" + "users:\n- name: u\n  user: {" + user + "}\n";
}

Result<ServerConfig> Parse(const std::string& text, const std::string& context = "",
                           const std::string& master = "") {
  return ParseKubeconfig(text, {.path = "/etc/k/config", .context = context, .master = master});
}

TEST(KubeconfigTest, FieldsOfClusterAndUserAreRead) {
  const auto config = Parse(
      File("server: 'https://10.0.0.1:6443', tls-server-name: api, certificate-authority: ca.crt, "
           "proxy-url: 'http://proxy:3128', disable-compression: true",
           "client-certificate: /abs/c.crt, client-key: ../k.key, tokenFile: token"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->cluster.server, "https://10.0.0.1:6443");
  EXPECT_EQ(config->cluster.tls_server_name, "api");
  EXPECT_EQ(config->cluster.ca_file, "/etc/k/ca.crt");
  EXPECT_EQ(config->cluster.proxy_url, "http://proxy:3128");
  EXPECT_TRUE(config->cluster.disable_compression);
  EXPECT_FALSE(config->cluster.insecure_skip_tls_verify);
  EXPECT_EQ(config->user.client_certificate_file, "/abs/c.crt");
  EXPECT_EQ(config->user.client_key_file, "/etc/k.key");
  EXPECT_EQ(config->user.token_file, "/etc/k/token");
  EXPECT_EQ(config->default_namespace, "team");
}

TEST(KubeconfigTest, InlineDataGoesBeforeFiles) {
  const std::string data = kPem64;
  const auto config =
      Parse(File("server: s, certificate-authority: ca.crt, certificate-authority-data: " + data,
                 "client-certificate: c, client-certificate-data: " + data +
                     ", client-key: k, client-key-data: " + data));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->cluster.ca_data, "-----BEGIN X-----");
  EXPECT_EQ(config->cluster.ca_file, "");
  EXPECT_EQ(config->user.client_certificate_data, "-----BEGIN X-----");
  EXPECT_EQ(config->user.client_certificate_file, "");
  EXPECT_EQ(config->user.client_key_file, "");
}

TEST(KubeconfigTest, ExecPluginIsRead) {
  const auto config = Parse(
      File("server: s, extensions: [{name: client.authentication.k8s.io/exec, extension: {a: 1}}]",
           "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/login, args: [get, "
           "token], env: [{name: A, value: b}], installHint: install me, interactiveMode: Never, "
           "provideClusterInfo: true}"));
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_TRUE(config->user.exec);
  const ExecConfig& exec = *config->user.exec;
  EXPECT_EQ(exec.command, "/etc/k/bin/login");
  EXPECT_THAT(exec.args, ElementsAre("get", "token"));
  EXPECT_THAT(exec.env, ElementsAre(Pair("A", "b")));
  EXPECT_EQ(exec.install_hint, "install me");
  EXPECT_TRUE(exec.provide_cluster_info);
  EXPECT_EQ(config->cluster.exec_extension.ToJson(), R"({"a":1})");
}

TEST(KubeconfigTest, ABetaExecPluginMayLeaveInteractiveModeOut) {
  const auto config = Parse(File(
      "server: s", "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: login}"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->user.exec->interactive_mode, "IfAvailable");
  EXPECT_EQ(config->user.exec->command, "login");
}

TEST(KubeconfigTest, ImpersonationIsRead) {
  const auto config = Parse(
      File("server: s", "as: jane, as-uid: '7', as-groups: [a, b], as-user-extra: {k: [v, w]}"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->user.impersonate_user, "jane");
  EXPECT_EQ(config->user.impersonate_uid, "7");
  EXPECT_THAT(config->user.impersonate_groups, ElementsAre("a", "b"));
  EXPECT_THAT(config->user.impersonate_extra, ElementsAre(Pair("k", ElementsAre("v", "w"))));
}

TEST(KubeconfigTest, MasterOverridesTheServer) {
  const auto config = Parse(File("server: s", "token: t"), "", "https://other");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->cluster.server, "https://other");
  EXPECT_EQ(config->user.token, "t");
}

TEST(KubeconfigTest, ErrorsNameTheFileAndTheField) {
  const std::string v1 = "apiVersion: client.authentication.k8s.io/v1";
  const struct {
    const char* name;
    std::string text;
    std::string context;
    std::string want;
  } cases[] = {
      {"no context", "kind: Config", "", "/etc/k/config: current-context is not set"},
      {"unknown context", File("server: s", ""), "nope",
       "/etc/k/config: the chosen context names \"nope\", which contexts does not hold"},
      {"misspelt context", File("server: s", ""), "othre", "does not hold; did you mean other?"},
      {"unknown cluster", File("server: s", ""), "other",
       "contexts[\"other\"].context.cluster names \"missing\", which clusters does not hold"},
      {"no server", File("proxy-url: ''", ""), "", "clusters[\"c\"].cluster.server: must be given"},
      {"no base64", File("server: s, certificate-authority-data: '%%'", ""), "",
       "/etc/k/config: clusters[\"c\"].cluster.certificate-authority-data: not base64"},
      {"no PEM", File("server: s, certificate-authority-data: aGVsbG8=", ""), "",
       "certificate-authority-data: holds no PEM block"},
      {"insecure with authority",
       File("server: s, insecure-skip-tls-verify: true, certificate-authority: f", ""), "",
       "cluster.insecure-skip-tls-verify: must not be set"},
      {"wrong type", File("server: [s]", ""), "",
       "clusters[\"c\"].cluster.server: must be a string, not a list"},
      {"proxy", File("server: s, proxy-url: 'ftp://x'", ""), "", "cluster.proxy-url: must begin"},
      {"certificate without key", File("server: s", "client-certificate: f"), "",
       "users[\"u\"].user.client-key: must be given"},
      {"key without certificate", File("server: s", "client-key: f"), "",
       "users[\"u\"].user.client-certificate: must be given"},
      {"two methods", File("server: s", "token: t, username: u"), "",
       "users[\"u\"].user.username: must not be given together with a token"},
      {"exec without command", File("server: s", "exec: {" + v1 + ", interactiveMode: Never}"), "",
       "users[\"u\"].user.exec.command: must be given"},
      {"exec without version", File("server: s", "exec: {command: x, interactiveMode: Never}"), "",
       "users[\"u\"].user.exec.apiVersion: must be"},
      {"exec without mode", File("server: s", "exec: {command: x, " + v1 + "}"), "",
       "users[\"u\"].user.exec.interactiveMode: must be"},
      {"groups without user", File("server: s", "as-groups: [a]"), "",
       "users[\"u\"].user.as: must be given"},
      {"auth provider", File("server: s", "auth-provider: {name: gcp}"), "",
       "users[\"u\"].user.auth-provider: is no longer supported"},
      {"no map", "[]", "", "/etc/k/config: must be a map"},
      {"empty", "", "", "/etc/k/config: the file is empty"},
      {"bad YAML", "a: [", "", "/etc/k/config"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto config = Parse(c.text, c.context);
    ASSERT_FALSE(config);
    EXPECT_THAT(config.error().message, HasSubstr(c.want));
  }
}

TEST(KubeconfigTest, AFileThatItNamesMustBeReadable) {
  const TempFolder folder;
  const std::string path =
      folder.Write("config", File("server: s, certificate-authority: ca.crt", ""));
  const auto missing = LoadKubeconfig({.path = path, .context = "", .master = ""});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr(folder.Path("ca.crt") + ": no such file"));
  folder.Write("ca.crt", "x");
  EXPECT_TRUE(LoadKubeconfig({.path = path, .context = "", .master = ""}));
}

TEST(InClusterTest, TheServiceAccountOfThePodIsUsed) {
  const TempFolder folder;
  const InClusterOptions options{.folder = folder.Path(""), .host = "fd00::1", .port = "443"};
  EXPECT_FALSE(InClusterConfig(options));
  folder.Write("token", "t\n");
  folder.Write("ca.crt", "ca");
  folder.Write("namespace", "kube-system\n");
  const auto config = InClusterConfig(options);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->cluster.server, "https://[fd00::1]:443");
  EXPECT_EQ(config->cluster.ca_file, folder.Path("") + "/ca.crt");
  EXPECT_EQ(config->user.token_file, folder.Path("") + "/token");
  EXPECT_EQ(config->default_namespace, "kube-system");
}

TEST(ServerAddressTest, AddressesAreTakenApart) {
  const struct {
    const char* text;
    bool tls_configured;
    const char* scheme;
    const char* host;
    const char* host_port;
    const char* path;
    const char* authority;
  } cases[] = {
      {"https://10.0.0.1:6443", false, "https", "10.0.0.1", "10.0.0.1:6443", "", "10.0.0.1:6443"},
      {"https://api.example", false, "https", "api.example", "api.example:443", "", "api.example"},
      {"http://localhost:8080/", false, "http", "localhost", "localhost:8080", "",
       "localhost:8080"},
      {"https://[::1]:6443/k8s/clusters/c/", false, "https", "::1", "[::1]:6443", "/k8s/clusters/c",
       "[::1]:6443"},
      {"10.0.0.1:8080", false, "http", "10.0.0.1", "10.0.0.1:8080", "", "10.0.0.1:8080"},
      {"10.0.0.1:6443", true, "https", "10.0.0.1", "10.0.0.1:6443", "", "10.0.0.1:6443"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const auto address = ParseServerAddress(c.text, c.tls_configured);
    ASSERT_TRUE(address) << address.error().message;
    EXPECT_EQ(address->scheme, c.scheme);
    EXPECT_EQ(address->host, c.host);
    EXPECT_EQ(address->HostPort(), c.host_port);
    EXPECT_EQ(address->path, c.path);
    EXPECT_EQ(address->authority, c.authority);
  }
  for (const char* bad :
       {"", "ftp://x", "https://", "https://u:p@h", "https://h?x=1", "https://h:x"}) {
    SCOPED_TRACE(bad);
    EXPECT_FALSE(ParseServerAddress(bad, true));
  }
}

// As kubectl merges the files of KUBECONFIG.
TEST(KubeconfigTest, OfSeveralFilesTheFirstThatNamesSomethingCounts) {
  const test::TempFolder folder;
  const std::string contexts =
      folder.Write("contexts",
                   "current-context: a\ncontexts: [{name: a, context: {cluster: k, user: u, "
                   "namespace: shop}}, {name: b, context: {cluster: other, user: u}}]\n");
  const std::string clusters = folder.Write(
      "clusters",
      "current-context: b\nclusters: [{name: k, cluster: {server: \"https://first\"}}, "
      "{name: other, cluster: {server: \"https://other\"}}]\n");
  const std::string users =
      folder.Write("users",
                   "clusters: [{name: k, cluster: {server: \"https://second\"}}]\n"
                   "users: [{name: u, user: {token: hush}}]\n");
  const std::string missing = contexts + ".missing";
  const auto config = LoadKubeconfig({.path = missing, .others = {contexts, clusters, users}});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->cluster.server, "https://first");
  EXPECT_EQ(config->user.token, "hush");
  EXPECT_EQ(config->default_namespace, "shop");
  const auto other =
      LoadKubeconfig({.path = contexts, .others = {clusters, users}, .context = "b"});
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->cluster.server, "https://other");
  const auto without = LoadKubeconfig({.path = contexts, .others = {clusters}});
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message,
              testing::HasSubstr(contexts + ", " + clusters +
                                 ": contexts[\"a\"].context.user names \"u\", which users does "
                                 "not hold"));
  EXPECT_FALSE(LoadKubeconfig({.path = missing, .others = {missing + "2"}}));
}

}  // namespace
}  // namespace berth::client
