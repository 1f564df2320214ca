// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "src/client/api_client.h"
#include "src/plan/apply.h"

namespace berth::app {

// What `berth plan --apply` may conclude from a server's answer to one of its writes. A conflict
// that does not come from another UID may pass: an object changed meanwhile, or a webhook says so.
plan::Answer PlanAnswerOf(const client::ResponseResult& result, std::string_view server);

}  // namespace berth::app
