// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "src/api/kinds.h"

// Takes JSON apart without decoding the objects inside. What is skipped is not checked.
namespace berth::api {

struct ScannedWatchEvent {
  std::string type;
  std::string_view object;  // points into the text
};

Result<ScannedWatchEvent> ScanWatchEvent(std::string_view text);

// The object without metadata.managedFields, which is half of many an object and never read;
// `text` itself where it has none or is no JSON object.
std::string WithoutManagedFields(std::string_view text);
// The same without an annotation, whose key has no escapes.
std::string WithoutAnnotation(std::string_view text, std::string_view key);

struct ScannedList {
  TypeMeta type;
  ListMeta meta;
};

// Calls `on_item` with the text of each of the list's items.
Result<ScannedList> ScanList(std::string_view text,
                             const std::function<void(std::string_view)>& on_item);

// Why `text` is no JSON, with line and column: "line 3, column 5: ...". For after the fast parser
// refused it, which does not say where; `reason` is for texts that turn out to be JSON. `before` is
// what stands ahead of `text` in its file, and is counted in.
Error DescribeJsonError(std::string_view text, std::string_view reason,
                        std::string_view before = {});

}  // namespace berth::api
