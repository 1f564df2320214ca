// SPDX-License-Identifier: Apache-2.0
#include "src/recording/recorder.h"

#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>

#include "berth/plugin_kinds.h"
#include "berth/random.h"
#include "src/base/logging.h"
#include "src/config/write.h"
#include "src/recording/recorded_extender.h"
#include "src/recording/recorded_text.h"

namespace berth::recording {
namespace {

// What a batch holds before it is handed over, and how long it may wait: a thread that is woken
// seldom costs the scheduling thread little.
constexpr size_t kBatchMessages = 1024;
constexpr size_t kBatchBytes = 64 * 1024;
constexpr Duration kBatchAge = std::chrono::milliseconds(50);
// What a chunk holds before it is written, and how long that may take.
constexpr size_t kChunkBytes = 256 * 1024;
constexpr Duration kChunkAge = std::chrono::seconds(1);

}  // namespace

// Lives on the thread of its own.
class Recorder::Writer {
 public:
  Writer(const RecorderOptions& options, std::unique_ptr<ChunkSink> sink)
      : frames_(options.start),
        flushed_(options.start),
        text_(options.key_a, options.key_b),
        sink_(std::move(sink)) {}

  // False: nothing may follow.
  bool Add(const Batch& batch) {
    size_t at = 0;
    for (const auto& [position, late] : batch.late) {
      chunk_.append(batch.frames, at, position - at);
      at = position;
      if (const auto* event = std::get_if<informers::InformerEvent>(&late)) {
        frames_.Append(*event, known_, &text_, chunk_);
      } else {
        frames_.Append(std::get<ClaimWritten>(late), &text_, chunk_);
      }
      if (chunk_.size() >= kChunkBytes && !Flush()) return false;
    }
    chunk_.append(batch.frames, at);
    const bool due = chunk_.size() >= kChunkBytes || batch.at - flushed_ >= kChunkAge;
    if (due && !Flush()) return false;
    if (due) flushed_ = batch.at;
    if (batch.end.empty()) return true;
    End(batch.end);
    return false;
  }

 private:
  // False: it could not be written.
  bool Flush() {
    if (chunk_.empty()) return true;
    const auto written = sink_->Write(chunk_);
    chunk_.clear();
    if (written) return true;
    base::LogWarning("The recording ends here; scheduling goes on without it",
                     {{"err", written.error().message}});
    frames_.Append(Ended{written.error().message}, chunk_);
    (void)sink_->WriteLast(chunk_);
    chunk_.clear();
    return false;
  }
  void End(const std::string& reason) {
    if (!Flush()) return;
    frames_.Append(Ended{reason}, chunk_);
    (void)sink_->WriteLast(chunk_);
    chunk_.clear();
  }

  FrameWriter frames_;
  Time flushed_;
  RecordedText text_;
  KnownObjects known_;
  const std::unique_ptr<ChunkSink> sink_;
  std::string chunk_;
};

Recorder::Recorder(const RecorderOptions& options, std::unique_ptr<ChunkSink> sink)
    : frames_(options.start),
      most_waiting_(options.most_waiting),
      handed_over_(options.start),
      writer_(std::make_unique<Writer>(options, std::move(sink))),
      thread_("berth-record", [this] {
        std::vector<Batch> batches;
        bool open = true;
        while (open) {
          inbox_.Drain(batches, std::nullopt);
          for (const Batch& batch : batches) {
            if (open) open = writer_->Add(batch);
            waiting_.fetch_sub(batch.late.size(), std::memory_order_relaxed);
          }
        }
        failed_.store(true, std::memory_order_relaxed);
      }) {}

Recorder::~Recorder() { Finish(); }

void Recorder::Finish() {
  if (std::exchange(finished_, true)) return;
  batch_.end = kStopped;
  inbox_.Push(std::move(batch_));
  thread_.Join();
}

void Recorder::BeginTurn(Time now, Time wall_now) {
  if (!recording_) return;
  if (now - handed_over_ >= kBatchAge) HandOver(now);
  frames_.Append(TurnBegan{now, wall_now - now}, batch_.frames);
}

void Recorder::Take(const scheduler::Message& message) {
  if (!recording_) return;
  std::visit(
      [this]<typename T>(const T& taken) {
        if constexpr (std::is_same_v<T, informers::InformerEvent> ||
                      std::is_same_v<T, ClaimWritten>) {
          batch_.late.emplace_back(batch_.frames.size(), taken);
        } else if constexpr (std::is_same_v<T, binding::BindOutcome>) {
          frames_.Append(
              BindEnded{taken.pod_uid, taken.node_name, taken.status, taken.stage, taken.unknown},
              batch_.frames);
        } else if constexpr (std::is_same_v<T, scheduler::ReloadRequested>) {
          frames_.Append(Reloaded{config::ToYaml(config::WithoutSecrets(*taken.next))},
                         batch_.frames);
        } else if constexpr (!std::is_same_v<T, scheduler::Query>) {
          frames_.Append(taken, batch_.frames);
        }
      },
      message);
  HandOverIfLong();
}

void Recorder::Decided(const scheduler::CycleOutcome& outcome) {
  if (!recording_) return;
  ++num_decisions_;
  frames_.AppendDecision(outcome.pod.metadata.uid, outcome.code, outcome.node_name, outcome.message,
                         batch_.frames);
}

Time Recorder::EndCycle(Time now) {
  if (!recording_) return now;
  frames_.Append(CycleEnded{now}, batch_.frames);
  if (now - handed_over_ >= kBatchAge) {
    HandOver(now);
  } else {
    HandOverIfLong();
  }
  return now;
}

bool Recorder::CancelPreBind(std::string_view /*uid*/, const std::function<bool()>& ask) {
  const bool cancelled = ask();
  if (recording_) frames_.Append(PreBindCancelled{cancelled}, batch_.frames);
  return cancelled;
}

void Recorder::HandOver(Time now) {
  handed_over_ = now;
  if (batch_.frames.empty() && batch_.late.empty()) return;
  Push();
}

void Recorder::HandOverIfLong() {
  if (batch_.late.size() >= kBatchMessages || batch_.frames.size() >= kBatchBytes) Push();
}

void Recorder::Push() {
  const size_t count = batch_.late.size();
  if (waiting_.fetch_add(count, std::memory_order_relaxed) + count > most_waiting_) {
    batch_.end = "the writer fell behind";
    base::LogWarning("The recording ends here: its writer fell behind");
    recording_ = false;
  }
  if (failed_.load(std::memory_order_relaxed)) recording_ = false;
  batch_.at = handed_over_;
  inbox_.Push(std::exchange(batch_, Batch()));
}

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
