// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "src/api/writes.h"

// The bodies of writes.h that are sent for every pod, as protobuf in Kubernetes' envelope: for
// servers that read it, to which it is a fraction of the work that JSON is.
//
// Thread safety: any thread.
namespace berth::api {

inline constexpr std::string_view kProtobufContentType = "application/vnd.kubernetes.protobuf";

// As BindingBody().
std::string BindingProtobuf(std::string_view namespace_name, std::string_view pod_name,
                            std::string_view pod_uid, std::string_view node_name);

// As EventBody(): times are cut to microseconds, bytes that are not UTF-8 become U+FFFD.
std::string EventProtobuf(const Event& event);

}  // namespace berth::api
