// SPDX-License-Identifier: Apache-2.0
#include "src/app/debug_questions.h"

#include <absl/strings/str_join.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "src/app/live_state.h"
#include "src/base/clock.h"
#include "src/documents/parse.h"
#include "src/fixes/find.h"
#include "src/mirror/answers.h"

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

// With what would let the pod schedule, if it fits nowhere.
Reply ExplainWithFixes(const std::string& pod_key, const ExplainOptions& options,
                       const explain::Standing& standing, Mirror& mirror) {
  simulator::Simulation& simulation = mirror.simulation();
  const base::RealClock clock;
  explain::Fixes fixes;
  if (const auto pod = simulation.scheduler().FindPendingPod(pod_key)) {
    fixes = fixes::FindFixes(simulation, pod, clock);
  }
  auto text = ExplainPending(simulation.scheduler(), pod_key, options, standing, &fixes);
  if (!text) return {404, text.error().message};
  return {200, *std::move(text)};
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

void InstallExplain(serving::Router& router, scheduler::Scheduler& scheduler,
                    LiveQuestions& questions) {
  const auto explain = [&scheduler, &questions](const RequestPtr& request, const Respond& respond) {
    const std::string* pod = request->FindQuery("pod");
    const ExplainOptions options{.preemption = IsAsked(*request, "preemption", "true"),
                                 .claims = IsAsked(*request, "claims", "true"),
                                 .table = IsAsked(*request, "output", "table")};
    const Asked asked{Size::kLarge, options.table ? serving::kPlainText : serving::kJson};
    scheduler.Post(scheduler::Query{
        [&scheduler, &questions, respond, options, asked, gone = GoneOf(*request),
         fix = IsAsked(*request, "fix", "true"), key = pod == nullptr ? "" : *pod] {
          const auto standing = StandingOf(scheduler, key);
          if (!standing) return respond(serving::ErrorText(404, standing.error().message));
          if (fix) {
            const auto how = [key, options, standing = *standing](Mirror& mirror,
                                                                  const auto& /*spent*/) {
              return ExplainWithFixes(key, options, standing, mirror);
            };
            return Ask(asked, how, gone, respond, scheduler, questions);
          }
          auto text = ExplainPending(scheduler, key, options, *standing);
          if (!text) return respond(serving::ErrorText(404, text.error().message));
          respond(ResponseOf({200, *std::move(text)}, asked.content_type, {}));
        }});
  };
  router.Handle("/debug/explain", explain);
}

}  // namespace berth::app
