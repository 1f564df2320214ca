// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "berth/time.h"
#include "src/client/api_client.h"

namespace berth::client {

// The error that an answer with `code` (not 2xx) means. Reason, message and
// details.retryAfterSeconds come from the body where it is a meta/v1 Status in the encoding that
// `content_type` names; else the reason is derived from the code and the message is the body's
// first line. `retry_after`, from the header, goes first.
ApiError ErrorFromResponse(int code, std::string_view content_type, std::string_view body,
                           std::optional<Duration> retry_after);

}  // namespace berth::client
