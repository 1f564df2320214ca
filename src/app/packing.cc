// SPDX-License-Identifier: Apache-2.0
#include "src/app/packing.h"

#include <cstdio>
#include <string>

#include "src/app/offline_cluster.h"
#include "src/app/offline_flags.h"
#include "src/base/logging.h"
#include "src/packing/figures.h"
#include "src/packing/survey.h"

namespace berth::app {

int Packing(const std::vector<std::string>& arguments, const std::string& program,
            const InTreePlugins& plugins) {
  const auto flags = ParseOfflineFlags(OfflineCommand::kPacking, arguments, program);
  if (!flags) return FailWith(flags.error().message);
  if (!flags->print_and_exit.empty()) {
    std::fputs(flags->print_and_exit.c_str(), stdout);
    return kDone;
  }
  base::SetUpLogging(flags->run.log);
  auto made = MakeSimulation(*flags, plugins, {});
  if (!made) return FailWith(made.error().message);
  simulator::Simulation& simulation = *made->simulation;
  if (auto filled = FillSimulation(*flags, simulation); !filled) {
    return FailWith(filled.error().message);
  }
  // Takes the objects in; nothing is decided, since the simulation is not started.
  simulation.RunDue();
  packing::Survey survey;
  while (survey.Step(simulation.scheduler().cache(), simulation.scheduler().pending_pods())) {
  }
  const packing::Figures figures = survey.Take();
  std::string text;
  if (flags->output == OutputFormat::kJson) {
    packing::AppendJson(figures, text);
  } else {
    packing::AppendTable(figures, text);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  base::FlushLogs();
  return kDone;
}

}  // namespace berth::app
