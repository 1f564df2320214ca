// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "src/app/commands/commands.h"
#include "src/app/commands/offline_cluster.h"
#include "src/app/commands/output.h"
#include "src/app/flags/offline_flags.h"
#include "src/base/logging.h"
#include "src/simulator/cluster_files.h"

namespace berth::app {

int Dump(const std::vector<std::string>& arguments, const std::string& program,
         const InTreePlugins& plugins) {
  const auto flags = BeginOffline(OfflineCommand::kDump, arguments, program);
  if (!flags) return flags.error();
  auto made = MakeSimulation(*flags, plugins, {});
  if (!made) return FailWith(made.error().message);
  auto beside = FillSimulation(*flags, *made->simulation);
  if (!beside) return FailWith(beside.error().message);
  if (flags->live()) *beside = {LiveAdmission(*flags), LiveIdleWorkloads(*flags), {}};
  std::string text = simulator::DumpOf(made->simulation->api(), beside->admission, beside->idle);
  if (flags->output == OutputFormat::kYaml) {
    std::erase(text, '\n');  // an object a line
    PrintDocuments(text, flags->output);
  } else {
    WriteOut(text);
  }
  base::FlushLogs();
  return kDone;
}

}  // namespace berth::app
