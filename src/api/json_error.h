// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "berth/result.h"

namespace berth::api {

// Why `text` is no JSON, with line and column: "line 3, column 5: ...". For after the fast parser
// refused it, which does not say where; `reason` is for texts that turn out to be JSON. `before` is
// what stands ahead of `text` in its file, and is counted in.
Error DescribeJsonError(std::string_view text, std::string_view reason,
                        std::string_view before = {});

}  // namespace berth::api
