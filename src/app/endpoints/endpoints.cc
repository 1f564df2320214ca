// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/endpoints.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "berth/config_value.h"
#include "berth/field_errors.h"
#include "src/app/commands/output.h"
#include "src/app/endpoints/debug_questions.h"
#include "src/app/endpoints/live_reads.h"
#include "src/app/endpoints/live_state.h"
#include "src/app/endpoints/metrics_pages.h"
#include "src/app/flags/flag_values.h"
#include "src/app/version.h"
#include "src/base/logging.h"
#include "src/base/text.h"
#include "src/config/write.h"
#include "src/serving/health.h"

namespace berth::app {
namespace {

using metrics::Metric;
using serving::HealthCheck;
using serving::Request;
using serving::RequestPtr;
using serving::Respond;
using serving::Response;
using serving::Router;

constexpr std::string_view kStandbyRemark =
    "This replica does not lead: another one decides, and knows where pods stand.\n\n";

Response Json(std::string body) {
  Response response;
  response.content_type = serving::kJson;
  response.body = std::move(body);
  return response;
}

std::string QueryOr(const Request& request, std::string_view name, const std::string& otherwise) {
  const std::string* value = request.FindQuery(name);
  return value == nullptr ? otherwise : *value;
}

void InstallHealthChecks(Router& router, const EndpointSources& sources) {
  const HealthCheck ping{"ping", [] { return std::nullopt; }};
  std::vector<HealthCheck> healthz;
  std::vector<HealthCheck> readyz;
  if (sources.leader_election) {
    healthz.push_back({"leaderElection", sources.leader_election});
    readyz.push_back({"leaderElection", sources.leader_election});
  }
  readyz.push_back({"shutdown", sources.shutdown});
  readyz.push_back(
      {"sched-handler-sync", [&scheduler = sources.scheduler]() -> std::optional<std::string> {
         if (scheduler.has_synced()) return std::nullopt;
         return "handlers are not fully synchronized";
       }});
  const auto observe = [&metrics = sources.metrics](const std::string& check,
                                                    const std::string& type, bool healthy) {
    metrics.Set(metrics.Intern(Metric::kHealthcheck, {check, type}), healthy ? 1 : 0);
    metrics.Add(
        metrics.Intern(Metric::kHealthchecks, {check, type, healthy ? "success" : "error"}));
  };
  serving::InstallHealth(router, "/healthz", std::move(healthz), observe);
  serving::InstallHealth(router, "/livez", {ping, {"sched-loop", sources.scheduling_loop}},
                         observe);
  serving::InstallHealth(router, "/readyz", std::move(readyz), observe);
}

// Runs `read` on the scheduling thread and answers with the JSON it gives; an error is a 404.
void InstallLiveState(
    Router& router, std::string path, scheduler::Scheduler& scheduler,
    const std::shared_ptr<LiveReads>& reads,
    std::function<Result<std::string>(scheduler::Scheduler&, const Request&)> read) {
  router.Handle(std::move(path), [&scheduler, reads, read = std::move(read)](
                                     const RequestPtr& request, const Respond& respond) {
    const bool asked = reads->Ask(
        questions::Size::kLarge, *request->departure, [&scheduler, read, request, respond] {
          auto text = read(scheduler, *request);
          respond(text ? Json(std::move(*text)) : serving::ErrorText(404, text.error().message));
        });
    if (!asked) respond(TooManyReads());
  });
}

void InstallDebug(Router& router, scheduler::Scheduler& scheduler,
                  const std::shared_ptr<LiveReads>& reads) {
  InstallLiveState(router, "/debug/cache", scheduler, reads,
                   [](scheduler::Scheduler& live, const Request& request) {
                     return CacheJson(live, QueryOr(request, "node", ""));
                   });
  InstallLiveState(router, "/debug/queue", scheduler, reads,
                   [](scheduler::Scheduler& live, const Request& /*request*/) {
                     return Result<std::string>(QueueJson(live));
                   });
}

// Says in each answer whether this replica leads: what a standby sees is not what is decided. As a
// header; as the first member of a document but for its version; before a table, where it does not
// lead.
Respond TellingWhoLeads(const Request& request, const std::function<bool()>& leads,
                        Respond respond) {
  const bool table = QueryOr(request, "output", "") == "table";
  return [leads, table, respond = std::move(respond)](Response response) {
    const bool leading = leads();
    response.headers.emplace_back(kLeadingHeader, leading ? "true" : "false");
    if (response.content_type == serving::kJson && response.body.starts_with('{')) {
      const std::string_view member = leading ? R"("leading":true)" : R"("leading":false)";
      const bool alone = response.body.starts_with("{}");
      response.body.insert(1, std::string(member) + (alone ? "" : ","));
      response.body = WithVersion(response.body);
    } else if (table && !leading && response.code == 200) {
      response.body.insert(0, kStandbyRemark);
    }
    respond(std::move(response));
  };
}

}  // namespace

using serving::Request;
using serving::RequestPtr;
using serving::Respond;
using serving::Response;

void InstallDebugFlags(serving::Router& router) {
  for (const char* path : {"/debug/flags", "/debug/flags/"}) {
    router.Answer(path, [](const Request& /*request*/) {
      return Response{.content_type = "text/html; charset=utf-8",
                      .body = "<a href=\"/debug/flags/v\">v</a>\n"};
    });
  }
  router.Answer("/debug/flags/v", [](const Request& /*request*/) {
    return Response{.body = std::to_string(base::LogVerbositySet()) + "\n"};
  });
  router.HandleMethod(
      "/debug/flags/v", "PUT", [](const RequestPtr& request, const Respond& respond) {
        const auto level = ReadFlagValue<uint64_t>(request->body);
        if (!level) return respond(serving::ErrorText(400, level.error().message));
        const auto out_of_range = [&](std::string_view function) {
          return base::Concat(function, ": parsing ", Quoted(request->body),
                              ": value out of range");
        };
        if (*level > std::numeric_limits<uint32_t>::max()) {
          return respond(serving::ErrorText(400, out_of_range("strconv.ParseUint")));
        }
        if (*level > std::numeric_limits<int>::max()) {
          return respond(serving::ErrorText(
              400, base::Concat("failed set klog.logging.verbosity ", request->body, ": ",
                                out_of_range("strconv.ParseInt"))));
        }
        base::SetLogVerbosity(static_cast<int>(*level));
        respond(
            Response{.body = "successfully set klog.logging.verbosity to " + request->body + "\n",
                     .headers = {{"X-Content-Type-Options", "nosniff"}}});
      });
  router.HandleMethod("/debug/flags/v", "",
                      [](const RequestPtr& /*request*/, const Respond& respond) {
                        respond(serving::ErrorText(406, "unsupported http method"));
                      });
}

void Configz::Set(const config::SchedulerConfiguration& configuration) {
  const ConfigValue document(
      ConfigValue::Map{{"componentconfig", config::ToDocument(config::WithoutSecrets(configuration),
                                                              config::ShownArgs::kAll)}});
  std::string json = document.ToJson();
  const base::MutexLock lock(mutex_);
  json_ = std::move(json);
}

std::string Configz::Json() const {
  const base::MutexLock lock(mutex_);
  return json_;
}

std::shared_ptr<const serving::Router> MakeEndpoints(EndpointSources sources) {
  const auto router = std::make_shared<Router>();
  InstallHealthChecks(*router, sources);
  InstallMetrics(*router, {sources.metrics,
                           [&informers = sources.informers](informers::Informers::OnObjects done) {
                             informers.CollectObjects(informers::Kind::kPod, std::move(done));
                           },
                           sources.leading});
  router->Answer(
      "/configz",
      [&configz = sources.configz](const Request& /*request*/) {
        Response response = Json(configz.Json());
        response.headers.emplace_back("X-Content-Type-Options", "nosniff");
        return response;
      },
      Router::Takes::kEachMethod);
  router->Answer("/version", [](const Request& /*request*/) {
    return Json(VersionDocument().ToJson() + "\n");
  });
  if (sources.debug) {
    const auto reads = std::make_shared<LiveReads>(
        [&scheduler = sources.scheduler](std::function<void()> read) {
          scheduler.Post(scheduler::Query{std::move(read)});
        },
        sources.executor, sources.clock);
    Router debug;
    InstallDebug(debug, sources.scheduler, reads);
    InstallExplain(debug, reads, sources.scheduler, sources.questions, sources.leading);
    InstallSimulate(debug, sources.scheduler, sources.questions);
    InstallDebugFlags(debug);
    router->Include(debug, [leading = sources.leading](const RequestPtr& request, Respond respond) {
      return TellingWhoLeads(*request, leading, std::move(respond));
    });
  }
  if (sources.debug) InstallPprof(*router, sources.executor, sources.clock);
  InstallZPages(*router, std::move(sources.zpages));
  return router;
}

}  // namespace berth::app
