// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "berth/result.h"
#include "src/api/decode.h"
#include "src/informers/informer_event.h"

namespace berth::informers {

// What keeps its JSON beside what was decoded (api::SourceText), without metadata.managedFields.
struct KeptText {
  bool nodes = false;
  bool pending_pods = false;  // those without a node
  bool placed_pods = false;

  bool any(Kind kind) const {
    return kind == Kind::kNode ? nodes : kind == Kind::kPod && (pending_pods || placed_pods);
  }
};

// What has to be known about a kind to list and watch it.
struct KindInfo {
  Kind kind = Kind::kPod;
  std::string_view resource;        // "pods", for logs and metrics; with the group if `custom`
  std::string_view path;            // "/api/v1/pods"
  std::string_view field_selector;  // "" for all objects
  // Of `path`: "" and "v1" for the core group.
  std::string_view group() const;
  std::string_view version() const;
  // Reads what can be read, as api::ReadObject().
  Result<api::ObjectPtr> (*decode)(api::Encoding encoding, std::string_view bytes,
                                   const KeptText& kept) = nullptr;
  // Counts as empty while the API server forbids to list it; of other kinds the right is waited
  // for.
  bool optional = false;
  // Whether it is watched with these feature gates and plugins; nullptr: always, or as
  // Features::plugin_kinds says.
  bool (*watched)(const Features& features) = nullptr;
  // A custom resource, which the API server has in JSON alone.
  bool custom = false;
};

const KindInfo& InfoOf(Kind kind);

// What stands for a version of an object that is damaged (metadata.damage), where something better
// does than the whole version before it: none where nothing does. `before` may be none. A placed
// pod stands for itself as long as what it takes of its node is whole. A claim always does, for
// the devices that it holds; where these cannot be read it holds those that it held before.
api::ObjectPtr StandIn(const api::ObjectPtr& damaged, const api::ObjectPtr& before);

}  // namespace berth::informers
