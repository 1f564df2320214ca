// SPDX-License-Identifier: Apache-2.0
// What nearly every source of the daemon includes and what is slow to parse. No header of our own:
// an edit to it would compile everything again.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>
