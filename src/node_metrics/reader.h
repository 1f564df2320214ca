// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "berth/in_tree/node_metrics.h"
#include "berth/result.h"
#include "berth/time.h"
#include "src/base/event_loop.h"
#include "src/base/executor.h"
#include "src/base/thread.h"
#include "src/client/api_client.h"
#include "src/metrics/registry.h"

namespace berth::node_metrics {

// How often a source is asked, and how long an answer may take.
inline constexpr Duration kInterval = std::chrono::seconds(30);
inline constexpr Duration kTimeout = std::chrono::seconds(20);
// What was measured longer ago counts as unknown.
inline constexpr Duration kMostAge = std::chrono::minutes(5);

// The client that asks a source: `api` for the metrics server, else one of its own, with a thread.
// Errors: an address that is none. `api` and `clock` must outlive it.
Result<std::shared_ptr<client::ApiClient>> Connect(const NodeMetricsSource& source,
                                                   client::ApiClient& api, const Clock& clock,
                                                   const std::string& user_agent);

// Asks each source what nodes use, at once and then every half minute, and passes on what it says
// as a whole. Where an answer cannot be read, nothing is passed on: what was known stays, until it
// is too old; then that nothing is known any more. The log has a line for each new reason and one
// when a source begins to answer; metrics count the answers.
//
//   timer --questions--> ApiClient --parts of the answer--> Answer --whole--> here: read, pass on
//
// Thread safety: Watch() from any thread; all else happens on the executor's, the constructor and
// the destructor included, or after it has ended.
class Reader {
 public:
  struct Parts {
    base::Executor& executor;
    const Clock& clock;
    metrics::Registry& registry;
    std::function<Result<std::shared_ptr<client::ApiClient>>(const NodeMetricsSource&)> connect;
    std::function<void(NodesMeasured)> post;
  };
  // The references, and all that the functions use, must outlive the reader; so must the executor
  // outlive the last answer.
  explicit Reader(Parts parts);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // From now on these are asked and no others. Of those with one name the first counts.
  void Watch(std::vector<NodeMetricsSource> sources);

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

// A reader on a thread of its own, "berth-measure".
//
// Thread safety: one owner.
class ReaderThread {
 public:
  // As Reader; `api` must outlive it.
  ReaderThread(client::ApiClient& api, const Clock& clock, metrics::Registry& registry,
               std::string user_agent, std::function<void(NodesMeasured)> post);
  ~ReaderThread();

  void Watch(std::vector<NodeMetricsSource> sources) { reader_->Watch(std::move(sources)); }
  // Asks nothing any more and passes nothing on. What `api` still has to answer must have ended
  // before the destructor begins.
  void Stop();

 private:
  base::EventLoop loop_;
  std::unique_ptr<Reader> reader_;
  base::NamedThread thread_;
};

}  // namespace berth::node_metrics
