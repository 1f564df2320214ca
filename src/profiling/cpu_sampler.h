// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "berth/result.h"
#include "berth/time.h"

namespace berth::profiling {

// Notes where the process's threads spend CPU time: a timer of that time (ITIMER_PROF) interrupts
// one that runs, every 10 ms, and the signal's handler keeps its call stack, at most 64 calls deep.
// At most 32,768 samples are kept, which is 5 minutes of one core; later ones are left out. Nothing
// is sampled while there is none of these.
//
// Thread safety: one at a time in a process; any thread may own it.
class CpuSampler {
 public:
  static constexpr Duration kPeriod = std::chrono::milliseconds(10);

  // Begins. Errors: another samples; the system refuses the timer.
  static Result<std::unique_ptr<CpuSampler>> Start(const Clock& clock);
  // Ends it.
  ~CpuSampler();
  CpuSampler(const CpuSampler&) = delete;
  CpuSampler& operator=(const CpuSampler&) = delete;

  // Ends it and returns what was sampled, as pprof reads it: the sample types are samples/count and
  // cpu/nanoseconds. Reads the symbols of this program, which takes some 100 ms.
  std::string Finish();

 private:
  explicit CpuSampler(const Clock& clock);
  void Stop();

  const Clock& clock_;
  Time start_;  // wall clock
  Time began_;  // Clock::Now()
  Duration lasted_{};
  bool samples_ = true;
};

}  // namespace berth::profiling
