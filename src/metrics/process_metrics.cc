// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/process_metrics.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "src/base/file.h"

// jemalloc's, in programs that are linked with it; null in others.
extern "C" [[gnu::weak]] int mallctl(const char* name, void* old_value, size_t* old_size,
                                     void* new_value, size_t new_size);

namespace berth::metrics {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// When the machine was started, in seconds since the epoch; 0 if unknown.
double BootTime() {
  std::istringstream text(base::ReadFile("/proc/stat").value_or(""));
  for (std::string word; text >> word;) {
    double seconds = 0;
    if (word == "btime" && text >> seconds) return seconds;
  }
  return 0;
}

// What follows the command's name in /proc/self/stat; proc(5) numbers the first of them 3.
std::vector<double> StatFields() {
  const std::string stat = base::ReadFile("/proc/self/stat").value_or("");
  const size_t name_end = stat.rfind(')');
  std::vector<double> fields;
  if (name_end == std::string::npos) return fields;
  std::istringstream text(stat.substr(name_end + 1));
  std::string state;
  text >> state;
  fields.push_back(0);
  for (double value = 0; text >> value;) fields.push_back(value);
  return fields;
}

struct Traffic {
  double received = 0;
  double sent = 0;
};

// Of all interfaces that this network namespace has.
Traffic ReadTraffic() {
  std::istringstream text(base::ReadFile("/proc/self/net/dev").value_or(""));
  Traffic traffic;
  for (std::string line; std::getline(text, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream numbers(line.substr(colon + 1));
    // Eight columns of what came in, then those of what went out.
    std::vector<double> columns(std::istream_iterator<double>(numbers), {});
    if (columns.size() < 9) continue;
    traffic.received += columns[0];
    traffic.sent += columns[8];
  }
  return traffic;
}

double CountOpenFiles() {
  std::error_code failed;
  double count = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", failed), end; !failed && it != end;
       it.increment(failed)) {
    ++count;
  }
  return count;
}

double Limit(int resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 ? static_cast<double>(limit.rlim_cur) : 0;
}

struct Heap {
  double used = 0;
  double free = 0;
};

size_t ReadJemalloc(const char* name) {
  size_t value = 0;
  size_t size = sizeof value;
  return mallctl(name, &value, &size, nullptr, 0) == 0 ? value : 0;
}

Heap ReadHeap() {
  if (mallctl == nullptr) {
    const struct mallinfo2 heap = mallinfo2();
    return {static_cast<double>(heap.uordblks + heap.hblkhd), static_cast<double>(heap.fordblks)};
  }
  // jemalloc's statistics stand still until their epoch is moved on.
  uint64_t epoch = 1;
  mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch);
  const size_t used = ReadJemalloc("stats.allocated");
  const size_t resident = ReadJemalloc("stats.resident");
  return {static_cast<double>(used), static_cast<double>(resident - std::min(resident, used))};
}

}  // namespace

void ReadProcess(Registry& registry) {
  const auto set = [&registry](Metric metric, double value) {
    registry.Set(registry.Intern(metric), value);
  };
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    set(Metric::kProcessCpu, Seconds(usage.ru_utime) + Seconds(usage.ru_stime));
  }
  if (const std::vector<double> stat = StatFields(); stat.size() > 21) {
    const double started = BootTime() + stat[22 - 3] / static_cast<double>(sysconf(_SC_CLK_TCK));
    set(Metric::kProcessStartTime, started);
    set(Metric::kSlisProcessStartTime, started);
    set(Metric::kProcessVirtualMemory, stat[23 - 3]);
    set(Metric::kProcessResidentMemory, stat[24 - 3] * static_cast<double>(sysconf(_SC_PAGESIZE)));
  }
  set(Metric::kProcessOpenFds, CountOpenFiles());
  set(Metric::kProcessMaxFds, Limit(RLIMIT_NOFILE));
  set(Metric::kProcessVirtualMemoryMax, Limit(RLIMIT_AS));
  const Traffic traffic = ReadTraffic();
  set(Metric::kProcessNetworkReceive, traffic.received);
  set(Metric::kProcessNetworkTransmit, traffic.sent);

  const Heap heap = ReadHeap();
  registry.Set(registry.Intern(Metric::kHeapBytes, {"used"}), heap.used);
  registry.Set(registry.Intern(Metric::kHeapBytes, {"free"}), heap.free);
}

}  // namespace berth::metrics
