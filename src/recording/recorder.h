// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/inbox.h"
#include "src/base/thread.h"
#include "src/recording/chunk.h"
#include "src/recording/file_sink.h"
#include "src/recording/frame_writer.h"
#include "src/recording/header.h"
#include "src/scheduler/options.h"
#include "src/scheduler/tape.h"

namespace berth::recording {

struct RecorderOptions {
  // What times are counted from.
  Time start;
  // Of the digests; see RecordedText.
  uint64_t key_a = 0;
  uint64_t key_b = 0;
  // Messages that may wait to be written. Beyond that the recording ends: the scheduler never
  // waits for it.
  size_t most_waiting = size_t{1} << 20;
};

// The tape that writes down what passes. The scheduling thread notes what is small and keeps a
// pointer to each object; a thread of the recorder's own ("berth-record") encodes, packs and
// writes, at the latest a second or so after it happened.
//
// A recording that cannot go on ends with a warning in the log, and the scheduler goes on without.
//
// Thread safety: the calls of the Tape on the scheduling thread; the rest by its owner, once that
// thread has ended.
class Recorder final : public scheduler::Tape {
 public:
  Recorder(const RecorderOptions& options, std::unique_ptr<ChunkSink> sink);
  // Finish()es.
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Writes what waits, and that the recording ends here.
  void Finish();
  // Of the frames, once finished: how many decisions they hold.
  uint64_t num_decisions() const { return num_decisions_; }

  void BeginTurn(Time now, Time wall_now) override;
  void Take(const scheduler::Message& message) override;
  void Decided(const scheduler::CycleOutcome& outcome) override;
  Time EndCycle(Time now) override;
  bool CancelPreBind(std::string_view uid, const std::function<bool()>& ask) override;
  // What an extender answered.
  template <typename Answer>
  void Answered(const Answer& answer) {
    if (recording_) frames_.Append(answer, batch_.frames);
  }

 private:
  // What holds objects is encoded by the other thread.
  using Late = std::variant<informers::InformerEvent, ClaimWritten>;
  struct Batch {
    Time at;
    std::string frames;
    // Each with the position in `frames` where it belongs; ascending.
    std::vector<std::pair<size_t, Late>> late;
    // Nothing follows, for this reason.
    std::string end{};
  };
  class Writer;

  void HandOver(Time now);
  void HandOverIfLong();
  void Push();

  FrameWriter frames_;
  const size_t most_waiting_;
  bool recording_ = true;
  Batch batch_;
  Time handed_over_;
  uint64_t num_decisions_ = 0;

  base::Inbox<Batch> inbox_;
  std::atomic<size_t> waiting_ = 0;
  std::atomic<bool> failed_ = false;
  bool finished_ = false;
  std::unique_ptr<Writer> writer_;  // of the thread
  base::NamedThread thread_;
};

// The header of a recording of a scheduler that is made with these options, from `start` on.
Header MakeHeader(const scheduler::SchedulerOptions& options, std::string_view berth_version,
                  std::string id, Time start);

// Starts a recording in the folder, of a scheduler that is to be made with `options`: sets its
// tape, and wraps its extenders. The recorder must outlive the scheduler. `random` is not the
// scheduler's seed, and is not written down. Errors: the files cannot be made.
Result<std::unique_ptr<Recorder>> Record(const std::string& folder, const FileLimits& limits,
                                         std::string_view berth_version, const Clock& clock,
                                         uint64_t random, scheduler::SchedulerOptions& options);

}  // namespace berth::recording
