// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/api/lease.h"
#include "tests/support/fake_api.h"

namespace berth::test {

// One Lease, kube-system/kube-scheduler, as an API server keeps it, and the clients that ask for
// it, who share a clock.
class LeaseServer {
 public:
  // What becomes of a request.
  enum class Fate {
    kAnswered,
    kFailed,    // 500, not executed
    kUnheard,   // executed, but its answer is lost
    kNeverEnds  // neither executed nor answered
  };

  explicit LeaseServer(base::VirtualExecutor& executor) : executor_(executor) {}

  // A client of this server; its requests meet with `fate`.
  struct Client {
    explicit Client(base::VirtualExecutor& executor) : api(executor) {}
    FakeApi api;
    Fate fate = Fate::kAnswered;
    // How many of its requests were executed or failed, by verb.
    int gets = 0, puts = 0, posts = 0;
    std::vector<std::string> events;  // bodies
  };
  Client& AddClient();

  bool exists() const { return document_.has_value(); }
  api::LeaseRecord record() const { return api::ReadLease(*document_)->record; }
  const std::string& document() const { return *document_; }
  // What others do.
  void Write(const api::LeaseRecord& record);
  void WriteDocument(std::string document);
  void Delete() { document_.reset(); }
  // Called before each PUT is looked at, so that a test can be faster.
  std::function<void()> before_put;

 private:
  std::optional<client::ResponseResult> Serve(Client& client, const client::Request& request);
  client::ResponseResult Execute(Client& client, const client::Request& request);

  base::VirtualExecutor& executor_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::optional<std::string> document_;
  int version_ = 0;
};

}  // namespace berth::test
