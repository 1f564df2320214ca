// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/leader.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

#include "src/app/commands/commands.h"
#include "src/app/daemon/in_tree_plugins.h"
#include "src/app/flags/offline_flags.h"
#include "src/base/file.h"
#include "tests/support/test_server.h"
#include "tests/unit/client/temp_folder.h"

namespace berth::app {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using namespace std::chrono_literals;

constexpr const char* kLeasePath =
    "/apis/coordination.k8s.io/v1/namespaces/berth-system/leases/berth";
constexpr const char* kPodPath = "/api/v1/namespaces/berth-system/pods/berth-abc";
constexpr const char* kConfigPath = "/api/v1/namespaces/berth-system/configmaps/berth-config-xyz";

constexpr const char* kLease = R"({"spec":{"holderIdentity":"berth-abc_0b1c"}})";
constexpr const char* kPod = R"({"spec":{
  "containers":[{"args":["run","--config=/etc/berth/config.yaml"],
                 "ports":[{"name":"https","containerPort":10444}],
                 "volumeMounts":[{"name":"config","mountPath":"/etc/berth"}]}],
  "volumes":[{"name":"config","configMap":{"name":"berth-config-xyz"}}]}})";
constexpr const char* kConfig = R"({"data":{"config.yaml":
  "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: berth\n"}})";

std::string List(const std::string& items) {
  return R"({"metadata":{"resourceVersion":"9"},"items":[)" + items + "]}";
}

// A cluster with a Berth in it, whose scheduler is another server; both are played by the test.
class LeaderTest : public testing::Test {
 protected:
  LeaderTest() {
    objects_ = {{kLeasePath, kLease}, {kPodPath, kPod}, {kConfigPath, kConfig}};
    objects_["/api/v1/nodes"] = List(
        R"({"metadata":{"name":"n1","uid":"1"},"status":{"allocatable":{"cpu":"4","pods":"10"}}})");
    objects_["/api/v1/pods"] =
        List(R"({"metadata":{"namespace":"shop","name":"web","uid":"2"},)"
             R"("spec":{"schedulerName":"berth","containers":[{"name":"c"}]}})");
    setenv("KUBECONFIG",
           folder_
               .Write("kubeconfig",
                      "current-context: c\n"
                      "contexts: [{name: c, context: {cluster: k, user: u, namespace: "
                      "shop}}]\nclusters: [{name: k, cluster: {server: \"" +
                          api_.url() + "\"}}]\nusers: [{name: u, user: {token: hush}}]\n")
               .c_str(),
           1);
    old_path_ = std::getenv("PATH");
    setenv("PATH", (folder_.Path("bin") + ":" + old_path_).c_str(), 1);
    mkdir(folder_.Path("bin").c_str(), 0755);
    // Which port it forwards to what is in its arguments, and they are kept.
    Kubectl("echo \"$*\" > " + folder_.Path("arguments") + "\necho Forwarding from 127.0.0.1:" +
            std::to_string(daemon_.port()) + " -\\> 10444\nexec sleep 60\n");
  }
  ~LeaderTest() override {
    setenv("PATH", old_path_.c_str(), 1);
    unsetenv("KUBECONFIG");
  }

  void Kubectl(const std::string& script) const {
    chmod(folder_.Write("bin/kubectl", "#!/bin/sh\n" + script).c_str(), 0755);
  }
  client::ServerConfig Server() const {
    client::ServerConfig server;
    server.cluster.server = api_.url();
    return server;
  }
  int RunWhy(const std::vector<std::string>& arguments) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = Why(arguments, "berth why", FindInTreePlugins());
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return code;
  }

  void Serve(const test::ServedRequest& request, test::ServerPeer& peer) {
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (request.target.find("watch=1") != std::string::npos) return peer.WaitForPeer();
    const std::scoped_lock lock(mutex_);
    const auto refused = refused_.find(path);
    if (refused != refused_.end()) {
      return peer.Answer(refused->second,
                         R"({"kind":"Status","reason":"Forbidden","message":"no"})");
    }
    const auto found = objects_.find(path);
    if (found != objects_.end()) return peer.Answer(200, found->second);
    // Of all other kinds there is none.
    const bool named = path.find("/namespaces/") != std::string::npos;
    if (named) return peer.Answer(404, R"({"kind":"Status","reason":"NotFound","message":"none"})");
    peer.Answer(200, List(""));
  }
  void ServeDaemon(const test::ServedRequest& request, test::ServerPeer& peer) {
    if (late_) return peer.WaitForPeer();
    const std::scoped_lock lock(mutex_);
    if (request.target == "/configz") return peer.Answer(200, configz_);
    asked_ = request.target;
    shown_ = request.header("authorization");
    peer.Answer(daemon_code_, daemon_says_, "text/plain");
  }

  std::mutex mutex_;
  std::map<std::string, std::string> objects_;
  std::map<std::string, int> refused_;
  std::string asked_;
  std::string shown_;
  std::string configz_;
  std::atomic<bool> late_ = false;
  int daemon_code_ = 200;
  std::string daemon_says_ = "shop/web: unschedulable (profile berth)\n\n  Backs off.\n";
  test::TempFolder folder_;
  std::string old_path_;
  std::string out_;
  std::string err_;
  test::TestServer api_{
      [this](const test::ServedRequest& request, test::ServerPeer& peer) { Serve(request, peer); },
      test::TestServer::Options{.tls = false}};
  test::TestServer daemon_{[this](const test::ServedRequest& request, test::ServerPeer& peer) {
    ServeDaemon(request, peer);
  }};
};

