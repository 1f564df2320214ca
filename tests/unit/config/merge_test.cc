// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "src/config/extension_points.h"
#include "src/config/load.h"

namespace berth::config {
namespace {

using testing::ElementsAre;

const PluginSet kDefaults{{{"A", 3}, {"B", 0}, {"C", 2}}, {}};

TEST(MergePluginSetTest, LaysTheCustomSetOverTheDefaults) {
  const struct {
    const char* name;
    PluginSet defaults;
    PluginSet custom;
    PluginSet want;
  } cases[] = {
      {"nothing custom keeps the defaults", kDefaults, {}, kDefaults},
      {"no defaults keep the custom set", {}, kDefaults, kDefaults},
      {"a new plugin is appended",
       kDefaults,
       {{{"D", 4}}, {}},
       {{{"A", 3}, {"B", 0}, {"C", 2}, {"D", 4}}, {}}},
      {"new plugins keep their order",
       kDefaults,
       {{{"E", 0}, {"D", 0}}, {}},
       {{{"A", 3}, {"B", 0}, {"C", 2}, {"E", 0}, {"D", 0}}, {}}},
      {"a disabled default goes", kDefaults, {{}, {{"B", 0}}}, {{{"A", 3}, {"C", 2}}, {{"B", 0}}}},
      {"a disabled plugin that is no default is kept in the list",
       kDefaults,
       {{}, {{"X", 0}}},
       {{{"A", 3}, {"B", 0}, {"C", 2}}, {{"X", 0}}}},
      {"the weight of a disabled plugin is dropped",
       kDefaults,
       {{}, {{"B", 7}}},
       {{{"A", 3}, {"C", 2}}, {{"B", 0}}}},
      {"a star drops all defaults", kDefaults, {{{"D", 1}}, {{"*", 0}}}, {{{"D", 1}}, {{"*", 0}}}},
      {"a star with a default enabled keeps that one",
       kDefaults,
       {{{"C", 0}}, {{"*", 0}}},
       {{{"C", 0}}, {{"*", 0}}}},
      {"a default enabled again keeps its place and takes the new weight",
       kDefaults,
       {{{"A", 9}}, {}},
       {{{"A", 9}, {"B", 0}, {"C", 2}}, {}}},
      {"an omitted weight is not the default's",
       kDefaults,
       {{{"A", 0}}, {}},
       {{{"A", 0}, {"B", 0}, {"C", 2}}, {}}},
      {"replaced defaults keep the defaults' order",
       kDefaults,
       {{{"C", 1}, {"A", 1}}, {}},
       {{{"A", 1}, {"B", 0}, {"C", 1}}, {}}},
      {"enabled and disabled means enabled, at the end",
       kDefaults,
       {{{"A", 5}}, {{"A", 0}}},
       {{{"B", 0}, {"C", 2}, {"A", 5}}, {{"A", 0}}}},
      {"a repeated new plugin stays repeated",
       kDefaults,
       {{{"D", 1}, {"D", 2}}, {}},
       {{{"A", 3}, {"B", 0}, {"C", 2}, {"D", 1}, {"D", 2}}, {}}},
      {"of a repeated default the last replaces it",
       kDefaults,
       {{{"B", 1}, {"B", 2}}, {}},
       {{{"A", 3}, {"B", 2}, {"C", 2}, {"B", 1}}, {}}},
      {"disabled names are the custom ones, then the default ones",
       {{{"A", 0}}, {{"Y", 0}}},
       {{}, {{"X", 0}}},
       {{{"A", 0}}, {{"X", 0}, {"Y", 0}}}},
      {"a star among the default disabled counts too",
       {{{"A", 0}}, {{"*", 0}}},
       {{{"B", 0}}, {}},
       {{{"B", 0}}, {{"*", 0}}}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const PluginSet got = MergePluginSet(c.defaults, c.custom);
    EXPECT_EQ(got, c.want);
  }
}

TEST(MergePluginsTest, MergesEachExtensionPointByItself) {
  for (const ExtensionPoint& point : kExtensionPoints) {
    SCOPED_TRACE(point.field);
    Plugins defaults;
    (defaults.*point.set).enabled = {{"A", 1}};
    Plugins custom;
    (custom.*point.set).enabled = {{"B", 2}};
    Plugins want;
    (want.*point.set).enabled = {{"A", 1}, {"B", 2}};
    EXPECT_EQ(MergePlugins(defaults, custom), want);
  }
}

TEST(MergePluginsTest, DisablingAtOnePointLeavesMultiPointAlone) {
  Plugins defaults;
  defaults.multi_point = kDefaults;
  Plugins custom;
  custom.score.disabled = {{"A", 0}};
  const Plugins merged = MergePlugins(defaults, custom);
  EXPECT_EQ(merged.multi_point, kDefaults);
  EXPECT_THAT(merged.score.disabled, ElementsAre(PluginRef{"A", 0}));
}

}  // namespace
}  // namespace berth::config
