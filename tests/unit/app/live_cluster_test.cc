// SPDX-License-Identifier: Apache-2.0
#include "src/app/live_cluster.h"

#include <gmock/gmock.h>

#include <mutex>
#include <set>

#include "src/base/logging.h"
#include "src/informers/kinds.h"
#include "tests/support/test_server.h"
#include "tests/unit/client/temp_folder.h"

namespace berth::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

class LiveClusterTest : public testing::Test {
 protected:
  LiveClusterTest() { base::SetUpLogging({.verbosity = -1}); }
  ~LiveClusterTest() override { base::SetUpLogging({}); }

  // Answers the list of each resource with its objects; resources in `silent` with nothing.
  void Serve(const test::ServedRequest& request, test::ServerPeer& peer) {
    const std::string path = request.target.substr(0, request.target.find('?'));
    const std::string resource = path.substr(path.rfind('/') + 1);
    {
      const std::scoped_lock lock(mutex_);
      methods_.insert(request.method);
      if (!silent_.contains(resource) && seen_.insert(resource).second) {
        std::string items;
        if (resource == "nodes") {
          items = R"({"metadata":{"name":"n1","uid":"1"}})";
        } else if (resource == "pods") {
          items = R"({"metadata":{"namespace":"shop","name":"p","uid":"2"}})";
        }
        peer.Answer(200, R"({"metadata":{"resourceVersion":"9"},"items":[)" + items + "]}");
        return;
      }
    }
    peer.WaitForPeer();
  }
  Result<std::vector<informers::InformerEvent>> Read(Duration patience) {
    config::ClientConnection connection;
    connection.kubeconfig =
        folder_.Write("kubeconfig",
                      "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                      "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
                      "clusters: [{name: k, cluster: {server: \"" +
                          server_.url() + "\"}}]\nusers: [{name: u, user: {}}]\n");
    return ReadLiveCluster(connection, {}, 1, {patience, nullptr});
  }

  std::mutex mutex_;
  std::set<std::string> silent_;
  std::set<std::string> seen_;
  std::set<std::string> methods_;
  test::TempFolder folder_;
  test::TestServer server_{
      [this](const test::ServedRequest& request, test::ServerPeer& peer) { Serve(request, peer); },
      test::TestServer::Options{.tls = false}};
};

TEST_F(LiveClusterTest, ReturnsWhatTheListsHeldAndOnlyReads) {
  const auto events = Read(60s);
  ASSERT_TRUE(events) << events.error().message;
  std::set<std::string> keys;
  for (const informers::InformerEvent& event : *events) {
    EXPECT_EQ(event.type, informers::EventType::kAdded);
    keys.insert(informers::MetaOf(event.new_object)->Key());
  }
  EXPECT_THAT(keys, ElementsAre("n1", "shop/p"));
  EXPECT_THAT(methods_, ElementsAre("GET"));
}

TEST_F(LiveClusterTest, NamesTheListsThatDidNotComeInTime) {
  silent_ = {"nodes", "services"};
  const auto events = Read(1s);
  ASSERT_FALSE(events);
  EXPECT_THAT(events.error().message, HasSubstr("has not listed "));
  EXPECT_THAT(events.error().message, HasSubstr("nodes"));
  EXPECT_THAT(events.error().message, HasSubstr("services"));
}

}  // namespace
}  // namespace berth::app
