// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/debug_flags.h"

#include <cstdint>
#include <string>

#include "src/app/flags/flag_values.h"
#include "src/base/logging.h"

namespace berth::app {

using serving::Request;
using serving::RequestPtr;
using serving::Respond;
using serving::Response;

void InstallDebugFlags(serving::Router& router) {
  router.Answer("/debug/flags/v", [](const Request& /*request*/) {
    return Response{.body = std::to_string(base::LogVerbosity()) + "\n"};
  });
  router.HandleMethod(
      "/debug/flags/v", "PUT", [](const RequestPtr& request, const Respond& respond) {
        const auto level = ReadFlagValue<int32_t>(request->body);
        if (!level || *level < 0) {
          return respond(serving::ErrorText(
              400, "error updating klog.logging.verbosity to \"" + request->body + "\""));
        }
        base::SetLogVerbosity(*level);
        respond(Response{.body = "successfully set klog.logging.verbosity to " + request->body});
      });
}

}  // namespace berth::app
