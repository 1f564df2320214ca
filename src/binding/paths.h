// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "src/client/api_client.h"

namespace berth::binding {

// The path of a pod, escaped.
inline std::string PodPath(std::string_view pod_namespace, std::string_view name) {
  return "/api/v1/namespaces/" + client::Escape(pod_namespace) + "/pods/" + client::Escape(name);
}

}  // namespace berth::binding
