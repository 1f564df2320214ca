// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/debug_questions.h"

#include <absl/strings/str_join.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "src/app/endpoints/live_state.h"
#include "src/documents/parse.h"
#include "src/questions/answers.h"

namespace berth::app {
namespace {

using questions::Mirror;
using questions::Reply;
using questions::Size;
using questions::WhyQuestion;
using serving::RequestPtr;
using serving::Respond;
using serving::Response;

// Documents up to here are read on the server's thread, which takes less than a millisecond.
constexpr size_t kSmallBytes = size_t{64} << 10;
constexpr std::string_view kExplainPath = "/debug/explain";
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
  questions::Desk::How how;
};

Result<Prepared> Prepare(const std::string& body, questions::Form form,
                         questions::LiveCluster& cluster) {
  const auto document = documents::ParseJson(body, "");
  if (!document) return Fail(document.error());
  if (document->Find("pods") != nullptr) {
    auto pods = questions::ParsePods(*document);
    if (!pods) return Fail(pods.error());
    return Prepared{Size::kSmall, [pods = *std::move(pods)](Mirror& mirror, const auto& spent) {
                      return questions::JudgePods(pods, mirror, spent);
                    }};
  }
  if (document->Find("goal") != nullptr) {
    auto plan = questions::ParsePlanQuestion(*document);
    if (!plan) return Fail(plan.error());
    return Prepared{Size::kLarge,
                    [plan = *std::move(plan), form, &cluster](Mirror& mirror, const auto& spent) {
                      return questions::AnswerPlan(plan, form, cluster, mirror, spent);
                    }};
  }
  auto question = questions::ParseWhatIf(*document);
  if (!question) return Fail(question.error());
  return Prepared{Size::kLarge, [question = *std::move(question), form, &cluster](
                                    Mirror& mirror, const auto& spent) {
                    return questions::AnswerWhatIf(question, form, cluster, mirror, spent);
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

void Ask(const Asked& asked, questions::Desk::How how, Gone gone, const Respond& respond,
         const scheduler::Scheduler& scheduler, LiveQuestions& questions) {
  if (!scheduler.has_synced()) {
    return respond(serving::ErrorText(503, "the scheduler does not know all objects yet"));
  }
  questions.desk().Ask(asked.size, std::move(how), std::move(gone),
                       [respond, type = asked.content_type, &questions](Reply reply) {
                         respond(ResponseOf(std::move(reply), type, questions.plugins_not_asked()));
                       });
}

bool IsAsked(const serving::Request& request, std::string_view name, std::string_view value) {
  const std::string* given = request.FindQuery(name);
  return given != nullptr && *given == value;
}

// On the scheduling thread, whose plugins the mirror has not all.
Reply ExplainHere(const WhyQuestion& asked, const explain::PodPosition& position,
                  scheduler::Scheduler& scheduler) {
  const questions::PodQuestion question = questions::ToPodQuestion(asked, position);
  const auto pod = scheduler.FindPendingPod(asked.pod);
  return {200, questions::ToText(questions::Explain(scheduler, pod, question), asked.form)};
}

}  // namespace

Response TooManyReads() {
  return ResponseOf({429, "too many wait for the scheduling thread, please try again later"}, "",
                    {});
}

void InstallSimulate(serving::Router& router, const scheduler::Scheduler& scheduler,
                     LiveQuestions& questions) {
  const auto ask = [&scheduler, &questions](const RequestPtr& request, const Respond& respond) {
    const bool table = IsAsked(*request, "output", "table");
    const questions::Form form = table ? questions::Form::kTable : questions::Form::kJson;
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

std::optional<serving::ResourceAttributes> PodAskedAbout(const serving::Request& request) {
  if (request.path != kExplainPath || request.method != "GET") return std::nullopt;
  std::string_view key;
  for (const auto& [name, value] : request.query) {
    if (name == "pod" && key.empty()) {
      key = value;
    } else if (name != "output") {
      return std::nullopt;
    }
  }
  const size_t slash = key.find('/');
  const bool whole = slash != std::string_view::npos && slash > 0 && slash + 1 < key.size() &&
                     key.rfind('/') == slash;
  if (!whole) return std::nullopt;
  return serving::ResourceAttributes{.verb = "get",
                                     .group = "",
                                     .resource = "pods",
                                     .namespace_ = std::string(key.substr(0, slash)),
                                     .name = std::string(key.substr(slash + 1))};
}

void InstallExplain(serving::Router& router, std::shared_ptr<LiveReads> reads,
                    scheduler::Scheduler& scheduler, LiveQuestions& questions,
                    std::function<bool()> leads) {
  const auto explain = [&scheduler, &questions, reads = std::move(reads), leads = std::move(leads)](
                           const RequestPtr& request, const Respond& respond) {
    const std::string* pod = request->FindQuery("pod");
    const bool table = IsAsked(*request, "output", "table");
    const WhyQuestion asked{.pod = pod == nullptr ? "" : *pod,
                            .preemption = IsAsked(*request, "preemption", "true"),
                            .claims = IsAsked(*request, "claims", "true"),
                            .fix = IsAsked(*request, "fix", "true"),
                            .form = table ? questions::Form::kTable : questions::Form::kJson};
    const std::string_view type = table ? serving::kPlainText : serving::kJson;
    if (pod == nullptr) {
      if (asked.fix || asked.preemption || asked.claims) {
        return respond(serving::ErrorText(
            400, "preemption, claims and fix: of which pod? pod=namespace/name"));
      }
      const auto all = [form = asked.form](Mirror& mirror, const auto& spent) {
        return questions::ExplainAll(form, mirror, spent);
      };
      return Ask({Size::kLarge, type}, all, GoneOf(*request), respond, scheduler, questions);
    }
    const Asked answer{asked.fix ? Size::kLarge : Size::kSmall, type};
    const bool here = !asked.fix && !questions.plugins_not_asked().empty();
    const auto read = [=, &scheduler, &questions, gone = GoneOf(*request)] {
      auto position = PositionOf(scheduler, asked.pod);
      if (position) position->leads = leads();
      if (here && position) {
        return respond(
            ResponseOf(ExplainHere(asked, *position, scheduler), answer.content_type, {}));
      }
      const auto how = [asked, position](Mirror& mirror, const auto& spent) {
        return questions::ExplainPod(asked, position, mirror, spent);
      };
      Ask(answer, how, gone, respond, scheduler, questions);
    };
    if (!reads->Ask(here ? Size::kLarge : Size::kSmall, *request->departure, read)) {
      respond(TooManyReads());
    }
  };
  router.Handle(std::string(kExplainPath), explain);
}

}  // namespace berth::app
