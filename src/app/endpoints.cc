// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints.h"

#include <utility>
#include <vector>

#include "berth/config_value.h"
#include "src/app/debug_flags.h"
#include "src/app/debug_questions.h"
#include "src/app/live_state.h"
#include "src/app/version.h"
#include "src/metrics/pod_resources.h"
#include "src/serving/gzip.h"
#include "src/serving/health.h"

namespace berth::app {
namespace {

using metrics::Metric;
using metrics::Page;
using serving::HealthCheck;
using serving::Request;
using serving::RequestPtr;
using serving::Respond;
using serving::Response;
using serving::Router;

constexpr std::string_view kMetricsText = "text/plain; version=0.0.4; charset=utf-8";

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

Response MetricsText(std::string body) {
  Response response;
  response.content_type = kMetricsText;
  response.body = std::move(body);
  return response;
}

std::string PodResourcesPage(const std::vector<api::ObjectPtr>& objects,
                             const metrics::Registry& metrics) {
  std::vector<std::shared_ptr<const api::Pod>> pods;
  pods.reserve(objects.size());
  for (const api::ObjectPtr& object : objects) {
    if (const auto* pod = std::get_if<std::shared_ptr<const api::Pod>>(&object)) {
      pods.push_back(*pod);
    }
  }
  return metrics::PodResourcesExposition(pods, metrics);
}

// DELETE sets the page's counters back.
void InstallReset(Router& router, std::string_view path, metrics::Registry& metrics, Page page) {
  router.HandleMethod(path, "DELETE",
                      [&metrics, page](const RequestPtr& /*request*/, const Respond& respond) {
                        metrics.Reset(page);
                        Response response;
                        response.body = "metrics reset\n";
                        respond(std::move(response));
                      });
}

void InstallMetrics(Router& router, const EndpointSources& sources) {
  metrics::Registry& metrics = sources.metrics;
  router.Answer("/metrics", [&metrics](const Request& request) {
    return serving::Compressed(request, MetricsText(metrics.Exposition()));
  });
  InstallReset(router, "/metrics", metrics, Page::kMetrics);
  router.Answer("/metrics/slis", [&metrics](const Request& request) {
    return serving::Compressed(request, MetricsText(metrics.Exposition(Page::kSlis)));
  });
  InstallReset(router, "/metrics/slis", metrics, Page::kSlis);
  // Only the leader answers, so that the sum over all replicas is right. All pods are there, also
  // those that wait for another scheduler, so the informers are asked.
  router.Handle(
      "/metrics/resources", [&metrics, &informers = sources.informers, leading = sources.leading](
                                const RequestPtr& request, const Respond& respond) {
        if (!leading()) return respond(MetricsText(""));
        const auto answer = [&metrics, request, respond](std::vector<api::ObjectPtr> objects) {
          Response response = MetricsText("");
          response.write_body = [&metrics, objects = std::move(objects)] {
            return PodResourcesPage(objects, metrics);
          };
          respond(serving::Compressed(*request, std::move(response)));
        };
        informers.CollectObjects(informers::Kind::kPod, answer);
      });
  InstallReset(router, "/metrics/resources", metrics, Page::kResources);
}

// Runs `read` on the scheduling thread and answers with the JSON it gives; an error is a 404.
void InstallLiveState(
    Router& router, std::string path, scheduler::Scheduler& scheduler,
    std::function<Result<std::string>(scheduler::Scheduler&, const Request&)> read) {
  router.Handle(std::move(path), [&scheduler, read = std::move(read)](const RequestPtr& request,
                                                                      const Respond& respond) {
    scheduler.Post(scheduler::Query{[&scheduler, read, request, respond] {
      auto text = read(scheduler, *request);
      respond(text ? Json(std::move(*text)) : serving::ErrorText(404, text.error().message));
    }});
  });
}

void InstallDebug(Router& router, scheduler::Scheduler& scheduler) {
  InstallLiveState(router, "/debug/cache", scheduler,
                   [](scheduler::Scheduler& live, const Request& request) {
                     return CacheJson(live, QueryOr(request, "node", ""));
                   });
  InstallLiveState(router, "/debug/queue", scheduler,
                   [](scheduler::Scheduler& live, const Request& /*request*/) {
                     return Result<std::string>(QueueJson(live));
                   });
}

}  // namespace

std::shared_ptr<const serving::Router> MakeEndpoints(EndpointSources sources) {
  const auto router = std::make_shared<Router>();
  InstallHealthChecks(*router, sources);
  InstallMetrics(*router, sources);
  router->Answer("/configz", [&configz = sources.configz](const Request& /*request*/) {
    return Json(configz.Json());
  });
  router->Answer("/version", [](const Request& /*request*/) {
    return Json(VersionDocument().ToJson() + "\n");
  });
  if (sources.debug) {
    InstallDebug(*router, sources.scheduler);
    InstallExplain(*router, sources.clock, sources.scheduler, sources.questions);
    InstallSimulate(*router, sources.scheduler, sources.questions);
    InstallDebugFlags(*router);
  }
  InstallZPages(*router, std::move(sources.zpages));
  return router;
}

}  // namespace berth::app
