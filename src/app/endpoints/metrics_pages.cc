// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/metrics_pages.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "berth/api/pod.h"
#include "src/app/endpoints/metrics_format.h"
#include "src/metrics/pod_resources.h"
#include "src/serving/shared_page.h"

namespace berth::app {
namespace {

using metrics::Format;
using serving::PageThread;
using serving::RequestPtr;
using serving::Respond;
using serving::Response;
using serving::Router;
using serving::SharedPage;

std::string PodResourcesPage(const std::vector<api::ObjectPtr>& objects,
                             const metrics::Registry& metrics, Format format) {
  std::vector<std::shared_ptr<const api::Pod>> pods;
  pods.reserve(objects.size());
  for (const api::ObjectPtr& object : objects) {
    if (const auto* pod = std::get_if<std::shared_ptr<const api::Pod>>(&object)) {
      pods.push_back(*pod);
    }
  }
  return metrics::PodResourcesExposition(pods, metrics, format);
}

// A page in each of its formats.
class MetricsPage {
 public:
  using CollectAs = std::function<SharedPage::Collect(Format)>;

  MetricsPage(const std::shared_ptr<PageThread>& thread, const CollectAs& collect)
      : text_(thread, collect(Format::kText)), protobuf_(thread, collect(Format::kProtobuf)) {}

  void Serve(const RequestPtr& request, const Respond& respond) {
    MetricsFormat as = MetricsFormatFor(*request);
    SharedPage& page = as.format == Format::kText ? text_ : protobuf_;
    page.Serve(request, respond, Response{.content_type = std::move(as.content_type)});
  }

 private:
  SharedPage text_;
  SharedPage protobuf_;
};

void InstallReset(Router& router, std::string_view path, metrics::Registry& metrics,
                  metrics::Page page) {
  router.HandleMethod(path, "DELETE",
                      [&metrics, page](const RequestPtr& /*request*/, const Respond& respond) {
                        metrics.Reset(page);
                        respond(Response{.body = "metrics reset\n"});
                      });
}

}  // namespace

void InstallMetrics(Router& router, const MetricsSources& sources) {
  metrics::Registry& metrics = sources.metrics;
  const auto counted =
      std::make_shared<PageThread>("berth-metrics", PageThread::Priority::kOrdinary);
  const std::pair<const char*, metrics::Page> pages[] = {{"/metrics", metrics::Page::kMetrics},
                                                         {"/metrics/slis", metrics::Page::kSlis}};
  for (const auto& [path, page] : pages) {
    const auto collect = [&metrics, which = page](Format format) -> SharedPage::Collect {
      return [&metrics, which, format](const std::function<void(SharedPage::Make)>& made_by) {
        made_by([&metrics, which, format] { return metrics.Exposition(which, format); });
      };
    };
    router.Handle(path, [formats = std::make_shared<MetricsPage>(counted, collect)](
                            const RequestPtr& request, const Respond& respond) {
      formats->Serve(request, respond);
    });
    InstallReset(router, path, metrics, page);
  }

  // All pods are there, also those that wait for another scheduler.
  const auto collect = [&metrics,
                        pods = sources.collect_pods](Format format) -> SharedPage::Collect {
    return [&metrics, pods, format](const std::function<void(SharedPage::Make)>& made_by) {
      pods([&metrics, made_by, format](std::vector<api::ObjectPtr> objects) {
        made_by([&metrics, objects = std::move(objects), format] {
          return PodResourcesPage(objects, metrics, format);
        });
      });
    };
  };
  const auto of_pods = std::make_shared<PageThread>("berth-pages", PageThread::Priority::kLowest);
  router.Handle("/metrics/resources",
                [formats = std::make_shared<MetricsPage>(of_pods, collect),
                 leading = sources.leading](const RequestPtr& request, const Respond& respond) {
                  if (leading()) return formats->Serve(request, respond);
                  respond(Response{.content_type = MetricsFormatFor(*request).content_type});
                });
  InstallReset(router, "/metrics/resources", metrics, metrics::Page::kResources);
}

}  // namespace berth::app
