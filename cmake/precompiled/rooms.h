// SPDX-License-Identifier: Apache-2.0
// What nearly every source of the daemon includes and what is slow to parse: the standard library,
// and the API's objects and the plugins' interface, which nearly all of it is made of.
#pragma once

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "berth/api/object.h"
#include "berth/config_value.h"
#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
