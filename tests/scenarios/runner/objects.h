// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "berth/api/object.h"
#include "berth/config_value.h"
#include "berth/result.h"
#include "src/informers/informer_event.h"

// Objects as scenarios write them.
//
// Thread safety: any thread.
namespace berth::scenarios {

// The names of lists, such as "pods", and the kinds that they hold.
std::span<const std::pair<std::string_view, informers::Kind>> Lists();
// The kind that a list of this name holds, such as "pods"; of a kind that a plugin asks for the
// list is called "<resource>.<group>".
std::optional<informers::Kind> KindOfList(std::string_view list);

// "name" as the key of an object: with the namespace "default" where the kind has namespaces and
// the name says none.
std::string KeyOf(informers::Kind kind, std::string_view name);

// `written` with `name`, `namespace`, `labels`, `annotations` and a pod's `requests` put where the
// API has them. Errors: such a member that stands in both places, or what is no map.
Result<ConfigValue> ExpandShortCuts(informers::Kind kind, const ConfigValue& written);

// The name that a written object has; "" where it has none.
std::string KeyOfExpanded(informers::Kind kind, const ConfigValue& expanded);

// An object that comes. What the format leaves out is filled in; `uid` is its metadata.uid unless
// it says one. Errors: a member that the kind does not have or that Berth does not read, a wrong
// type, a selector that the API server would not have taken.
Result<api::ObjectPtr> MakeObject(informers::Kind kind, const ConfigValue& expanded,
                                  std::string_view uid);

// The object as the API has it, members with zero values left out.
Result<ConfigValue> TreeOf(const api::ObjectPtr& object);

// `object` with a JSON merge patch (RFC 7386) laid over it. Errors: as above.
Result<api::ObjectPtr> PatchObject(const api::ObjectPtr& object, const ConfigValue& expanded_patch);

// `value` with every "$i" in its strings and keys replaced by the index, "$i%7" by the index modulo
// 7, and "$i/7" by the index divided by 7.
ConfigValue WithIndex(const ConfigValue& value, size_t index);

}  // namespace berth::scenarios
