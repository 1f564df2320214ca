// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/config_value.h"
#include "plugins/shared/broken_linear_function.h"

namespace berth::plugins {

std::vector<UtilizationShapePoint> ReadShape(FieldReader& fields, std::string_view field);

// Adds what is wrong with the shape at `path`: it needs a point, utilizations that increase within
// 0..100, and scores within 0..10.
void ValidateShape(std::span<const UtilizationShapePoint> shape, std::string_view path,
                   std::vector<std::string>& problems);

}  // namespace berth::plugins
