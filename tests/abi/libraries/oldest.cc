// SPDX-License-Identifier: Apache-2.0
// A plugin that was built against the oldest headers whose libraries are loaded.
#include "berth/loadable/plugin.hpp"

static_assert(BERTH_ABI_MAJOR == 0 && BERTH_ABI_MINOR == 3);

namespace {

// Rejects every node but the one that is called like the pod.
class Oldest final : public berth::FilterPlugin {
 public:
  Oldest(const berth::ConfigValue&, berth::Handle) {}

  berth::Status Filter(const berth::CycleState&, const berth::PodView& pod,
                       const berth::NodeView& node) const override {
    return node.name() == pod.name() ? berth::Status::Success()
                                     : berth::Status::Unschedulable("another name");
  }
};

}  // namespace

BERTH_PLUGINS("0.3", berth::Define<Oldest>("Oldest"))
