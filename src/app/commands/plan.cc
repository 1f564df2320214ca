// SPDX-License-Identifier: Apache-2.0
#include "src/plan/plan.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "src/app/commands/commands.h"
#include "src/app/commands/live_cluster.h"
#include "src/app/commands/offline_cluster.h"
#include "src/app/commands/output.h"
#include "src/app/commands/plan_answer.h"
#include "src/app/daemon/in_tree_plugins.h"
#include "src/app/flags/offline_flags.h"
#include "src/app/version.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/inbox.h"
#include "src/base/json.h"
#include "src/base/logging.h"
#include "src/base/text.h"
#include "src/client/curl_client.h"
#include "src/plan/apply.h"
#include "src/plan/eviction_request.h"
#include "src/plan/progress.h"

namespace berth::app {
namespace {

// `berth plan --apply`: carries a plan out on the live cluster (docs/plan.md). Returns the exit
// code: 1 where it stopped before the end, 2 where it did not begin.
int ApplyPlan(const OfflineFlags& flags, const InTreePlugins& plugins);

using questions::PodPtr;

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kPatch = "application/strategic-merge-patch+json";

std::string PodPath(const api::Pod& pod, std::string_view subresource) {
  return base::Concat("/api/v1/namespaces/", base::Escape(pod.metadata.namespace_), "/pods/",
                      base::Escape(pod.metadata.name), subresource);
}

std::string RequestsPath(const api::Pod& pod) {
  return base::Concat(plan::kLifecycleApi, "/namespaces/", base::Escape(pod.metadata.namespace_),
                      "/evictionrequests");
}
std::string RequestPath(const api::Pod& pod) {
  return base::Concat(RequestsPath(pod), "/", base::Escape(plan::EvictionRequestName(pod)));
}

class LiveEdge final : public plan::Edge {
 public:
  static Result<std::unique_ptr<LiveEdge>> Make(const OfflineFlags& flags,
                                                const InTreePlugins& plugins) {
    const auto server = FindLiveCluster(flags);
    if (!server) return Fail(server.error());
    std::unique_ptr<LiveEdge> edge(new LiveEdge(flags, plugins, server->cluster.server));
    const auto gates =
        config::FeatureGates::Parse(flags.run.feature_gates, flags.run.gate_versions);
    if (!gates) return Fail(gates.error());
    auto cluster = LiveCluster::Open(*server, gates->Resolve(), flags.seed,
                                     {flags.request_timeout, nullptr}, PrintNote);
    if (!cluster) return Fail(cluster.error());
    edge->cluster_ = *std::move(cluster);
    client::ClientOptions options;
    options.server = *server;
    options.user_agent = client::UserAgent(kVersion, kKubernetesVersion, "plan");
    options.seed = flags.seed;
    options.quiet = true;
    auto client = client::CurlClient::Make(std::move(options), edge->clock_);
    if (!client) return Fail(client.error());
    edge->client_ = *std::move(client);
    return edge;
  }

