// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "plugins/in_tree_registry.h"
#include "src/framework/profile.h"
#include "tests/support/default_plugins.h"

namespace berth::test {

// The default profile, whose plugins are given the handle, which must outlive it.
inline std::unique_ptr<framework::Profile> DefaultProfile(Handle& handle) {
  config::Profile config;
  config.scheduler_name = "default-scheduler";
  config.plugins.multi_point.enabled = DefaultPlugins();
  auto made = framework::Profile::Make(config, plugins::InTreeRegistry(), handle);
  EXPECT_TRUE(made.has_value());
  return std::move(*made);
}

}  // namespace berth::test
