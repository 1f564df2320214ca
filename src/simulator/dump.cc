// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/dump.h"

#include <string_view>
#include <type_traits>
#include <variant>

#include "src/api/decode.h"

namespace berth::simulator {
namespace {

template <typename T, typename... Kinds>
constexpr bool kIsAnyOf = (std::is_same_v<T, Kinds> || ...);
// Kinds whose annotations scheduling reads.
template <typename T>
constexpr bool kHasFactsInAnnotations =
    kIsAnyOf<T, api::PersistentVolume, api::PersistentVolumeClaim, api::StorageClass, api::CSINode,
             api::ResourceClaim, api::ResourceClaimTemplate>;

// Holds whole manifests, with what others must not see.
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

template <typename T>
std::string JsonOf(const T& object) {
  if (object.metadata.annotations.empty()) return api::EncodeJson(object);
  T copy = object;
  if constexpr (kHasFactsInAnnotations<T>) {
    std::erase_if(copy.metadata.annotations,
                  [](const auto& annotation) { return annotation.first == kLastApplied; });
  } else {
    copy.metadata.annotations.clear();
  }
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
