// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "src/base/text.h"

namespace berth::binding {

// The path of a pod, escaped, with what stands behind it: "", "/binding", ...
inline std::string PodPath(std::string_view pod_namespace, std::string_view name,
                           std::string_view subresource = "") {
  std::string path;
  path.reserve(32 + pod_namespace.size() + name.size() + subresource.size());
  path += "/api/v1/namespaces/";
  base::AppendEscaped(pod_namespace, path);
  path += "/pods/";
  base::AppendEscaped(name, path);
  path += subresource;
  return path;
}

// The path of a namespace's events, escaped.
inline std::string EventsPath(std::string_view event_namespace) {
  constexpr std::string_view kHead = "/apis/events.k8s.io/v1/namespaces/";
  constexpr std::string_view kTail = "/events";
  std::string path;
  path.reserve(kHead.size() + event_namespace.size() + kTail.size());
  path += kHead;
  base::AppendEscaped(event_namespace, path);
  path += kTail;
  return path;
}

// The paths of a PersistentVolume and of a PersistentVolumeClaim, escaped.
inline std::string VolumePath(std::string_view name) {
  return "/api/v1/persistentvolumes/" + base::Escape(name);
}
inline std::string ClaimPath(std::string_view claim_namespace, std::string_view name) {
  return "/api/v1/namespaces/" + base::Escape(claim_namespace) + "/persistentvolumeclaims/" +
         base::Escape(name);
}

// The paths of the ResourceClaims of a namespace and of one of them, escaped.
inline std::string ResourceClaimsPath(std::string_view claim_namespace) {
  return "/apis/resource.k8s.io/v1/namespaces/" + base::Escape(claim_namespace) + "/resourceclaims";
}
inline std::string ResourceClaimPath(std::string_view claim_namespace, std::string_view name) {
  return ResourceClaimsPath(claim_namespace) + "/" + base::Escape(name);
}

}  // namespace berth::binding
