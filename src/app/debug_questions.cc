// SPDX-License-Identifier: Apache-2.0
#include "src/app/debug_questions.h"

#include <absl/strings/str_join.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/app/live_state.h"
#include "src/app/pace.h"
#include "src/base/clock.h"
#include "src/documents/parse.h"
#include "src/fixes/find.h"
#include "src/mirror/answers.h"
#include "src/ui/pending_pods.h"

namespace berth::app {
namespace {

using mirror::Mirror;
using mirror::Reply;
using mirror::Size;
using serving::RequestPtr;
using serving::Respond;
using serving::Response;

// Documents up to here are read on the server's thread, which takes less than a millisecond.
constexpr size_t kSmallBytes = size_t{64} << 10;
// Of a message, which may quote the question.
constexpr size_t kMostMessage = 4096;

Response ResponseOf(Reply reply, std::string_view content_type,
                    const std::vector<std::string>& not_asked) {
  if (reply.code != 200) {
    Response refused =
        serving::ErrorText(reply.code, std::string_view(reply.text).substr(0, kMostMessage));
    if (reply.code == 429) refused.headers.emplace_back("Retry-After", "1");
    return refused;
  }
  Response response;
  response.content_type = content_type;
  response.body = std::move(reply.text);
  if (!not_asked.empty()) {
    // As the API server warns.
    response.headers.emplace_back("Warning", "299 - \"without the plugins of libraries: " +
                                                 absl::StrJoin(not_asked, ", ") + "\"");
  }
  return response;
}

// What a document asks, ready to be answered.
struct Prepared {
  Size size = Size::kLarge;
  mirror::Questions::How how;
};

Result<Prepared> Prepare(const std::string& body, mirror::Form form, mirror::LiveCluster& cluster) {
  const auto document = documents::ParseJson(body, "");
  if (!document) return Fail(document.error());
  if (document->Find("pods") != nullptr) {
    auto pods = mirror::ParsePods(*document);
    if (!pods) return Fail(pods.error());
    return Prepared{Size::kSmall, [pods = *std::move(pods)](Mirror& mirror, const auto& spent) {
                      return mirror::JudgePods(pods, mirror, spent);
                    }};
  }
  auto question = what_if::ParseQuestion(*document);
  if (!question) return Fail(question.error());
  return Prepared{Size::kLarge, [question = *std::move(question), form, &cluster](
                                    Mirror& mirror, const auto& spent) {
                    return mirror::AnswerWhatIf(question, form, cluster, mirror, spent);
                  }};
}

using Gone = std::shared_ptr<const std::atomic<bool>>;

// Becomes true when the client waits no longer. On the server's thread.
Gone GoneOf(const serving::Request& request) {
  auto gone = std::make_shared<std::atomic<bool>>(false);
  request.departure->OnGone([gone] { *gone = true; });
  return gone;
}

// What the answer to a question is sent as, where it is a success.
struct Asked {
  Size size = Size::kLarge;
  std::string_view content_type;
};

void Ask(const Asked& asked, mirror::Questions::How how, Gone gone, const Respond& respond,
         const scheduler::Scheduler& scheduler, LiveQuestions& questions) {
  if (!scheduler.has_synced()) {
    return respond(serving::ErrorText(503, "the scheduler does not know all objects yet"));
  }
  questions.questions().Ask(
      asked.size, std::move(how), std::move(gone),
      [respond, type = asked.content_type, &questions](Reply reply) {
        respond(ResponseOf(std::move(reply), type, questions.plugins_not_asked()));
      });
}

bool IsAsked(const serving::Request& request, std::string_view name, std::string_view value) {
  const std::string* given = request.FindQuery(name);
  return given != nullptr && *given == value;
}

struct Explained {
  std::string pod;  // namespace/name
  ExplainOptions options;
  bool fix = false;
};

// Of a pod that waits for the scheduler as the mirror sees it.
Reply ExplainPod(const Explained& asked, const std::optional<explain::Standing>& standing,
                 simulator::Simulation& simulation, const std::function<bool()>& spent) {
  const auto pod = simulation.scheduler().FindPendingPod(asked.pod);
  if (pod == nullptr || !standing) {
    const auto found = simulation.FindPod(asked.pod);
    const std::string node = found == nullptr ? "" : found->spec.node_name;
    if (node.empty()) return {404, "no pod " + asked.pod + " waits for this scheduler"};
    return {404, asked.pod + " is not pending: it is on node " + node};
  }
  explain::Fixes fixes;
  if (asked.fix) {
    const base::RealClock clock;
    fixes::FindOptions options;
    options.interrupted = spent;
    fixes = fixes::FindFixes(simulation, pod, clock, options);
  }
  return {200, ExplainPending(simulation.scheduler(), pod, asked.options, *standing,
                              asked.fix ? &fixes : nullptr)};
}

// A pod that is decided, and waits for its bind, is judged as if it were not.
Reply Explain(const Explained& asked, const std::optional<explain::Standing>& standing,
              Mirror& mirror, const std::function<bool()>& spent) {
  Reply reply;
  const auto explain = [&] { reply = ExplainPod(asked, standing, mirror.simulation(), spent); };
  if (standing) {
    mirror.WithoutDecision(asked.pod, explain);
  } else {
    explain();
  }
  return reply;
}

// On the scheduling thread, whose plugins the mirror has not all.
Reply ExplainHere(const Explained& asked, const explain::Standing& standing,
                  scheduler::Scheduler& scheduler, Pace& pace) {
  if (!pace.Allows()) return {429, "the scheduler has just explained another pod"};
  Reply reply;
  pace.Run([&] {
    const auto pod = scheduler.FindPendingPod(asked.pod);
    reply.text = ExplainPending(scheduler, pod, asked.options, standing);
  });
  return reply;
}

// Of all pods that wait for a node as the mirror sees them, decided ones not among them.
Reply ExplainAll(bool table, simulator::Simulation& simulation,
                 const std::function<bool()>& spent) {
  constexpr Duration kBetweenLooks = std::chrono::milliseconds(20);
  const base::RealClock clock;
  ui::PendingPods pods(simulation, clock);
  while (!pods.complete() && !spent()) pods.Judge(kBetweenLooks);
  Reply reply;
  if (table) {
    pods.AppendTable(reply.text);
  } else {
    pods.Append(reply.text);
    reply.text += '\n';
  }
  return reply;
}

}  // namespace

void InstallSimulate(serving::Router& router, const scheduler::Scheduler& scheduler,
                     LiveQuestions& questions) {
  const auto ask = [&scheduler, &questions](const RequestPtr& request, const Respond& respond) {
    const bool table = IsAsked(*request, "output", "table");
    const mirror::Form form = table ? mirror::Form::kTable : mirror::Form::kJson;
    const std::string_view type = table ? serving::kPlainText : serving::kJson;
    if (request->body.size() <= kSmallBytes) {
      auto prepared = Prepare(request->body, form, questions);
      if (!prepared) return respond(ResponseOf({400, prepared.error().message}, type, {}));
      const Size size = prepared->size;
      return Ask({size, size == Size::kSmall ? serving::kJson : type}, std::move(prepared->how),
                 GoneOf(*request), respond, scheduler, questions);
    }
    const auto how = [request, form, &questions](Mirror& mirror, const auto& spent) {
      const auto prepared = Prepare(request->body, form, questions);
      if (!prepared) return Reply{400, prepared.error().message};
      return prepared->how(mirror, spent);
    };
    Ask({Size::kLarge, type}, how, GoneOf(*request), respond, scheduler, questions);
  };
  router.HandleMethod(kSimulatePath, "POST", ask);
}

void InstallExplain(serving::Router& router, const Clock& clock, scheduler::Scheduler& scheduler,
                    LiveQuestions& questions) {
  const auto explain = [&scheduler, &questions, pace = std::make_shared<Pace>(clock)](
                           const RequestPtr& request, const Respond& respond) {
    const std::string* pod = request->FindQuery("pod");
    const Explained asked{.pod = pod == nullptr ? "" : *pod,
                          .options = {.preemption = IsAsked(*request, "preemption", "true"),
                                      .claims = IsAsked(*request, "claims", "true"),
                                      .table = IsAsked(*request, "output", "table")},
                          .fix = IsAsked(*request, "fix", "true")};
    const std::string_view type = asked.options.table ? serving::kPlainText : serving::kJson;
    if (pod == nullptr) {
      if (asked.fix || asked.options.preemption || asked.options.claims) {
        return respond(serving::ErrorText(
            400, "preemption, claims and fix: of which pod? pod=namespace/name"));
      }
      const auto all = [table = asked.options.table](Mirror& mirror, const auto& spent) {
        return ExplainAll(table, mirror.simulation(), spent);
      };
      return Ask({Size::kLarge, type}, all, GoneOf(*request), respond, scheduler, questions);
    }
    const Asked answer{asked.fix ? Size::kLarge : Size::kSmall, type};
    const bool here = !asked.fix && !questions.plugins_not_asked().empty();
    scheduler.Post(scheduler::Query{[=, &scheduler, &questions, gone = GoneOf(*request)] {
      const auto standing = StandingOf(scheduler, asked.pod);
      if (here && standing) {
        return respond(
            ResponseOf(ExplainHere(asked, *standing, scheduler, *pace), answer.content_type, {}));
      }
      const auto how = [asked, standing](Mirror& mirror, const auto& spent) {
        return Explain(asked, standing, mirror, spent);
      };
      Ask(answer, how, gone, respond, scheduler, questions);
    }});
  };
  router.Handle("/debug/explain", explain);
}

}  // namespace berth::app
