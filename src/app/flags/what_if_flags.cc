// SPDX-License-Identifier: Apache-2.0
#include "src/app/flags/what_if_flags.h"

#include <algorithm>
#include <utility>

#include "src/questions/what_if.h"
#include "src/simulator/workload.h"

namespace berth::app {
namespace {

void AddTexts(FlagSet& flags, const std::string& name, const std::string& form,
              const std::string& help, std::vector<std::string>& out) {
  flags.Add(name, form, help, [&out](const std::string& value) -> Result<void> {
    if (value.empty()) return Fail("must not be empty");
    out.push_back(value);
    return {};
  });
}

// Names of nodes, which have no commas; one that stands twice counts once.
void AddNames(FlagSet& flags, const std::string& name, const std::string& form,
              const std::string& help, std::vector<std::string>& out) {
  flags.Add(name, form, help, [&out](const std::string& value) -> Result<void> {
    for (size_t begin = 0; begin <= value.size();) {
      const size_t end = std::min(value.find(',', begin), value.size());
      std::string node(simulator::NodeNameIn(std::string_view(value).substr(begin, end - begin)));
      if (node.empty()) return Fail("must not be empty");
      if (std::ranges::find(out, node) == out.end()) out.push_back(std::move(node));
      begin = end + 1;
    }
    return {};
  });
}

}  // namespace

bool WhatIfFlags::any() const {
  return !new_config.empty() || !add.empty() || add_nodes > 0 || !remove_nodes.empty() ||
         !scale.empty() || !cordon.empty() || !drain.empty() || reschedule || !fill.empty();
}

void AddWhatIf(FlagSet& flags, WhatIfFlags& out) {
  flags.Group("What-if flags: the answer is what differs from today");
  flags.AddText("new-config", "FILE", "With this configuration in the place of --config.",
                out.new_config);
  AddTexts(
      flags, "add", "FILE",
      "With the objects of this file or folder, or of the standard input (-); may be repeated.",
      out.add);
  flags.Value("add-nodes", "With so many more nodes of the shape that --like names.",
              out.add_nodes);
  flags.Add("like", "NODE", "The node that those of --add-nodes are like.",
            [&out](const std::string& value) -> Result<void> {
              out.like = simulator::NodeNameIn(value);
              return {};
            });
  AddNames(flags, "remove-node", "NODE,...", "Without these nodes; may be repeated.",
           out.remove_nodes);
  AddNames(flags, "cordon", "NODE,...",
           "With these nodes cordoned before anything else: their pods stay, and others go "
           "elsewhere; may be repeated.",
           out.cordon);
  flags.Add("scale", "[NAMESPACE/]KIND/NAME=N",
            "With so many pods of this controller, such as deploy/web=5; may be repeated.",
            [&out](const std::string& value) -> Result<void> {
              auto scale = questions::Scale::Parse(value);
              if (!scale) return Fail(scale.error());
              out.scale.push_back(*std::move(scale));
              return {};
            });
  AddNames(flags, "drain", "NODE,...",
           "After drains of these nodes, one after the other; may be repeated. The exit code is 1 "
           "when a pod stays or fits nowhere.",
           out.drain);
  flags.Value(
      "reschedule",
      "With all pods that controllers make again scheduled from nothing; with --new-config, "
      "by both configurations.",
      out.reschedule);
  flags.AddText("fill", "FILE", "How many more pods like the one in this file fit.", out.fill);
}

Result<void> CheckWhatIf(const WhatIfFlags& flags) {
  if (flags.add_nodes > 0 && flags.like.empty())
    return Fail("--add-nodes: like which? Name a node with --like");
  if (flags.add_nodes == 0 && !flags.like.empty()) return Fail("--like goes with --add-nodes");
  if (flags.add_nodes > questions::kMostNewNodes) {
    return Fail("--add-nodes: at most " + std::to_string(questions::kMostNewNodes));
  }
  return {};
}

}  // namespace berth::app
