// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "berth/config_value.h"
#include "berth/result.h"

namespace berth::documents {

// What a plain scalar of YAML 1.1 means to Kubernetes, which turns it into JSON: null, a boolean
// (also yes, no, on, off, y, n), an integer (decimal, 0x, 0o, 0b, octal with a leading 0, digits
// grouped by _), another number, or else a string. Numbers without a fraction that fit are
// integers. Errors: infinities and NaN, which JSON does not have.
//
// The rules are those of go.yaml.in/yaml/v2, which sigs.k8s.io/yaml reads with.
Result<ConfigValue> ResolvePlainScalar(std::string_view text, int line);

}  // namespace berth::documents
