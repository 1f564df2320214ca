// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/election/lease_server.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace berth::test {
namespace {

constexpr std::string_view kLeases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
constexpr std::string_view kEvents = "/api/v1/namespaces/kube-system/events";

}  // namespace

LeaseServer::Client& LeaseServer::AddClient() {
  clients_.push_back(std::make_unique<Client>(executor_));
  Client& client = *clients_.back();
  client.api.set_model(
      [this, &client](const client::Request& request) { return Serve(client, request); });
  return client;
}

void LeaseServer::Write(const api::LeaseRecord& record) {
  WriteDocument(exists() ? api::LeaseBody(*api::ReadLease(*document_), record)
                         : api::NewLeaseBody("kube-system", "kube-scheduler", record));
}

void LeaseServer::WriteDocument(std::string document) {
  auto json = nlohmann::ordered_json::parse(document);
  json["metadata"]["uid"] = "lease-uid";
  json["metadata"]["resourceVersion"] = std::to_string(++version_);
  document_ = json.dump();
}

std::optional<client::ResponseResult> LeaseServer::Serve(Client& client,
                                                         const client::Request& request) {
  if (request.path == kEvents) {
    client.events.push_back(request.body);
    return client::Response{201, "application/json", request.body};
  }
  EXPECT_EQ(request.priority, client::Priority::kUnlimited);
  EXPECT_NE(request.verb, client::Verb::kPatch) << "RBAC grants no patch of leases";
  switch (client.fate) {
    case Fate::kAnswered:
      return Execute(client, request);
    case Fate::kFailed:
      return tl::unexpected(Rejection(500));
    case Fate::kUnheard:
      Execute(client, request);
      return tl::unexpected(NoAnswer());
    case Fate::kNeverEnds:
      break;
  }
  return std::nullopt;
}

client::ResponseResult LeaseServer::Execute(Client& client, const client::Request& request) {
  const bool one = request.path == std::string(kLeases) + "/kube-scheduler";
  const auto answer = [this](int code) {
    return client::Response{code, "application/json", *document_};
  };
  switch (request.verb) {
    case client::Verb::kGet:
      ++client.gets;
      EXPECT_TRUE(one) << request.path;
      if (!exists()) return tl::unexpected(Rejection(404));
      return answer(200);
    case client::Verb::kCreate:
      ++client.posts;
      EXPECT_EQ(request.path, kLeases);
      if (exists()) return tl::unexpected(Rejection(409));
      WriteDocument(request.body);
      return answer(201);
    case client::Verb::kUpdate: {
      ++client.puts;
      EXPECT_TRUE(one) << request.path;
      if (before_put) before_put();
      if (!exists()) return tl::unexpected(Rejection(404));
      const auto wanted = api::ReadLease(request.body);
      if (wanted->resource_version != std::to_string(version_)) {
        return tl::unexpected(Rejection(409));
      }
      WriteDocument(request.body);
      return answer(200);
    }
    default:
      ADD_FAILURE() << "a request that no rule of RBAC grants";
      return tl::unexpected(Rejection(403));
  }
}

}  // namespace berth::test