TEST_F(LeaderTest, IsThePodThatTheLeaseIsHeldByWithItsPortAndConfiguration) {
  const auto leader = FindLeader(Server(), kDefaultLease, 5s);
  ASSERT_TRUE(leader) << leader.error().ToString();
  EXPECT_EQ(leader->Key(), "berth-system/berth-abc");
  EXPECT_EQ(leader->port, 10444);
  EXPECT_EQ(leader->config_map, "berth-config-xyz");
  EXPECT_EQ(leader->config_key, "config.yaml");
  const auto text = ConfigurationOf(*leader, Server(), 5s);
  ASSERT_TRUE(text) << text.error().ToString();
  EXPECT_THAT(*text, HasSubstr("schedulerName: berth"));
}

TEST_F(LeaderTest, ThereIsNoneWithoutALeaseOrAHolder) {
  objects_[kLeasePath] = R"({"spec":{"holderIdentity":""}})";
  const auto unheld = FindLeader(Server(), kDefaultLease, 5s);
  ASSERT_FALSE(unheld);
  EXPECT_EQ(unheld.error().code, 404);
  EXPECT_EQ(FindLeader(Server(), "kube-system/kube-scheduler", 5s).error().code, 404);
}

TEST_F(LeaderTest, WhyAsksItWithoutAFlag) {
  EXPECT_EQ(RunWhy({"web"}), kNegative) << err_;
  EXPECT_EQ(out_, daemon_says_);
  EXPECT_EQ(err_, "");
  EXPECT_EQ(asked_, "/debug/explain?pod=shop%2Fweb&output=table");
  EXPECT_EQ(shown_, "Bearer hush");
  const auto arguments = base::ReadFile(folder_.Path("arguments"));
  ASSERT_TRUE(arguments);
  EXPECT_EQ(*arguments,
            "port-forward --address 127.0.0.1 --namespace berth-system pod/berth-abc :10444\n");
  // The remark of a replica that has just ceased to lead stands before the result.
  daemon_says_ = "This replica does not lead.\n\nshop/web: scheduled (profile berth)\n";
  EXPECT_EQ(RunWhy({"web"}), kDone);
}

TEST_F(LeaderTest, WhatTheLeaderCannotSayIsJudgedHereByItsConfiguration) {
  daemon_code_ = 404;
  EXPECT_EQ(RunWhy({"web"}), kDone) << err_;
  EXPECT_THAT(out_, StartsWith("shop/web: scheduled (profile berth)\n"));
  EXPECT_THAT(err_, HasSubstr("Configured by ConfigMap berth-system/berth-config-xyz.\n"));
  daemon_code_ = 403;
  daemon_says_ = "no";
  EXPECT_EQ(RunWhy({"web"}), kDone);
  EXPECT_THAT(err_, HasSubstr("Judged here, as the scheduler berth-system/berth-abc could not be "
                              "asked: Error from server (Forbidden): no\n"));
  Kubectl("echo 'error: unable to forward port' >&2; exit 1");
  EXPECT_EQ(RunWhy({"web"}), kDone);
  EXPECT_THAT(err_, HasSubstr("could not be asked: kubectl port-forward: error: unable to forward "
                              "port\n"));
  refused_[kLeasePath] = 403;
  EXPECT_EQ(RunWhy({"web"}), kNegative) << "without the configuration no profile is its own";
  EXPECT_THAT(err_, HasSubstr("Judged here, as the scheduler that holds the lease "
                              "berth-system/berth could not be asked: Error from server"));
  EXPECT_THAT(out_, HasSubstr("no profile is named \"berth\""));
}

TEST_F(LeaderTest, ItsFeatureGatesCountWhereNoneAreNamed) {
  daemon_code_ = 404;
  objects_["/api/v1/pods"] = List(
      R"({"metadata":{"namespace":"shop","name":"web","uid":"2"},"spec":{"schedulerName":"berth",)"
      R"("schedulingGroup":{"podGroupName":"none"},"containers":[{"name":"c"}]}})");
  EXPECT_EQ(RunWhy({"web"}), kDone) << err_;
  std::string pod = kPod;
  pod.replace(pod.find(R"("run",)"), 6,
              R"("run","--feature-gates","OfALaterRelease=true,GenericWorkload=true",)");
  objects_[kPodPath] = pod;
  EXPECT_EQ(RunWhy({"web"}), kNegative) << "its pod group is not there";
  EXPECT_THAT(err_,
              HasSubstr("Warning: the scheduler's --feature-gates: unrecognized feature gate: "
                        "OfALaterRelease\n"));
  EXPECT_THAT(err_, HasSubstr("Configured by ConfigMap berth-system/berth-config-xyz.\n"
                              "Feature gates of the scheduler: GenericWorkload=true.\n"));
  EXPECT_EQ(RunWhy({"web", "--feature-gates=GenericWorkload=false"}), kDone);
  EXPECT_THAT(err_, testing::Not(HasSubstr("Feature gates")));
}