  Result<std::unique_ptr<simulator::Simulation>> Read() override {
    auto picture = MakePicture(flags_, plugins_);
    if (!picture) return Fail(picture.error());
    return std::move(picture->simulation);
  }
  std::vector<PodPtr> PodsOf(std::string_view pod_namespace) override {
    return cluster_->PodsOf(pod_namespace);
  }
  plan::Answer Evict(const api::Pod& pod) override {
    return Send(client::Verb::kCreate, PodPath(pod, "/eviction"), kJson, plan::EvictionBody(pod));
  }
  plan::Answer Request(const api::Pod& pod) override;
  Result<plan::RequestState> FindRequest(const api::Pod& pod) override;
  plan::Answer Withdraw(const api::Pod& pod) override {
    return Send(client::Verb::kDelete, RequestPath(pod), kJson, "");
  }
  // Whether the API server has EvictionRequests.
  Result<void> CheckRequests();
  plan::Answer Cordon(std::string_view node) override {
    return Send(client::Verb::kPatch, "/api/v1/nodes/" + base::Escape(node), kPatch,
                R"({"spec":{"unschedulable":true}})");
  }
  plan::Answer Nominate(const api::Pod& pod, std::string_view node) override {
    std::string body;
    base::JsonObject patch(body);
    patch.Add("metadata", {{"uid", pod.metadata.uid}});
    base::JsonObject status(patch.Key("status"));
    if (node.empty()) {
      status.AddNull("nominatedNodeName");
    } else {
      status.Add("nominatedNodeName", node);
    }
    status.Close();
    patch.Close();
    return Send(client::Verb::kPatch, PodPath(pod, "/status"), kPatch, std::move(body),
                /*invalid=*/plan::Answer::Kind::kGone);  // it has been bound meanwhile
  }
  void RecordEvent(const api::Pod& pod, std::string_view note) override;
  Time Now() override { return clock_.Now(); }
  void Wait(Duration time) override {
    const Time end = clock_.Now() + time;
    while (clock_.Now() < end) cluster_->AwaitChange(end - clock_.Now());
  }
  void AwaitNews(Duration time) override { cluster_->AwaitChange(time); }
  void Say(std::string_view line) override { PrintNote(std::string(line)); }

 private:
  LiveEdge(const OfflineFlags& flags, const InTreePlugins& plugins, std::string server)
      : flags_(flags), plugins_(plugins), server_(std::move(server)) {}

  client::ResponseResult Exchange(client::Verb verb, std::string path,
                                  std::string_view content_type, std::string body) {
    client::Request request;
    request.verb = verb;
    request.priority = client::Priority::kUnlimited;
    request.path = std::move(path);
    request.content_type = content_type;
    request.body = std::move(body);
    request.timeout = flags_.request_timeout;
    request.max_retries = 0;  // the caller looks at the cluster again first
    base::Inbox<client::ResponseResult> answers;
    const auto call = client_->Send(std::move(request), [&answers](client::ResponseResult result) {
      answers.Push(std::move(result));
    });
    std::vector<client::ResponseResult> got;
    answers.Drain(got, std::nullopt);
    return std::move(got.front());
  }
  plan::Answer Send(client::Verb verb, std::string path, std::string_view content_type,
                    std::string body, plan::Answer::Kind invalid = plan::Answer::Kind::kRefused,
                    plan::Answer::Kind gone = plan::Answer::Kind::kGone) {
    const client::ResponseResult got =
        Exchange(verb, std::move(path), content_type, std::move(body));
    plan::Answer answer = PlanAnswerOf(got, server_);
    constexpr int kInvalid = 422;
    if (!got && got.error().code == kInvalid) answer.kind = invalid;
    if (answer.kind == plan::Answer::Kind::kGone) answer.kind = gone;
    return answer;
  }

