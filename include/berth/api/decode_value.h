// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "berth/config_value.h"
#include "berth/result.h"

namespace berth::api {

enum class UnknownFields { kSkip, kFail };

// Reads an API struct out of a configuration or cluster file. `path` is put before the names of
// fields in messages; it may be "". A null value reads as an empty struct. Errors: as for other
// decoders, with the path of the field; with kFail also a field that T does not have.
//
// There for every kind and for the parts that plugin args hold: NodeAffinity, LabelSelector,
// TopologySpreadConstraint, Toleration.
//
// Thread safety: any thread.
template <typename T>
Result<T> DecodeValue(const ConfigValue& value, std::string_view path,
                      UnknownFields unknown = UnknownFields::kSkip);

}  // namespace berth::api
