// SPDX-License-Identifier: Apache-2.0
#include "src/api/plugin_object.h"

#include <simdjson.h>

#include <memory>
#include <string>
#include <utility>

#include "berth/plugin_kinds.h"
#include "src/api/json_scan.h"
#include "src/api/wire_types.h"

namespace berth::api {
namespace {

// Holds whole manifests, in their first form.
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

// The text without blanks between its tokens; it is JSON.
std::string Minified(std::string_view json) {
  std::string text(json.size(), '\0');
  size_t size = 0;
  if (simdjson::minify(json.data(), json.size(), text.data(), size)) return std::string(json);
  text.resize(size);
  text.shrink_to_fit();
  return text;
}

}  // namespace

Result<PluginObject> ReadPluginObject(PluginKindId kind, std::string_view json) {
  MetadataOnly head;
  TypeMeta type;
  if (auto read = ReadJson(json, type); !read) return Fail(read.error());
  const PluginKind& wanted = PluginKinds()[kind];
  if (auto checked = CheckType(type, wanted.ApiVersion(), wanted.kind); !checked) {
    return Fail(checked.error());
  }
  if (auto read = ReadJson(json, head); !read) return Fail(read.error());
  std::string text = WithoutManagedFields(json);
  const auto is_last_applied = [](const auto& annotation) {
    return annotation.first == kLastApplied;
  };
  if (std::erase_if(head.metadata.annotations, is_last_applied) > 0) {
    text = WithoutAnnotation(text, kLastApplied);
  }
  text = Minified(text);
  if (text.size() > kMostPluginObjectBytes) {
    return Fail("the object has " + std::to_string(text.size()) + " bytes; at most " +
                std::to_string(kMostPluginObjectBytes) + " are kept");
  }
  PluginObject object;
  object.metadata = std::move(head.metadata);
  object.kind = kind;
  object.json = std::make_shared<const std::string>(std::move(text));
  return object;
}

}  // namespace berth::api
