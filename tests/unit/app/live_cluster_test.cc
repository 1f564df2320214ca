// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/live_cluster.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <cstdio>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "src/base/clock.h"
#include "src/base/logging.h"
#include "src/informers/kinds.h"
#include "tests/support/test_server.h"

namespace berth::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

class LiveClusterTest : public testing::Test {
 protected:
  LiveClusterTest() { base::SetUpLogging({.verbosity = -1}); }
  ~LiveClusterTest() override { base::SetUpLogging({}); }

  static void Refuse(const std::string& resource, int code, test::ServerPeer& peer) {
    const std::string message =
        code == 403 ? resource + " is forbidden: User \\\"eve\\\" cannot list resource \\\"" +
                          resource + "\\\" at the cluster scope"
                    : "no";
    const std::string reason = code == 403 ? "Forbidden" : code == 401 ? "Unauthorized" : "Busy";
    peer.Answer(code, R"({"kind":"Status","apiVersion":"v1","message":")" + message +
                          R"(","reason":")" + reason + R"(","code":)" + std::to_string(code) + "}");
  }
  static void AnswerList(const std::string& resource, test::ServerPeer& peer) {
    const auto workload = [](const std::string& name, int replicas) {
      return R"({"metadata":{"namespace":"shop","name":")" + name + R"("},"spec":{"replicas":)" +
             std::to_string(replicas) + R"(,"template":{"spec":{"containers":[{"name":"c"}]}}}})";
    };
    if (resource == "idle") return peer.Answer(200, workload("idle", 0));
    if (resource == "Succeeded" || resource == "Failed" || resource == "Running") {
      return peer.Answer(200, R"({"metadata":{"namespace":"shop","name":"p"},"status":{"phase":")" +
                                  resource + R"("}})");
    }
    std::string items;
    if (resource == "deployments") {
      items = workload("idle", 0) + "," + workload("web", 2);
    } else if (resource == "nodes") {
      items = R"({"metadata":{"name":"n1","uid":"1"}})";
    } else if (resource == "pods") {
      items = R"({"metadata":{"namespace":"shop","name":"p","uid":"p"}})";
    }
    peer.Answer(200, R"({"metadata":{"resourceVersion":"9"},"items":[)" + items + "]}");
  }
  static std::string ResourceOf(const test::ServedRequest& request) {
    const std::string path = request.target.substr(0, request.target.find('?'));
    return path.substr(path.rfind('/') + 1);
  }
  // Answers the list of each resource with its objects; resources in `silent` with nothing.
  void Serve(const test::ServedRequest& request, test::ServerPeer& peer) {
    const std::string resource = ResourceOf(request);
    bool has_news = false;
    {
      const std::scoped_lock lock(mutex_);
      methods_.insert(request.method);
      if (const auto code = refused_.find(resource); code != refused_.end()) {
        return Refuse(resource, code->second, peer);
      }
      has_news = !events_.empty() && resource == "pods" &&
                 request.target.find("watch=") != std::string::npos;
      if (!has_news && !silent_.contains(resource) && seen_.insert(resource).second) {
        return AnswerList(resource, peer);
      }
    }
    if (has_news) {
      peer.Send(
          "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
          "\r\n");
      opened_.get_future().wait();
      SendEvents(peer);
    }
    peer.WaitForPeer();
  }
  // A chunk for each event.
  void SendEvents(test::ServerPeer& peer) const {
    for (const std::string& event : events_) {
      char size[16];
      std::snprintf(size, sizeof(size), "%zx\r\n", event.size());
      peer.Send(size + event + "\r\n");
    }
  }
  // Waits until so many lines have been said; these.
  std::vector<std::string> AwaitSaid(size_t number) {
    std::unique_lock lock(said_mutex_);
    said_one_.wait_for(lock, 60s, [&] { return said_.size() >= number; });
    return said_;
  }
  client::ServerConfig Server() const {
    client::ServerConfig server;
    server.cluster.server = server_.url();
    return server;
  }
  Result<std::vector<informers::InformerEvent>> Read(Duration patience) {
    client::ServerConfig server;
    server.cluster.server = server_.url();
    const base::RealClock clock;
    const Time began = clock.Now();
    auto events = ReadLiveCluster(server, {}, 1, {patience, nullptr}, all_kinds_);
    took_ = clock.Now() - began;
    return events;
  }
  // What ends well before `patience` does, and the message with which it ends.
  std::string Refusal() {
    const auto events = Read(60s);
    EXPECT_LT(took_, 10s);
    return events ? "" : events.error().message;
  }

  Duration took_{};
  bool all_kinds_ = false;
  std::map<std::string, int> refused_;  // codes, by resource
  std::mutex mutex_;
  std::set<std::string> silent_;
  std::set<std::string> seen_;
  std::set<std::string> methods_;
  std::vector<std::string> events_;  // of the watch of pods, once the cluster has been opened
  std::promise<void> opened_;
  std::mutex said_mutex_;
  std::condition_variable said_one_;
  std::vector<std::string> said_;
  LiveCluster::Say say_ = [this](const std::string& line) {
    const std::scoped_lock lock(said_mutex_);
    said_.push_back(line);
    said_one_.notify_all();
  };
  test::TestServer server_{
      [this](const test::ServedRequest& request, test::ServerPeer& peer) { Serve(request, peer); },
      test::TestServer::Options{.tls = false}};
};

