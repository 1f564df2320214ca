// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "src/serving/http.h"

namespace berth::serving {

// Whether a refusal has a member "details", as some of the API server's own have it.
enum class Details { kNone, kEmpty };

// A meta/v1 Status that says no. Thread safety: any thread.
Response Refusal(int code, std::string_view reason, std::string_view message,
                 Details details = Details::kNone);

}  // namespace berth::serving
