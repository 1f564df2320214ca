// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace berth::api {

// Whether the scheduler, an in-tree plugin or a question about evictions reads the annotation, of
// whichever kind. Dumps and recordings keep the values of these alone: others hold what their
// owners tell programs of their own.
bool IsReadAnnotation(std::string_view key);

}  // namespace berth::api