TEST_F(LiveClusterTest, KindsThatNoGateAsksForMayBeAbsentOrForbidden) {
  refused_ = {{"podgroups", 404},
              {"noderesourcetopologies", 404},
              {"elasticquotas", 404},
              {"devicetaintrules", 403}};
  all_kinds_ = true;
  testing::internal::CaptureStderr();
  const auto events = Read(60s);
  base::FlushLogs();
  const std::string log = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_LT(took_, 10s);
  EXPECT_EQ(events->size(), 2u);
  EXPECT_TRUE(seen_.contains("compositepodgroups"));
  EXPECT_THAT(log, HasSubstr("resource=\"devicetaintrules\""));
  EXPECT_THAT(log, testing::Not(HasSubstr("podgroups")));
}

TEST_F(LiveClusterTest, AWorkloadWithoutPodsIsFoundByItsName) {
  const auto find = [this](const char* scale) {
    return FindWorkload(Server(), *questions::Scale::Parse(scale), 10s);
  };
  const auto found = find("shop/deploy/idle=3");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->metadata.Key(), "shop/idle");
  EXPECT_EQ((*found)->pod->spec.containers.size(), 1u);
  refused_ = {{"gone", 404}, {"hidden", 403}};
  EXPECT_FALSE(*find("shop/deploy/gone=3"));
  EXPECT_FALSE(*find("shop/Rollout/idle=3"));
  EXPECT_THAT(find("shop/sts/hidden=3").error().message, HasSubstr("hidden is forbidden"));
}

TEST_F(LiveClusterTest, OfAPodItIsFoundWhetherItHasEnded) {
  refused_ = {{"gone", 404}, {"hidden", 403}};
  EXPECT_EQ(PhaseOfEndedPod(Server(), "shop/Succeeded", 10s), "Succeeded");
  EXPECT_EQ(PhaseOfEndedPod(Server(), "shop/Failed", 10s), "Failed");
  for (const char* key : {"shop/Running", "shop/gone", "shop/hidden", "no-namespace"}) {
    EXPECT_EQ(PhaseOfEndedPod(Server(), key, 10s), "") << key;
  }
}

TEST_F(LiveClusterTest, OfWorkloadsThoseWithoutReplicasAreRead) {
  std::vector<simulator::PodController> idle;
  ASSERT_TRUE(ReadIdleWorkloads(Server(), kWorkloadKinds[0], 10s, idle));
  ASSERT_EQ(idle.size(), 1u);
  EXPECT_EQ(idle[0].metadata.Key(), "shop/idle");
}

TEST_F(LiveClusterTest, ReturnsWhatTheListsHeldAndOnlyReads) {
  const auto events = Read(60s);
  ASSERT_TRUE(events) << events.error().message;
  std::set<std::string> keys;
  for (const informers::InformerEvent& event : *events) {
    EXPECT_EQ(event.type, informers::EventType::kAdded);
    keys.insert(api::MetaOf(event.new_object)->Key());
  }
  EXPECT_THAT(keys, ElementsAre("n1", "shop/p"));
  EXPECT_THAT(methods_, ElementsAre("GET"));
}

// Of a pod.
std::string EventOf(const std::string& type, const std::string& name, const std::string& version,
                    const std::string& spec) {
  return R"({"type":")" + type + R"(","object":{"metadata":{"namespace":"shop","name":")" + name +
         R"(","uid":")" + name + R"(","resourceVersion":")" + version + R"("},"spec":)" + spec +
         "}}\n";
}

TEST_F(LiveClusterTest, IsKeptUpByItsWatches) {
  // A heartbeat, as it were; then a change, another pod, and one that goes.
  events_ = {EventOf("MODIFIED", "p", "10", "{}"),
             EventOf("MODIFIED", "p", "11", R"({"nodeName":"n1"})"),
             EventOf("ADDED", "q", "12", "{}"), EventOf("DELETED", "q", "13", "{}")};
  const auto cluster = LiveCluster::Open(Server(), {}, 1, {60s, nullptr}, say_);
  opened_.set_value();
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ((*cluster)->following().changes, 0u);
  const base::RealClock clock;
  const Time end = clock.Now() + 30s;
  while ((*cluster)->following().changes < 3 && clock.Now() < end) std::this_thread::yield();
  EXPECT_EQ((*cluster)->following().changes, 3u);
  const std::vector<api::ObjectPtr> objects = (*cluster)->Objects();
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(api::As<api::Node>(objects[0])->metadata.name, "n1");
  EXPECT_EQ(api::As<api::Pod>(objects[1])->spec.node_name, "n1");
}

