// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <memory>
#include <string>
#include <utility>

#include "src/app/endpoints/endpoints.h"
#include "src/base/file.h"
#include "src/profiling/cpu_sampler.h"
#include "src/profiling/profile.h"
#include "src/serving/shared_page.h"

namespace berth::app {
namespace {

using profiling::CpuSampler;
using serving::ErrorText;
using serving::PageThread;
using serving::Request;
using serving::RequestPtr;
using serving::Respond;
using serving::Response;

constexpr int kUsualProfileSeconds = 30;
constexpr std::string_view kIndex =
    "/debug/pprof/profile?seconds=30   where CPU time is spent, for up to 60 seconds\n"
    "/debug/pprof/heap                 where the memory in use was allocated; needs "
    "MALLOC_CONF=prof:true\n"
    "/debug/pprof/cmdline              the command line, each word followed by NUL\n";

Response File(std::string_view name, std::string body) {
  return {.content_type = "application/octet-stream",
          .body = std::move(body),
          .headers = {{"Content-Disposition", "attachment; filename=\"" + std::string(name) + '"'},
                      {"X-Content-Type-Options", "nosniff"}}};
}

// As kube-scheduler takes it: what is no number above 0 is the usual time.
int SecondsOf(const Request& request) {
  const std::string* text = request.FindQuery("seconds");
  if (text == nullptr) return kUsualProfileSeconds;
  int seconds = 0;
  const char* end = text->data() + text->size();
  const auto [stopped, error] = std::from_chars(text->data(), end, seconds);
  if (error == std::errc::result_out_of_range) return kMostProfileSeconds + 1;
  return error != std::errc() || stopped != end || seconds <= 0 ? kUsualProfileSeconds : seconds;
}

// Used on the thread for pages only, once there is one.
struct Sampling {
  std::unique_ptr<CpuSampler> sampler;
};

void ServeProfile(const RequestPtr& request, const Respond& respond, PageThread& pages,
                  base::Executor& executor, const Clock& clock) {
  const int seconds = SecondsOf(*request);
  if (seconds > kMostProfileSeconds) {
    return respond(ErrorText(400, "at most " + std::to_string(kMostProfileSeconds) + " seconds"));
  }
  auto sampler = CpuSampler::Start(clock);
  if (!sampler) {
    return respond(ErrorText(500, "Could not enable CPU profiling: " + sampler.error().message));
  }
  pages.Start();
  const auto sampling = std::make_shared<Sampling>(std::move(*sampler));
  request->departure->OnGone([sampling, tasks = pages.tasks()] {
    tasks->Push([sampling] { sampling->sampler.reset(); });
  });
  executor.PostAfter(std::chrono::seconds(seconds), [sampling, respond, tasks = pages.tasks()] {
    tasks->Push([sampling, respond] {
      if (sampling->sampler == nullptr) return;
      std::string profile = sampling->sampler->Finish();
      sampling->sampler.reset();
      respond(File("profile", std::move(profile)));
    });
  });
}

}  // namespace

void InstallPprof(serving::Router& router, base::Executor& executor, const Clock& clock) {
  const auto pages = std::make_shared<PageThread>("berth-pprof", PageThread::Priority::kOrdinary);
  router.Handle(std::string(kProfilePath),
                [pages, &executor, &clock](const RequestPtr& request, const Respond& respond) {
                  ServeProfile(request, respond, *pages, executor, clock);
                });
  router.Handle(
      "/debug/pprof/heap", [pages](const RequestPtr& /*request*/, const Respond& respond) {
        pages->Start();
        pages->tasks()->Push([respond] {
          auto heap = profiling::HeapProfile();
          respond(heap ? File("heap", std::move(*heap)) : ErrorText(501, heap.error().message));
        });
      });
  router.Answer("/debug/pprof/cmdline", [](const Request& /*request*/) {
    return Response{.body = base::ReadFile("/proc/self/cmdline").value_or("")};
  });
  const auto index = [](const Request& /*request*/) {
    return Response{.body = std::string(kIndex)};
  };
  router.Answer("/debug/pprof", index);
  router.Answer("/debug/pprof/", index);
}

}  // namespace berth::app
