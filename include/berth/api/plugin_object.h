// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "berth/api/meta.h"

namespace berth::api {

// A kind of the API that a plugin of a library asks for. Berth reads no more of its objects than
// their metadata.
struct PluginKind {
  std::string group;     // "example.com"
  std::string version;   // "v1"
  std::string resource;  // "maintenancewindows"
  std::string kind;      // "MaintenanceWindow"
  bool namespaced = false;

  std::string ApiVersion() const { return group + "/" + version; }
  friend bool operator==(const PluginKind&, const PluginKind&) = default;
};

// Which of the kinds in berth::PluginKinds() it is.
using PluginKindId = uint8_t;
// In a process.
inline constexpr size_t kMostPluginKinds = 64;

// An object of such a kind.
struct PluginObject {
  ObjectMeta metadata;
  PluginKindId kind = 0;
  // As the API server sent it, without blanks, metadata.managedFields and what kubectl applied
  // last. What `metadata` has and the text lacks was filled in: of a file's object the namespace
  // and the uid.
  std::shared_ptr<const std::string> json;

  friend bool operator==(const PluginObject& a, const PluginObject& b) {
    return a.kind == b.kind && a.metadata == b.metadata && *a.json == *b.json;
  }
};

}  // namespace berth::api