TEST_F(LiveClusterTest, NamesWhatCannotBeRead) {
  events_ = {EventOf("ADDED", "q", "10", R"({"priority":"x"})")};
  const auto cluster = LiveCluster::Open(Server(), {}, 1, {60s, nullptr}, say_);
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_TRUE((*cluster)->Undecodable().empty());
  opened_.set_value();
  (*cluster)->AwaitChange(30s);
  EXPECT_THAT((*cluster)->Undecodable(),
              ElementsAre(HasSubstr("pods shop/q cannot be read: spec.priority")));
  EXPECT_EQ((*cluster)->Objects().size(), 2u);
}

TEST_F(LiveClusterTest, IsNotOpenedWhereItCannotBeRead) {
  refused_ = {{"nodes", 403}};
  const auto cluster = LiveCluster::Open(Server(), {}, 1, {60s, nullptr}, say_);
  ASSERT_FALSE(cluster);
  EXPECT_THAT(cluster.error().message,
              HasSubstr("Missing rights, at the cluster scope: list nodes"));
}

TEST_F(LiveClusterTest, SaysOnceThatTheServerIsGoneAndOnceThatItIsBack) {
  const auto cluster = LiveCluster::Open(Server(), {}, 1, {60s, nullptr}, say_);
  ASSERT_TRUE(cluster) << cluster.error().message;
  testing::internal::CaptureStderr();
  server_.Stop();
  EXPECT_EQ(AwaitSaid(1).size(), 1u);
  // At first it can do nothing, so that each kind is tried again and again.
  std::mutex mutex;
  std::map<std::string, int> tries;
  bool busy = true;
  const test::TestServer back(
      [&](const test::ServedRequest& request, test::ServerPeer& peer) {
        {
          const std::scoped_lock lock(mutex);
          const int most = ++tries[ResourceOf(request)];
          busy = busy && (most < 2 || tries.size() < informers::WatchedKinds({}).size());
          if (busy) return Refuse("", 503, peer);
        }
        if (request.target.find("watch=") == std::string::npos) {
          return AnswerList(ResourceOf(request), peer);
        }
        peer.Send(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
            "\r\n");
        peer.WaitForPeer();
      },
      {.tls = false, .port = server_.port()});
  const std::vector<std::string> said = AwaitSaid(2);
  base::FlushLogs();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_EQ(said.size(), 2u);
  EXPECT_THAT(said[0], testing::StartsWith("Warning: the cluster cannot be watched, until the "
                                           "server answers again: "));
  EXPECT_EQ(said[1], "The cluster is watched again.");
}

TEST_F(LiveClusterTest, NamesTheListsThatDidNotComeInTime) {
  silent_ = {"nodes", "services"};
  const auto events = Read(1s);
  ASSERT_FALSE(events);
  EXPECT_THAT(events.error().message, HasSubstr("has not listed "));
  EXPECT_THAT(events.error().message, HasSubstr("nodes"));
  EXPECT_THAT(events.error().message, HasSubstr("services"));
}

// Waiting is in vain, so the words come at once.
TEST_F(LiveClusterTest, NamesTheRightsThatAreMissingAsSoonAsAllAreKnown) {
  refused_ = {{"nodes", 403}, {"replicasets", 403}, {"csinodes", 403}};
  silent_ = {"services"};
  const std::string message = Refusal();
  EXPECT_THAT(message, testing::StartsWith(
                           "Error from server (Forbidden): nodes is forbidden: User \"eve\" cannot "
                           "list resource \"nodes\" at the cluster scope\n"));
  // Without those of volumes it goes on.
  EXPECT_THAT(message, testing::EndsWith("\nMissing rights, at the cluster scope: list nodes, list "
                                         "replicasets.apps"));
}

TEST_F(LiveClusterTest, SaysAtOnceThatTheCredentialsAreWrong) {
  for (const informers::Kind kind : informers::AllKinds()) {
    refused_[std::string(informers::InfoOf(kind).resource)] = 401;
  }
  EXPECT_EQ(Refusal(), "You must be logged in to the server (Unauthorized)");
}

TEST_F(LiveClusterTest, SaysAtOnceThatNothingListens) {
  const std::string host = server_.url().substr(server_.url().find("//") + 2);
  server_.Stop();
  EXPECT_EQ(Refusal(), "The connection to the server " + host +
                           " was refused - did you specify the right host or port?");
}

TEST_F(LiveClusterTest, WaitsForAServerThatIsBusy) {
  refused_ = {{"nodes", 503}};
  const auto events = Read(1s);
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().message,
            "the API server has not listed nodes within 1s; --request-timeout waits longer");
}

}  // namespace
}  // namespace berth::app
