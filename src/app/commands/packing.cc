// SPDX-License-Identifier: Apache-2.0

#include "src/app/commands/commands.h"
#include "src/app/commands/offline_cluster.h"
#include "src/app/flags/offline_flags.h"
#include "src/base/logging.h"
#include "src/packing/figures.h"
#include "src/packing/survey.h"

namespace berth::app {

int Packing(const std::vector<std::string>& arguments, const std::string& program,
            const InTreePlugins& plugins) {
  const auto flags = BeginOffline(OfflineCommand::kPacking, arguments, program);
  if (!flags) return flags.error();
  auto picture = MakePicture(*flags, plugins);
  if (!picture) return FailWith(picture.error().message);
  simulator::Simulation& simulation = *picture->simulation;
  const packing::Figures figures = packing::Measure(
      simulation.scheduler().cache(), simulation.scheduler().pending_pods(), flags->namespace_);
  std::string text;
  IsDocument(flags->output) ? packing::AppendJson(figures, text)
                            : packing::AppendTable(figures, text);
  Print(text, flags->output);
  base::FlushLogs();
  return kDone;
}

}  // namespace berth::app
