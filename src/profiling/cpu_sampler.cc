// SPDX-License-Identifier: Apache-2.0
#include "src/profiling/cpu_sampler.h"

#include <sys/time.h>
#include <ucontext.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "src/profiling/profile.h"

namespace berth::profiling {
namespace {

constexpr size_t kMostDepth = 64;
constexpr uint32_t kMostSamples = 1u << 15;

struct Sample {
  std::atomic<uint32_t> depth;  // 0: not written
  std::array<uintptr_t, kMostDepth> frames;
};

// Written by the signal's handler, which may still run on some thread when sampling has ended:
// never freed. Zeroed pages of it take memory once they are written.
std::atomic<Sample*> samples = nullptr;
std::atomic<uint32_t> num_samples = 0;
std::atomic<bool> taken = false;  // by a sampler
std::atomic<bool> active = false;

struct Walk {
  uintptr_t interrupted;
  Sample* sample;
  uint32_t depth;
};

// The frames of the handler stand before that of the interrupted function.
_Unwind_Reason_Code AddFrame(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  const uintptr_t address = _Unwind_GetIP(context);
  if (walk.depth == 0 && address != walk.interrupted) return _URC_NO_REASON;
  if (address == 0 || walk.depth == kMostDepth) return _URC_END_OF_STACK;
  walk.sample->frames[walk.depth++] = address;
  return _URC_NO_REASON;
}

uintptr_t InterruptedAt(const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine.pc;
#else
#error "which register is the program counter?"
#endif
}

// Takes no lock and no memory: since glibc 2.35 the unwinder finds tables without one.
void TakeSample(int /*number*/, siginfo_t* /*info*/, void* context) {
  if (!active.load(std::memory_order_relaxed)) return;
  const int error = errno;
  const uint32_t index = num_samples.fetch_add(1, std::memory_order_relaxed);
  if (index < kMostSamples) {
    Sample& sample = samples.load(std::memory_order_relaxed)[index];
    Walk walk{.interrupted = InterruptedAt(context), .sample = &sample, .depth = 0};
    _Unwind_Backtrace(&AddFrame, &walk);
    if (walk.depth == 0) sample.frames[walk.depth++] = walk.interrupted;
    sample.depth.store(walk.depth, std::memory_order_release);
  }
  errno = error;
}

// Those that are there; leaves none. One that a thread still writes is left out.
std::vector<Stack> TakeSamples() {
  std::vector<Stack> stacks;
  const uint32_t count = std::min(num_samples.exchange(0), kMostSamples);
  Sample* const begin = samples;
  for (Sample* sample = begin; sample != begin + count; ++sample) {
    const uint32_t depth = sample->depth.exchange(0, std::memory_order_acquire);
    if (depth > 0) stacks.emplace_back(sample->frames.begin(), sample->frames.begin() + depth);
  }
  return stacks;
}

bool SetTimer(Duration period) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(period).count();
  itimerval timer{};
  timer.it_interval.tv_usec = timer.it_value.tv_usec = static_cast<suseconds_t>(micros);
  return setitimer(ITIMER_PROF, &timer, nullptr) == 0;
}

// The first walk reads tables, which a signal's handler should not be the first to do.
void WarmUp() {
  Sample sample{};
  Walk walk{.interrupted = 0, .sample = &sample, .depth = kMostDepth};
  _Unwind_Backtrace(&AddFrame, &walk);
}

}  // namespace

CpuSampler::CpuSampler(const Clock& clock)
    : clock_(clock), start_(clock.WallNow()), began_(clock.Now()) {}

Result<std::unique_ptr<CpuSampler>> CpuSampler::Start(const Clock& clock) {
  if (taken.exchange(true)) return Fail("cpu profiling already in use");
  std::unique_ptr<CpuSampler> sampler(new CpuSampler(clock));
  if (samples.load() == nullptr) {
    samples = static_cast<Sample*>(std::calloc(kMostSamples, sizeof(Sample)));
    if (samples.load() == nullptr) return Fail("no memory for samples");
    WarmUp();
    struct sigaction action{};
    action.sa_sigaction = &TakeSample;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGPROF, &action, nullptr) != 0) return Fail(std::strerror(errno));
  }
  active = true;
  if (!SetTimer(kPeriod)) return Fail(std::strerror(errno));
  return sampler;
}

CpuSampler::~CpuSampler() {
  Stop();
  (void)TakeSamples();
  taken = false;
}

void CpuSampler::Stop() {
  if (!samples_) return;
  samples_ = false;
  (void)SetTimer(Duration::zero());
  active = false;
  lasted_ = clock_.Now() - began_;
}

std::string CpuSampler::Finish() {
  Stop();
  Profile profile({{"samples", "count"}, {"cpu", "nanoseconds"}}, kPeriod.count());
  profile.SetTime(start_, lasted_);
  for (const Stack& stack : TakeSamples()) profile.Add(stack, {1, kPeriod.count()});
  return profile.Serialize();
}

}  // namespace berth::profiling
