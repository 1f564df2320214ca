// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/informers/informer_event.h"

// What an API server sends, as JSON, and what comes of it in one line an event.
namespace berth::informers {

// A pod default/<name>. The uid is the name's unless given.
inline std::string PodJson(const std::string& name, int version, const std::string& uid = "",
                           const std::string& node = "") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default","name":")" + name +
         R"(","uid":")" + (uid.empty() ? "uid-" + name : uid) + R"(","resourceVersion":")" +
         std::to_string(version) + R"("},"spec":{"nodeName":")" + node + R"("}})";
}

// A pod whose requests make no sense.
inline std::string BadPodJson(const std::string& name, int version, const std::string& node = "") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default","name":")" + name +
         R"(","uid":"uid-)" + name + R"(","resourceVersion":")" + std::to_string(version) +
         R"("},"spec":{"nodeName":")" + node +
         R"(","schedulerName":"ours","containers":[{"name":"c","resources":{"requests":{"cpu":"lots"}}}]}})";
}

inline std::string Frame(std::string_view type, std::string_view object) {
  return R"({"type":")" + std::string(type) + R"(","object":)" + std::string(object) + "}\n";
}

inline std::string BookmarkFrame(int version, bool initial_events_end = false) {
  return Frame(
      "BOOKMARK",
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":")" +
          std::to_string(version) + "\"" +
          (initial_events_end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "") +
          "}}");
}

inline std::string ErrorFrame(int code, const std::string& message = "no") {
  return Frame("ERROR", R"({"apiVersion":"v1","kind":"Status","code":)" + std::to_string(code) +
                            R"(,"message":")" + message + "\"}");
}

inline std::string ListJson(const std::vector<std::string>& items, int version,
                            const std::string& next = "") {
  std::string text = R"({"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":")" +
                     std::to_string(version) + R"(","continue":")" + next + R"("},"items":[)";
  for (size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : ",") + items[i];
  return text + "]}";
}

// The same in protobuf, by hand: a field with a length, and a watch frame around a bare object.
inline std::string ProtoField(int number, std::string_view payload) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  for (size_t size = payload.size();; size >>= 7) {
    out.push_back(static_cast<char>((size & 0x7f) | (size >= 0x80 ? 0x80 : 0)));
    if (size < 0x80) break;
  }
  return out.append(payload);
}

inline std::string ProtoMeta(const std::string& name, int version) {
  return ProtoField(1, ProtoField(1, name) + ProtoField(3, "default") +
                           ProtoField(5, "uid-" + name) + ProtoField(6, std::to_string(version)));
}

inline std::string ProtoEnvelope(std::string_view kind, const std::string& object) {
  const std::string type_meta = ProtoField(1, "v1") + ProtoField(2, kind);
  return std::string("k8s\0", 4) + ProtoField(1, type_meta) + ProtoField(2, object);
}

inline std::string ProtoList(const std::vector<std::string>& items, int version) {
  std::string list = ProtoField(1, ProtoField(2, std::to_string(version)));
  for (const std::string& item : items) list += ProtoField(2, item);
  return ProtoEnvelope("PodList", list);
}

inline std::string ProtoFrame(std::string_view type, const std::string& object) {
  const std::string event =
      ProtoField(1, type) + ProtoField(2, ProtoField(1, ProtoEnvelope("Pod", object)));
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) {
    frame.push_back(static_cast<char>(event.size() >> shift));
  }
  return frame + event;
}

inline std::string ProtoBookmarkFrame(int version) {
  const std::string annotation = ProtoField(1, "k8s.io/initial-events-end") + ProtoField(2, "true");
  return ProtoFrame("BOOKMARK", ProtoField(1, ProtoField(6, std::to_string(version)) +
                                                  ProtoField(12, annotation)));
}

// "+a1": a added in version 1; "~a1>2": updated; "-a2": deleted; "?a 3": the version after a's
// version 3 cannot be decoded ("?a" when none was known); "synced".
inline std::string Describe(const InformerEvent& event) {
  const auto* old_pod = api::As<api::Pod>(event.old_object);
  const auto* new_pod = api::As<api::Pod>(event.new_object);
  switch (event.type) {
    case EventType::kAdded:
      return "+" + new_pod->metadata.name + new_pod->metadata.resource_version;
    case EventType::kUpdated:
      return "~" + old_pod->metadata.name + old_pod->metadata.resource_version + ">" +
             new_pod->metadata.resource_version;
    case EventType::kDeleted:
      if (old_pod == nullptr) return "-" + event.undecodable->key;
      return "-" + old_pod->metadata.name + old_pod->metadata.resource_version;
    case EventType::kUndecodable:
      return "?" + event.undecodable->key +
             (old_pod == nullptr ? "" : " " + old_pod->metadata.resource_version);
    case EventType::kSynced:
      return "synced";
  }
  return "";
}

}  // namespace berth::informers
