// SPDX-License-Identifier: Apache-2.0
#include "src/app/live_cluster.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "src/app/version.h"
#include "src/base/clock.h"
#include "src/base/inbox.h"
#include "src/client/curl_client.h"
#include "src/informers/informers.h"
#include "src/informers/kinds.h"

namespace berth::app {
namespace {

// How often is looked whether the caller has given up.
constexpr Duration kLook = std::chrono::milliseconds(200);

// The resources whose lists are missing, for messages.
std::string Names(const std::set<informers::Kind>& kinds) {
  std::string names;
  for (const informers::Kind kind : kinds) {
    names += (names.empty() ? "" : ", ") + std::string(informers::InfoOf(kind).resource);
  }
  return names;
}

}  // namespace

Result<std::vector<informers::InformerEvent>> ReadLiveCluster(
    const config::ClientConnection& connection, const Features& features, uint64_t seed,
    const Patience& patience, const std::string& context) {
  auto server = context.empty() ? client::FindServer(connection.kubeconfig, "")
                                : client::LoadKubeconfig({connection.kubeconfig, context, ""});
  if (!server) return Fail(server.error());
  const base::RealClock clock;
  client::ClientOptions options;
  options.server = std::move(*server);
  options.qps = connection.qps;
  options.burst = connection.burst;
  options.user_agent = client::UserAgent(kVersion, kKubernetesVersion, "explain");
  options.seed = seed;
  auto client = client::CurlClient::Make(std::move(options), clock);
  if (!client) return Fail(client.error());

  base::Inbox<informers::InformerEvent> inbox;
  auto informers = std::make_shared<informers::Informers>(
      **client, clock, seed,
      [&inbox](informers::InformerEvent event) { inbox.Push(std::move(event)); },
      informers::InformerOptions{connection.content_type == "application/json"});
  const std::vector<informers::Kind> kinds = informers::WatchedKinds(features);
  std::set<informers::Kind> missing(kinds.begin(), kinds.end());
  informers->Start(kinds);

  std::vector<informers::InformerEvent> events;
  std::vector<informers::InformerEvent> arrived;
  const Time deadline = clock.Now() + patience.time;
  const auto given_up = [&patience] { return patience.interrupted && patience.interrupted(); };
  while (!missing.empty() && clock.Now() < deadline && !given_up()) {
    inbox.Drain(arrived, std::min(deadline - clock.Now(), kLook));
    for (informers::InformerEvent& event : arrived) {
      if (event.type == informers::EventType::kSynced) {
        missing.erase(event.kind);
      } else {
        events.push_back(std::move(event));
      }
    }
  }
  // Tasks of the informers may still be in line on the client's thread, so they end there.
  informers->Stop();
  (*client)->Close();
  (*client)->executor().Post([informers = std::move(informers)] {});
  client->reset();
  if (!missing.empty()) {
    return Fail("the API server has not listed " + Names(missing) + " in time");
  }
  return events;
}

}  // namespace berth::app