// As on a control plane, where its file is the host's.
TEST_F(LeaderTest, WithoutAConfigMapItSaysItselfHowItIsConfigured) {
  objects_[kPodPath] = R"({"spec":{"containers":[{"args":["run"]}]}})";
  daemon_code_ = 404;
  configz_ = R"({"componentconfig":{"apiVersion":"kubescheduler.config.k8s.io/v1",
    "kind":"KubeSchedulerConfiguration","profiles":[{"schedulerName":"berth"}]}})";
  EXPECT_EQ(RunWhy({"web"}), kDone) << err_;
  EXPECT_THAT(out_, StartsWith("shop/web: scheduled (profile berth)\n"));
  EXPECT_THAT(err_, StartsWith("Configured by /configz of berth-system/berth-abc.\n"));
  const std::string begins =
      "Warning: judged by kube-scheduler's default configuration: that of berth-system/berth-abc "
      "cannot be read (--config names another): ";
  configz_ = "{}";
  EXPECT_EQ(RunWhy({"web"}), kNegative);
  EXPECT_THAT(err_, StartsWith(begins + "/configz has no componentconfig\n"));
  Kubectl("echo 'error: unable to forward port' >&2; exit 1");
  EXPECT_EQ(RunWhy({"web"}), kNegative);
  EXPECT_THAT(err_, HasSubstr(begins + "kubectl port-forward: error: unable to forward port\n"));
  EXPECT_THAT(out_, HasSubstr("no profile is named \"berth\""));
}

// The daemon answers after that, if at all.
TEST_F(LeaderTest, ADaemonHasTheTimeThatTheFlagSays) {
  late_ = true;
  const std::string url = "--daemon=https://127.0.0.1:" + std::to_string(daemon_.port());
  EXPECT_EQ(RunWhy({"web", url, "--insecure-skip-tls-verify", "--request-timeout=200ms"}),
            kBadInput);
  EXPECT_THAT(err_, StartsWith("Unable to connect to the server: "));
}

TEST_F(LeaderTest, NoneIsAskedWhereAnotherConfigurationIsTriedOrNoneIsWanted) {
  EXPECT_EQ(RunWhy({"web", "--daemon=none"}), kDone) << err_;
  EXPECT_EQ(asked_, "");
  EXPECT_THAT(out_, StartsWith("shop/web: scheduled (profile berth)\n"));
  const std::string config = folder_.Write("other.yaml",
                                           "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                           "kind: KubeSchedulerConfiguration\n");
  EXPECT_EQ(RunWhy({"web", "--config", config}), kNegative);
  EXPECT_EQ(asked_, "");
  EXPECT_THAT(out_, HasSubstr("no profile is named \"berth\""));
}

TEST_F(LeaderTest, APodOfKubeSchedulerIsJudgedByItsDefaultProfile) {
  daemon_code_ = 404;
  objects_["/api/v1/pods"] =
      List(R"({"metadata":{"namespace":"shop","name":"web","uid":"2"},)"
           R"("spec":{"schedulerName":"default-scheduler","containers":[{"name":"c"}]}})");
  EXPECT_EQ(RunWhy({"web"}), kDone) << err_;
  EXPECT_THAT(out_, StartsWith("shop/web: scheduled (profile default-scheduler)\n"));
}

// All profiles of one configuration sort the queue alike, the one that is added included.
TEST_F(LeaderTest, TheDefaultProfileSortsTheQueueAsTheConfigurationSays) {
  daemon_code_ = 404;
  objects_["/api/v1/pods"] =
      List(R"({"metadata":{"namespace":"shop","name":"web","uid":"2"},)"
           R"("spec":{"schedulerName":"default-scheduler","containers":[{"name":"c"}]}})");
  objects_[kPodPath] = R"({"spec":{"containers":[{"args":["run"]}]}})";
  for (const std::string profile : {
           R"("pluginConfig":[{"name":"PrioritySort","args":{"x":1}}])",
           R"("plugins":{"queueSort":{"enabled":[{"name":"PrioritySort"}]},)"
           R"("multiPoint":{"disabled":[{"name":"PrioritySort"}]}})",
       }) {
    SCOPED_TRACE(profile);
    configz_ = R"({"componentconfig":{"apiVersion":"kubescheduler.config.k8s.io/v1",)"
               R"("kind":"KubeSchedulerConfiguration","profiles":[{"schedulerName":"berth",)" +
               profile + "}]}}";
    EXPECT_EQ(RunWhy({"web"}), kDone) << err_;
    EXPECT_THAT(out_, StartsWith("shop/web: scheduled (profile default-scheduler)\n"));
  }
}

}  // namespace
}  // namespace berth::app
