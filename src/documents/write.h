// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/config_value.h"

// Document trees into text.
//
// Thread safety: any thread.
namespace berth::documents {

// As block-style YAML, keys sorted, with a newline at the end.
std::string ToYaml(const ConfigValue& value);

// As JSON of several lines, as Go's MarshalIndent writes it with two blanks a level; without a
// newline at the end.
std::string ToIndentedJson(const ConfigValue& value);

// As CBOR (RFC 8949), in the form of Kubernetes' application/cbor.
std::string ToCbor(const ConfigValue& value);

}  // namespace berth::documents
