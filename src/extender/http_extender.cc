// SPDX-License-Identifier: Apache-2.0
#include "src/extender/http_extender.h"

#include <algorithm>
#include <string>
#include <utility>

#include "berth/field_errors.h"
#include "berth/result.h"
#include "src/base/file.h"
#include "src/extender/extenders.h"
#include "src/extender/http_client.h"
#include "src/extender/messages.h"

namespace berth::extender {
namespace {

// `data` if there is any, else what is in the file, else nothing.
Result<std::string> DataOrFile(const std::string& data, const std::string& path) {
  if (!data.empty() || path.empty()) return data;
  return base::ReadFile(path);
}

// Puts the extender's TLS configuration, files read, into `options`. enableHTTPS without a
// certificate authority means that the server is not checked, as kube-scheduler has it. Errors: a
// file that cannot be read, an authority for a server that is not to be checked.
Result<void> LoadTls(const config::Extender& extender, HttpOptions& options) {
  const config::ExtenderTlsConfig tls = extender.tls_config.value_or(config::ExtenderTlsConfig());
  const bool has_ca = !tls.ca_data.empty() || !tls.ca_file.empty();
  const bool insecure = tls.insecure || (extender.enable_https && !has_ca);
  if (has_ca && insecure) {
    return Fail("specifying a root certificates file with the insecure flag is not allowed");
  }
  options.verify_server = !insecure;
  options.server_name = tls.server_name;

  const auto ca = DataOrFile(tls.ca_data, tls.ca_file);
  if (!ca) return Fail(ca.error());
  const auto cert = DataOrFile(tls.cert_data, tls.cert_file);
  if (!cert) return Fail(cert.error());
  const auto key = DataOrFile(tls.key_data, tls.key_file);
  if (!key) return Fail(key.error());
  options.ca_pem = *ca;
  // One without the other is of no use, and passed over by kube-scheduler.
  if (!cert->empty() && !key->empty()) {
    options.cert_pem = *cert;
    options.key_pem = *key;
  }
  return {};
}

// The library's own timeout must not come before the one that says what it is.
constexpr Duration kGrace = std::chrono::seconds(5);

std::string WithoutSlashes(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

// How long the answer to a question of so many bytes about so many nodes may be: it repeats what
// was asked about, however it is laid out, and may have a word on each node.
size_t MaxAnswerBytes(size_t question_bytes, size_t nodes = 0) {
  constexpr size_t kLeast = size_t{1} << 20;
  constexpr size_t kMost = size_t{256} << 20;
  constexpr size_t kPerNode = 1024;
  return std::min(kMost, kLeast + 4 * question_bytes + kPerNode * nodes);
}

// Adds the reasons of nodes that there are.
void AddRejections(FilterAnswer::Reasons&& reasons, Code code, const Snapshot& snapshot,
                   std::vector<Rejection>& out) {
  for (auto& [name, reason] : reasons) {
    const NodeRow row = snapshot.FindNode(name);
    if (row != kNoRow) out.push_back({row, code, std::move(reason)});
  }
}

Result<PreemptionCandidate> CandidateOf(const NodeVictims& victims, const Snapshot& snapshot,
                                        std::string_view extender) {
  PreemptionCandidate candidate;
  candidate.row = snapshot.FindNode(victims.node);
  candidate.num_pdb_violations = victims.num_pdb_violations;
  if (candidate.row == kNoRow) {
    return Fail("nodeinfo not found for node name " + Quoted(victims.node));
  }
  const auto pods = snapshot.pods(candidate.row);
  for (const std::string& uid : victims.pod_uids) {
    const auto pod = std::find_if(pods.begin(), pods.end(), [&uid](const PodInfo* placed) {
      return placed->pod->metadata.uid == uid;
    });
    if (pod == pods.end()) {
      return Fail("extender: " + std::string(extender) + " claims to preempt pod (UID: &{" + uid +
                  "}) on node: " + victims.node + ", but the pod is not found on that node");
    }
    candidate.victims.push_back(*pod);
  }
  return candidate;
}

}  // namespace

// Scores on their way.
class HttpExtender::Priorities final : public PendingPriorities {
 public:
  Priorities(std::shared_ptr<Request> request, std::shared_ptr<const std::vector<HostScore>> scores,
             const Snapshot& snapshot)
      : request_(std::move(request)), scores_(std::move(scores)), snapshot_(snapshot) {}

