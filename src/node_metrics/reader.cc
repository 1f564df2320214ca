// SPDX-License-Identifier: Apache-2.0
#include "src/node_metrics/reader.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "src/base/logging.h"
#include "src/base/string_map.h"
#include "src/base/text.h"
#include "src/client/curl_client.h"
#include "src/node_metrics/answers.h"

namespace berth::node_metrics {
namespace {

using metrics::Metric;
using Type = NodeMetricsSource::Type;

// How a round of questions ended, as the metric has it.
constexpr std::string_view kRead = "success";
constexpr std::string_view kFailed = "failed";          // on the way, or too late
constexpr std::string_view kRefused = "bad_status";     // the answer's status
constexpr std::string_view kUnreadable = "bad_answer";  // its text
constexpr std::string_view kOld = "old";                // what was measured

struct Problem {
  std::string_view result;
  std::string what;
};
using Body = tl::expected<std::string, Problem>;

int64_t SecondsOf(Time wall) {
  return std::chrono::floor<std::chrono::seconds>(wall).time_since_epoch().count();
}

// Of one name.
bool IsSame(const NodeMetricsSource& a, const NodeMetricsSource& b) {
  return a.token == b.token && a.insecure_skip_verify == b.insecure_skip_verify;
}

std::vector<std::string> QuestionsFor(const NodeMetricsSource& source) {
  switch (source.type) {
    case Type::kMetricsServer:
      return {"/apis/metrics.k8s.io/v1beta1/nodes"};
    case Type::kPrometheus: {
      std::vector<std::string> paths;
      for (const PrometheusQuery& query : kPrometheusQueries) {
        paths.push_back("/api/v1/query?query=" + query.Parameter());
      }
      return paths;
    }
    case Type::kLoadWatcher:
      return {"/watcher"};
  }
  return {};
}

// Gathers one answer.
//
// Thread safety: the client's executor.
class Answer final : public client::StreamHandler {
 public:
  explicit Answer(std::function<void(Body)> done) : done_(std::move(done)) {}

  void OnStart(const client::Response&) override {}
  bool OnData(std::string_view data) override {
    too_long_ = body_.size() + data.size() > kMostAnswerBytes;
    if (!too_long_) body_.append(data);
    return !too_long_;
  }
  void OnEnd(std::optional<client::ApiError> error) override {
    if (too_long_) {
      const auto what = base::Concat("the answer is longer than ", kMostAnswerBytes, " bytes");
      done_(tl::unexpected(Problem{kUnreadable, what}));
    } else if (error) {
      done_(tl::unexpected(Problem{error->code == 0 ? kFailed : kRefused, error->ToString()}));
    } else {
      done_(std::move(body_));
    }
  }

 private:
  const std::function<void(Body)> done_;
  std::string body_;
  bool too_long_ = false;
};

}  // namespace

Result<std::shared_ptr<client::ApiClient>> Connect(const NodeMetricsSource& source,
                                                   client::ApiClient& api, const Clock& clock,
                                                   const std::string& user_agent) {
  if (source.type == Type::kMetricsServer) {
    return std::shared_ptr<client::ApiClient>(std::shared_ptr<void>(), &api);
  }
  client::ClientOptions options;
  options.server.cluster.server = source.address;
  options.server.cluster.insecure_skip_tls_verify = source.insecure_skip_verify;
  options.server.user.token = source.token;
  // As load-watcher does: the address and the token stand side by side in the args.
  options.credentials_in_clear = true;
  options.qps = -1;
  options.user_agent = user_agent;
  options.quiet = true;
  if (!source.token.empty() && source.address.starts_with("http:")) {
    base::LogWarning("The token of metricProvider goes over connections that others may read",
                     {{"source", source.Name()}});
  }
  auto client = client::CurlClient::Make(std::move(options), clock);
  if (!client) return Fail(client.error());
  return std::shared_ptr<client::ApiClient>(std::move(*client));
}

class Reader::Core : public std::enable_shared_from_this<Reader::Core> {
 public:
  explicit Core(Parts parts) : parts_(std::move(parts)) {}

  base::Executor& executor() { return parts_.executor; }

