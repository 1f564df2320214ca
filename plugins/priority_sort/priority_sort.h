// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/handle.h"
#include "berth/plugin.h"

namespace berth::plugins {

// Orders the queue: the higher priority first, among equals the one that waits longer.
//
// Thread safety: stateless.
class PrioritySort final : public QueueSortPlugin {
 public:
  static constexpr std::string_view kName = "PrioritySort";

  static Result<std::unique_ptr<Plugin>> Make(const ConfigValue& args, Handle& handle);

  std::string_view Name() const override { return kName; }
  // Filters and scores nothing.
  Inputs DeclaredInputs() const override { return Inputs::Of(0, {}); }
  bool Less(const QueueSortKey& a, const QueueSortKey& b) const override;
};

}  // namespace berth::plugins
