// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/metrics_pages.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include "berth/api/pod.h"
#include "src/metrics/pod_resources.h"
#include "src/serving/accept.h"
#include "src/serving/shared_page.h"

namespace berth::app {
namespace {

using serving::MediaRange;

constexpr std::string_view kText = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kProtobuf =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";
constexpr std::string_view kEscapings[] = {"allow-utf-8", "underscores", "dots", "values"};

std::string_view Parameter(const MediaRange& range, const std::string& name) {
  const auto found = range.parameters.find(name);
  return found == range.parameters.end() ? "" : std::string_view(found->second);
}

bool IsProtobuf(const MediaRange& range) {
  return range.type == "application" && range.subtype == "vnd.google.protobuf" &&
         Parameter(range, "proto") == "io.prometheus.client.MetricFamily" &&
         Parameter(range, "encoding") == "delimited";
}

bool IsText(const MediaRange& range) {
  const std::string_view version = Parameter(range, "version");
  return range.type == "text" && range.subtype == "plain" &&
         (version.empty() || version == "0.0.4");
}

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

// `shown` says whether the page is there now; where it is not, nothing is reset.
void InstallReset(Router& router, std::string_view path, metrics::Registry& metrics,
                  metrics::Page page, const std::function<bool()>& shown) {
  router.HandleMethod(
      path, "DELETE",
      [&metrics, page, shown](const RequestPtr& /*request*/, const Respond& respond) {
        if (!shown()) return respond(Response());
        metrics.Reset(page);
        respond(Response{.body = "metrics reset\n"});
      });
}

}  // namespace

MetricsFormat MetricsFormatFor(const serving::Request& request) {
  const std::string* const accept = request.FindHeader("accept");
  std::string_view escaping = "underscores";
  const auto chosen = [&escaping](metrics::Format format, std::string_view type) {
    return MetricsFormat{format, std::string(type) + "; escaping=" + std::string(escaping)};
  };
  if (accept == nullptr) return chosen(metrics::Format::kText, kText);
  const std::vector<MediaRange> ranges = serving::ParseAccept(*accept);
  for (const MediaRange& range : ranges) {
    // What a better format asks for holds for the next ones, too.
    const auto known = std::ranges::find(kEscapings, Parameter(range, "escaping"));
    if (known != std::end(kEscapings)) escaping = *known;
    if (IsProtobuf(range)) return chosen(metrics::Format::kProtobuf, kProtobuf);
    if (IsText(range)) break;
  }
  return chosen(metrics::Format::kText, kText);
}

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
    router.Handle(
        path,
        [formats = std::make_shared<MetricsPage>(counted, collect)](const RequestPtr& request,
                                                                    const Respond& respond) {
          formats->Serve(request, respond);
        },
        Router::Takes::kEachMethod);
    InstallReset(router, path, metrics, page, [] { return true; });
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
  router.Handle(
      "/metrics/resources",
      [formats = std::make_shared<MetricsPage>(of_pods, collect), leading = sources.leading](
          const RequestPtr& request, const Respond& respond) {
        if (leading()) return formats->Serve(request, respond);
        respond(Response{.content_type = MetricsFormatFor(*request).content_type});
      },
      Router::Takes::kEachMethod);
  InstallReset(router, "/metrics/resources", metrics, metrics::Page::kResources, sources.leading);
}

}  // namespace berth::app
