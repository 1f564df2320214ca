// SPDX-License-Identifier: Apache-2.0
#include "src/recording/setup.h"

#include <utility>

#include "berth/plugin_kinds.h"
#include "berth/random.h"
#include "src/config/write.h"
#include "src/recording/recorded_extender.h"

namespace berth::recording {

Header MakeHeader(const scheduler::SchedulerOptions& options, std::string_view berth_version,
                  std::string id, Time start) {
  Header header;
  header.berth_version = berth_version;
  header.id = std::move(id);
  header.start = start;
  header.seed = options.seed;
  header.leading = options.leading;
  header.asks_extenders = !options.extenders.empty();
  header.pod_max_in_unschedulable_pods_duration = options.pod_max_in_unschedulable_pods_duration;
  header.max_kept_bytes = options.max_kept_bytes;
  header.features = options.features;
  for (size_t i = 0; i < PluginKinds().size(); ++i) {
    header.plugin_kinds.push_back(PluginKinds()[static_cast<api::PluginKindId>(i)]);
  }
  header.configuration = config::ToYaml(config::WithoutSecrets(options.configuration));
  return header;
}

Result<std::unique_ptr<Recorder>> Record(const std::string& folder, const FileLimits& limits,
                                         std::string_view berth_version, const Clock& clock,
                                         uint64_t random, scheduler::SchedulerOptions& options) {
  Random draws(random);
  RecorderOptions recorder_options;
  recorder_options.start = clock.Now();
  recorder_options.key_a = draws.Next();
  recorder_options.key_b = draws.Next();
  auto sink =
      FileSink::Make(folder,
                     MakeHeader(options, berth_version, MakeId(clock.WallNow(), draws.Next()),
                                recorder_options.start),
                     limits);
  if (!sink) return Fail(sink.error());
  auto recorder = std::make_unique<Recorder>(recorder_options, std::move(*sink));
  options.tape = recorder.get();
  options.start = recorder_options.start;
  for (auto& extender : options.extenders) {
    extender = std::make_shared<RecordedExtender>(std::move(extender), *recorder);
  }
  return recorder;
}

}  // namespace berth::recording