  void Watch(const std::vector<NodeMetricsSource>& wanted) {
    base::StringMap<std::unique_ptr<Source>> kept;
    std::vector<Source*> added;
    for (const NodeMetricsSource& spec : wanted) {
      const std::string name = spec.Name();
      if (kept.contains(name)) continue;
      std::unique_ptr<Source>& source = kept[name];
      if (const auto known = sources_.find(name);
          known != sources_.end() && IsSame(known->second->spec, spec)) {
        source = std::move(known->second);
      } else {
        source = MakeSource(spec);
        added.push_back(source.get());
      }
    }
    for (auto& [name, source] : sources_) {
      if (source != nullptr) End(*source);
    }
    sources_ = std::move(kept);
    for (Source* source : added) Ask(*source);
  }

  void Close() { Watch({}); }

 private:
  // A source, and its round of questions.
  struct Source {
    NodeMetricsSource spec;
    std::string name;
    uint64_t number = 0;  // tells its answers from those of one that had its name before
    std::shared_ptr<client::ApiClient> client;
    metrics::SeriesId known_nodes{};
    base::Executor::TimerId timer = 0;
    // Of the round under way; `waiting` is how many answers are still to come.
    size_t waiting = 0;
    std::vector<std::shared_ptr<client::Call>> calls;
    Time asked{};
    int64_t window_end = 0;
    NodesByName nodes;
    std::optional<Problem> problem;
    std::optional<int64_t> passed_on;  // the end of what was passed on last
    bool answers = false;              // the last round brought something
    std::string logged;                // the problem
  };

  std::unique_ptr<Source> MakeSource(const NodeMetricsSource& spec) {
    auto source = std::make_unique<Source>();
    source->spec = spec;
    source->name = spec.Name();
    source->number = ++last_number_;
    source->known_nodes =
        parts_.registry.Intern(Metric::kNodeMetricsNodes, {std::string_view(source->name)});
    auto client = parts_.connect(spec);
    if (client) {
      source->client = std::move(*client);
    } else {
      Note(*source, {kFailed, client.error().message});
    }
    return source;
  }

  // What it knows is not read any more, but stays with those who may still read it.
  void End(Source& source) {
    executor().Cancel(source.timer);
    for (const auto& call : source.calls) call->Cancel();
    parts_.registry.Set(source.known_nodes, 0);
  }

  void Ask(Source& source) {
    source.timer = executor().PostAfter(kInterval, [this, number = source.number] {
      if (Source* asked = Find(number)) Ask(*asked);
    });
    ForgetOld(source);
    if (source.client == nullptr || source.waiting > 0) return;
    const std::vector<std::string> questions = QuestionsFor(source.spec);
    source.waiting = questions.size();
    source.calls.clear();
    source.nodes.clear();
    source.problem.reset();
    source.asked = parts_.clock.WallNow();
    source.window_end = SecondsOf(source.asked);
    for (size_t i = 0; i < questions.size(); ++i) {
      client::Request request;
      request.verb = client::Verb::kList;
      request.path = questions[i];
      request.timeout = kTimeout;
      request.max_retries = 0;
      source.calls.push_back(source.client->Stream(
          std::move(request), Duration::zero(),
          std::make_shared<Answer>([weak = weak_from_this(), number = source.number,
                                    asked = source.asked, i](Body body) {
            const auto core = weak.lock();
            if (core == nullptr) return;
            core->executor().Post([weak, number, asked, i, body = std::move(body)]() mutable {
              if (const auto to = weak.lock()) to->Take(number, asked, i, std::move(body));
            });
          })));
    }
  }

  void Take(uint64_t number, Time asked, size_t question, Body body) {
    Source* source = Find(number);
    if (source == nullptr || source->asked != asked) return;
    --source->waiting;
    if (!source->problem) {
      if (!body) {
        source->problem = std::move(body.error());
      } else if (const auto read = ReadBody(*source, question, *body); !read) {
        source->problem = {kUnreadable, read.error().message};
      }
    }
    if (source->waiting == 0) Finish(*source);
  }

