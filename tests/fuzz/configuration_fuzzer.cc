// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "berth/check.h"
#include "src/app/daemon/in_tree_plugins.h"
#include "src/config/load.h"
#include "src/config/write.h"
#include "src/simulator/simulation.h"

namespace {

struct Known {
  berth::app::InTreePlugins plugins = berth::app::FindInTreePlugins();
  berth::config::FeatureGates gates;
  berth::config::KnownPlugins known = berth::app::KnownTo(plugins, gates);
};

}  // namespace

// No configuration may crash its reader or the plugins that get their args from it, and what was
// read can be written and read again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace berth;
  static const auto* const in_tree = new Known;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = config::Load(text, "fuzz.yaml", in_tree->known);
  if (!read) {
    BERTH_CHECK(read.error().message.starts_with("fuzz.yaml"), "an error without its file");
    return 0;
  }
  const auto again = config::Load(config::ToYaml(*read), "again.yaml", in_tree->known);
  BERTH_CHECK(again.has_value(), "what was written cannot be read");
  BERTH_CHECK(config::ToYaml(*again) == config::ToYaml(*read), "what was written reads otherwise");
  simulator::SimulationOptions options;
  options.scheduler.configuration = *read;
  options.scheduler.features = in_tree->gates.Resolve();
  (void)simulator::Simulation::Make(options, in_tree->plugins.registry);
  return 0;
}
