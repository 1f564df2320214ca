// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "berth/time.h"
#include "src/base/executor.h"
#include "src/questions/desk.h"
#include "src/serving/departure.h"

namespace berth::app {

struct LiveReadLimits {
  size_t small_waiting = 256;
  size_t large_waiting = 8;
};

// The one road on which requests reach the scheduling thread: reads of its state wait in a bounded
// line, and that thread runs one at a time between two of its decisions. Together they have at most
// a fiftieth of its time: after one that took a while, 49 times that while passes before the next,
// but after a large one a small one waits 100 ms at most.
// A read whose client waits no longer leaves the line and never runs.
//
// Small reads, of one pod, go before large ones, of the whole state, and otherwise in the order in
// which they came.
//
// Thread safety: any thread. No read begins once this is destroyed; one may be under way.
class LiveReads {
 public:
  // Runs a task on the scheduling thread, later, and returns at once.
  using Post = std::function<void(std::function<void()>)>;

  // `executor` waits between two reads. It and `clock` outlive this, `post` what it refers to.
  LiveReads(Post post, base::Executor& executor, const Clock& clock, LiveReadLimits limits = {});
  ~LiveReads();
  LiveReads(const LiveReads&) = delete;
  LiveReads& operator=(const LiveReads&) = delete;

  // On the server's thread, for a request with that departure. False: too many wait, and `read`
  // will not run.
  [[nodiscard]] bool Ask(questions::Size size, serving::Departure& departure,
                         std::function<void()> read);

  // How many wait, that which is under way not among them; for tests.
  size_t num_waiting() const;

 private:
  struct Line;
  std::shared_ptr<Line> line_;
};

}  // namespace berth::app