  static Result<void> ReadBody(Source& source, size_t question, std::string& body) {
    switch (source.spec.type) {
      case Type::kMetricsServer:
        return ReadMetricsServer(body, source.nodes);
      case Type::kPrometheus:
        return ReadPrometheus(body, kPrometheusQueries[question], source.nodes);
      case Type::kLoadWatcher:
        return ReadLoadWatcher(body, source.window_end, source.nodes);
    }
    return {};
  }

  void Finish(Source& source) {
    source.calls.clear();
    const int64_t age = SecondsOf(parts_.clock.WallNow()) - source.window_end;
    if (!source.problem && IsTooOld(age)) {
      source.problem = {kOld, base::Concat("window.end: it lies ", age, " s back")};
    }
    if (source.problem) {
      Note(source, *source.problem);
      ForgetOld(source);
      source.nodes.clear();
      return;
    }
    if (!source.answers) {
      base::LogInfo("What nodes use is read",
                    {{"source", source.name}, {"nodes", source.nodes.size()}});
    }
    source.answers = true;
    source.logged.clear();
    Count(source, kRead);
    NodesMeasured measured{.source = source.name,
                           .window_end = source.window_end,
                           .amounts = source.spec.type == Type::kMetricsServer,
                           .nodes = {}};
    measured.nodes.reserve(source.nodes.size());
    for (auto& [name, node] : source.nodes) measured.nodes.push_back(std::move(node));
    source.nodes.clear();
    // So that two recordings of the same are the same.
    std::ranges::sort(measured.nodes, {}, &NodeMetrics::name);
    source.passed_on = source.window_end;
    parts_.registry.Set(source.known_nodes, static_cast<double>(measured.nodes.size()));
    parts_.post(std::move(measured));
  }

  static bool IsTooOld(int64_t age) { return age > kMostAge / std::chrono::seconds(1); }

  void ForgetOld(Source& source) {
    if (!source.passed_on || !IsTooOld(SecondsOf(parts_.clock.WallNow()) - *source.passed_on))
      return;
    base::LogWarning("What nodes use is not known any more: it was read too long ago",
                     {{"source", source.name}});
    parts_.registry.Set(source.known_nodes, 0);
    parts_.post(NodesMeasured{
        .source = source.name, .window_end = *source.passed_on, .amounts = false, .nodes = {}});
    source.passed_on.reset();
  }

  void Note(Source& source, const Problem& problem) {
    Count(source, problem.result);
    if (source.logged == problem.what) return;
    source.answers = false;
    source.logged = problem.what;
    base::LogWarning("What nodes use could not be read; what was known stays",
                     {{"source", source.name}, {"err", problem.what}});
  }

  void Count(const Source& source, std::string_view result) {
    parts_.registry.Add(
        parts_.registry.Intern(Metric::kNodeMetricsReads, {std::string_view(source.name), result}));
  }

  Source* Find(uint64_t number) {
    for (const auto& [name, source] : sources_) {
      if (source->number == number) return source.get();
    }
    return nullptr;
  }

  const Parts parts_;
  base::StringMap<std::unique_ptr<Source>> sources_;  // by name
  uint64_t last_number_ = 0;
};

Reader::Reader(Parts parts) : core_(std::make_shared<Core>(std::move(parts))) {}

Reader::~Reader() { core_->Close(); }

void Reader::Watch(std::vector<NodeMetricsSource> sources) {
  core_->executor().Post([weak = std::weak_ptr<Core>(core_), sources = std::move(sources)] {
    if (const auto core = weak.lock()) core->Watch(sources);
  });
}

ReaderThread::ReaderThread(client::ApiClient& api, const Clock& clock, metrics::Registry& registry,
                           std::string user_agent, std::function<void(NodesMeasured)> post)
    : loop_(clock),
      reader_(std::make_unique<Reader>(Reader::Parts{
          loop_, clock, registry,
          [&api, &clock, agent = std::move(user_agent)](const NodeMetricsSource& source) {
            return Connect(source, api, clock, agent);
          },
          std::move(post)})),
      thread_("berth-measure", [this] { loop_.Run(); }) {}

ReaderThread::~ReaderThread() {
  Stop();
  reader_.reset();
}

void ReaderThread::Stop() {
  loop_.Stop();
  thread_.Join();
}

}  // namespace berth::node_metrics
