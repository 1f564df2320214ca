// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/debug_flags.h"

#include <cstdint>
#include <limits>
#include <string>

#include "berth/field_errors.h"
#include "src/app/flags/flag_values.h"
#include "src/base/logging.h"

namespace berth::app {

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
    return Response{.body = std::to_string(base::LogVerbosity()) + "\n"};
  });
  router.HandleMethod(
      "/debug/flags/v", "PUT", [](const RequestPtr& request, const Respond& respond) {
        const auto level = ReadFlagValue<uint64_t>(request->body);
        if (!level) return respond(serving::ErrorText(400, level.error().message));
        if (*level > std::numeric_limits<int>::max()) {
          return respond(serving::ErrorText(
              400, "strconv.ParseUint: parsing " + Quoted(request->body) + ": value out of range"));
        }
        base::SetLogVerbosity(static_cast<int>(*level));
        respond(Response{.body = "successfully set klog.logging.verbosity to " + request->body});
      });
}

}  // namespace berth::app