  const OfflineFlags& flags_;
  const InTreePlugins& plugins_;
  const std::string server_;
  base::RealClock clock_;
  std::unique_ptr<LiveCluster> cluster_;
  std::unique_ptr<client::CurlClient> client_;
};

// A 404 says of this request that the namespace or the API is gone.
plan::Answer LiveEdge::Request(const api::Pod& pod) {
  return Send(client::Verb::kCreate, RequestsPath(pod), kJson, plan::EvictionRequestBody(pod),
              plan::Answer::Kind::kRefused, /*gone=*/plan::Answer::Kind::kRefused);
}

Result<plan::RequestState> LiveEdge::FindRequest(const api::Pod& pod) {
  const client::ResponseResult got = Exchange(client::Verb::kGet, RequestPath(pod), "", "");
  if (got) return plan::ReadEvictionRequest(got->body);
  plan::Answer answer = PlanAnswerOf(got, server_);
  switch (answer.kind) {
    case plan::Answer::Kind::kGone:
      return plan::RequestState();
    case plan::Answer::Kind::kLater:
      return plan::RequestState{plan::RequestState::Kind::kUnknown, ""};
    default:
      return Fail(std::move(answer.message));
  }
}

Result<void> LiveEdge::CheckRequests() {
  const client::ResponseResult got =
      Exchange(client::Verb::kGet, std::string(plan::kLifecycleApi), "", "");
  const plan::Answer answer = PlanAnswerOf(got, server_);
  if (!got && answer.kind != plan::Answer::Kind::kGone) return Fail(answer.message);
  if (got && plan::HasEvictionRequests(got->body)) return {};
  return Fail(
      "--eviction=request: the API server has no EvictionRequests (lifecycle.k8s.io/v1alpha1); "
      "Kubernetes 1.37 has them behind the feature gate EvictionRequestAPI");
}

void LiveEdge::RecordEvent(const api::Pod& pod, std::string_view note) {
  const plan::Answer answer = Send(client::Verb::kCreate,
                                   base::Concat("/apis/events.k8s.io/v1/namespaces/",
                                                base::Escape(pod.metadata.namespace_), "/events"),
                                   kJson, plan::EvictionEventBody(pod, note, clock_.WallNow()));
  if (answer.kind != plan::Answer::Kind::kDone && answer.kind != plan::Answer::Kind::kGone) {
    Say("No event: " + answer.message);
  }
}

int ApplyPlan(const OfflineFlags& flags, const InTreePlugins& plugins) {
  const auto text = base::ReadFile(flags.apply);
  if (!text) return FailWith(text.error().message);
  const auto plan = plan::ReadPlan(*text, flags.apply);
  if (!plan) return FailWith(plan.error().message);
  const base::RealClock clock;
  if (auto young = plan::CheckAge(*plan, clock.WallNow(), flags.max_age); !young) {
    return FailWith(young.error().Within(flags.apply).message);
  }
  const std::string path = flags.progress.empty() ? flags.apply + ".progress" : flags.progress;
  std::unique_ptr<plan::Progress> progress;
  std::error_code ignored;
  if (!flags.dry_run || std::filesystem::exists(path, ignored)) {
    auto opened = plan::Progress::Open(path, plan::DigestOf(*text));
    if (!opened) return FailWith(opened.error().message);
    progress = *std::move(opened);
  }
  const auto edge = LiveEdge::Make(flags, plugins);
  if (!edge) return FailWith(edge.error().message);
  if (flags.evict_by == plan::EvictBy::kRequest) {
    if (auto served = (*edge)->CheckRequests(); !served) return FailWith(served.error().message);
  }
  const plan::Applied applied = plan::Apply(
      *plan, {.patience = flags.wait_timeout, .dry_run = flags.dry_run, .evict_by = flags.evict_by},
      **edge, progress.get());
  std::string out;
  IsDocument(flags.output) ? plan::AppendJson(*plan, applied, out)
                           : plan::AppendTable(*plan, applied, out);
  Print(out, flags.output);
  base::FlushLogs();
  return applied.outcome == plan::Applied::Outcome::kStopped ? kNegative : kDone;
}

}  // namespace

int Plan(const std::vector<std::string>& arguments, const std::string& program,
         const InTreePlugins& plugins) {
  const auto flags = BeginOffline(OfflineCommand::kPlan, arguments, program);
  if (!flags) return flags.error();
  if (!flags->apply.empty()) return ApplyPlan(*flags, plugins);
  auto picture = MakePicture(*flags, plugins);
  if (!picture) return FailWith(picture.error().message);
  plan::Goal goal = *flags->goal;
  if (goal.kind == plan::Goal::Kind::kPending) goal.namespace_ = flags->namespace_;
  goal.evict = flags->evict;
  auto plan = plan::FindPlan(goal, *picture->simulation, flags->plan_limits);
  if (!plan) return FailWith(plan.error().message);
  if (flags->min_gain) plan::RefuseBelow(*flags->min_gain, *plan);
  if (flags->live()) plan->made = base::RealClock().WallNow();
  std::string text;
  IsDocument(flags->output) ? plan::AppendJson(*plan, text) : plan::AppendTable(*plan, text);
  Print(text, flags->output);
  base::FlushLogs();
  return plan->outcome == plan::Plan::Outcome::kFound ? kDone : kNegative;
}

}  // namespace berth::app
