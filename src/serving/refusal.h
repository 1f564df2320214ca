// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "src/serving/http.h"

// Answers that say no, as Kubernetes' servers give them.
//
// Thread safety: any thread.
namespace berth::serving {

// Whether a refusal has a member "details", as some of the API server's own have it.
enum class Details { kNone, kEmpty };

// A meta/v1 Status in the form that `request` would take: JSON, of several lines for those of whom
// AsksForIndented() says so and where none of the forms would be taken, or YAML.
Response Refusal(const Request& request, int code, std::string_view reason,
                 std::string_view message, Details details = Details::kNone);

// Whether JSON shall come for people's eyes: by `?pretty=true`, or without that by the name of the
// client, which is curl's, Wget's or a browser's.
bool AsksForIndented(const Request& request);

}  // namespace berth::serving
