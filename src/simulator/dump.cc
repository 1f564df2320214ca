// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <type_traits>
#include <variant>

#include "src/api/decode.h"
#include "src/api/read_annotations.h"
#include "src/simulator/cluster_files.h"

namespace berth::simulator {
namespace {

template <typename T>
std::string JsonOf(const T& object) {
  if (object.metadata.annotations.empty()) return api::EncodeJson(object);
  T copy = object;
  std::erase_if(copy.metadata.annotations,
                [](const auto& annotation) { return !api::IsReadAnnotation(annotation.first); });
  return api::EncodeJson(copy);
}

// Plugins may read all of it.
std::string JsonOf(const api::PluginObject& object) { return *object.json; }

std::string JsonOf(const api::ObjectPtr& object) {
  return std::visit(
      [](const auto& held) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return "null";
        } else {
          return JsonOf(*held);
        }
      },
      object);
}

}  // namespace

std::string DumpOf(const MemoryApi& api, const AdmissionObjects& admission,
                   const std::vector<PodController>& idle) {
  std::string text = R"({"apiVersion":"v1","kind":"List","items":[)";
  std::string_view separator = "\n";
  for (const informers::Kind kind : informers::AllKinds()) {
    api.ForEach(kind, [&](const api::ObjectPtr& object) {
      text += separator;
      text += JsonOf(object);
      separator = ",\n";
    });
  }
  AppendJson(admission, separator, text);
  AppendJson(idle, separator, text);
  text += "\n]}\n";
  return text;
}

}  // namespace berth::simulator