  Result<std::vector<HostPriority>> Wait() override {
    if (auto waited = request_->Wait(); !waited) return Fail(waited.error());
    request_->Count(Request::Outcome::kSuccess);
    std::vector<HostPriority> priorities;
    for (const HostScore& score : *scores_) {
      const NodeRow row = snapshot_.FindNode(score.host);
      if (row != kNoRow) priorities.push_back({row, score.score});
    }
    return priorities;
  }

 private:
  const std::shared_ptr<Request> request_;
  const std::shared_ptr<const std::vector<HostScore>> scores_;
  const Snapshot& snapshot_;
};

HttpExtender::HttpExtender(config::Extender config, std::unique_ptr<HttpClient> client,
                           const Clock& clock, metrics::Registry& registry)
    : config_(std::move(config)),
      requests_(WithoutPassword(config_.url_prefix), WithoutSlashes(config_.url_prefix),
                config_.http_timeout, std::move(client), clock, registry) {}

Result<std::shared_ptr<HttpExtender>> HttpExtender::Make(const config::Extender& config,
                                                         const Clock& clock,
                                                         metrics::Registry& registry) {
  HttpOptions options;
  options.url = config.url_prefix;
  options.silence = config.http_timeout + kGrace;
  if (auto loaded = LoadTls(config, options); !loaded) return Fail(loaded.error());
  auto client = HttpClient::Make(std::move(options));
  if (!client) return Fail(client.error());
  return std::shared_ptr<HttpExtender>(
      new HttpExtender(config, *std::move(client), clock, registry));
}

bool HttpExtender::IsInterested(const api::Pod& pod) const {
  return extender::IsInterested(config_, pod);
}

Result<FilterResult> HttpExtender::Filter(const api::Pod& pod, const Snapshot& snapshot,
                                          std::span<const NodeRow> nodes) {
  const auto answer = std::make_shared<FilterAnswer>();
  std::string body = ArgsBody(pod, snapshot, nodes, config_.node_cache_capable);
  const size_t max_bytes = MaxAnswerBytes(body.size(), nodes.size());
  const std::shared_ptr<Request> request =
      requests_.Post({.verb = config_.filter_verb,
                      .body = std::move(body),
                      .max_answer_bytes = max_bytes,
                      .read = ReadInto(answer, ReadFilterAnswer)});
  if (auto waited = request->Wait(); !waited) return Fail(waited.error());
  if (!answer->error.empty()) {
    request->Count(Request::Outcome::kRefused);
    return Fail(std::move(answer->error));
  }
  const auto& left =
      config_.node_cache_capable && answer->node_names ? answer->node_names : answer->nodes;
  NodeSet asked(snapshot.num_rows());
  for (const NodeRow row : nodes) asked.Set(row);
  NodeSet named(snapshot.num_rows());
  FilterResult result;
  for (const std::string& name : left.value_or(std::vector<std::string>())) {
    const NodeRow row = snapshot.FindNode(name);
    if (row == kNoRow || !asked.Test(row)) {
      request->Count(Request::Outcome::kBadAnswer);
      return Fail("extender " + Quoted(config_.url_prefix) + " claims a filtered node " +
                  Quoted(name) + " which is not found in the input node list");
    }
    if (!named.Test(row)) result.nodes.push_back(row);
    named.Set(row);
  }
  request->Count(Request::Outcome::kSuccess);
  AddRejections(std::move(answer->failed_nodes), Code::kUnschedulable, snapshot, result.rejected);
  AddRejections(std::move(answer->failed_and_unresolvable_nodes),
                Code::kUnschedulableAndUnresolvable, snapshot, result.rejected);
  return result;
}

std::unique_ptr<PendingPriorities> HttpExtender::Prioritize(const api::Pod& pod,
                                                            const Snapshot& snapshot,
                                                            std::span<const NodeRow> nodes) {
  auto scores = std::make_shared<std::vector<HostScore>>();
  std::string body = ArgsBody(pod, snapshot, nodes, config_.node_cache_capable);
  const size_t max_bytes = MaxAnswerBytes(body.size(), nodes.size());
  auto request = requests_.Post({.verb = config_.prioritize_verb,
                                 .body = std::move(body),
                                 .max_answer_bytes = max_bytes,
                                 .read = ReadInto(scores, ReadHostPriorityList)});
  return std::make_unique<Priorities>(std::move(request), std::move(scores), snapshot);
}

Result<std::vector<PreemptionCandidate>> HttpExtender::ProcessPreemption(
    const api::Pod& pod, const Snapshot& snapshot,
    std::span<const PreemptionCandidate> candidates) {
  const auto answer = std::make_shared<std::vector<NodeVictims>>();
  std::string body = PreemptionArgsBody(pod, snapshot, candidates, config_.node_cache_capable);
  const size_t max_bytes = MaxAnswerBytes(body.size(), candidates.size());
  const std::shared_ptr<Request> request =
      requests_.Post({.verb = config_.preempt_verb,
                      .body = std::move(body),
                      .max_answer_bytes = max_bytes,
                      .read = ReadInto(answer, ReadPreemptionAnswer)});
  if (auto waited = request->Wait(); !waited) return Fail(waited.error());
  std::vector<PreemptionCandidate> left;
  for (const NodeVictims& victims : *answer) {
    auto candidate = CandidateOf(victims, snapshot, config_.url_prefix);
    if (!candidate) {
      request->Count(Request::Outcome::kBadAnswer);
      return Fail(std::move(candidate.error()));
    }
    left.push_back(*std::move(candidate));
  }
  request->Count(Request::Outcome::kSuccess);
  std::sort(left.begin(), left.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
  return left;
}

std::shared_ptr<client::Call> HttpExtender::Bind(const api::Pod& pod, std::string_view node_name,
                                                 std::function<void(binding::RequestEnd)> done) {
  const auto error = std::make_shared<std::string>();
  std::string body = BindingArgsBody(pod, node_name);
  const size_t max_bytes = MaxAnswerBytes(body.size());
  return requests_.Post({.verb = config_.bind_verb,
                         .body = std::move(body),
                         .max_answer_bytes = max_bytes,
                         .once = true,
                         .read = ReadInto(error, ReadBindingAnswer),
                         .on_done = [error, done = std::move(done)](Request& request) {
                           if (const auto waited = request.Wait(); !waited) {
                             done({request.kind(), waited.error().message});
                             return;
                           }
                           if (error->empty()) {
                             request.Count(Request::Outcome::kSuccess);
                             done({});
                           } else {
                             request.Count(Request::Outcome::kRefused);
                             done({binding::RequestEnd::Kind::kRefused, *error});
                           }
                         }});
}

Result<ExtenderList> MakeExtenders(const std::vector<config::Extender>& configs, const Clock& clock,
                                   metrics::Registry& registry) {
  ExtenderList extenders;
  for (size_t i = 0; i < configs.size(); ++i) {
    auto extender = HttpExtender::Make(configs[i], clock, registry);
    if (!extender) {
      return Fail(extender.error().Within("extenders[" + std::to_string(i) + "] " +
                                          Quoted(configs[i].url_prefix)));
    }
    extenders.push_back(*std::move(extender));
  }
  std::stable_partition(extenders.begin(), extenders.end(),
                        [](const auto& extender) { return !extender->IsIgnorable(); });
  return extenders;
}

}  // namespace berth::extender
