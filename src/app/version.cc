// SPDX-License-Identifier: Apache-2.0
#include "src/app/version.h"

#include "src/app/commands/output.h"
#include "src/app/flags/flag_set.h"
#include "src/app/flags/offline_flags.h"
#include "src/documents/write.h"

namespace berth::app {

constinit const std::string_view kVersion = "v" BERTH_VERSION;

ConfigValue VersionDocument() {
  const auto text = [](std::string_view value) { return ConfigValue(std::string(value)); };
  return ConfigValue(ConfigValue::Map{{"major", text("1")},
                                      {"minor", text(std::to_string(kKubernetesMinor))},
                                      {"gitVersion", text(kKubernetesVersion)},
                                      {"berthVersion", text(kVersion)}});
}

int ShowVersion(const std::vector<std::string>& arguments, const std::string& program) {
  FlagSet flags(program,
                "Prints Berth's version, and that of the kube-scheduler whose contract it keeps.",
                FlagSet::Words::kOwn);
  std::string output;
  bool help = false;
  flags.Group("Flags");
  flags.Add("output", "json|yaml", "Form of the output; two lines of text when left out.",
            [&output](const std::string& value) -> Result<void> {
              if (value != "json" && value != "yaml") return Fail("must be json or yaml");
              output = value;
              return {};
            });
  flags.Value("help", "Print this text.", help);
  const auto others = flags.Parse(arguments);
  if (!others) return FailWith(others.error().message);
  if (!help && !others->empty()) return FailWith("unexpected argument \"" + others->front() + "\"");
  std::string text = "Berth Version: " + std::string(kVersion) +
                     "\nKubernetes Version: " + std::string(kKubernetesVersion) + "\n";
  if (output == "json") text = VersionDocument().ToJson() + "\n";
  if (output == "yaml") text = documents::ToYaml(VersionDocument());
  if (help) text = flags.Usage();
  WriteOut(text);
  return kDone;
}

}  // namespace berth::app
