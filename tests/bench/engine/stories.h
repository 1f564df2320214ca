// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

// What the engine benchmark runs: the scheduler of the daemon over an API server in memory, on one
// thread.
namespace berth::bench {

// One line of the report.
struct Figure {
  std::string workload;
  std::string what;
  double value = 0;
  std::string unit;
};

struct Sizes {
  size_t nodes = 0;
  size_t pods = 0;    // that are there from the start
  size_t arrive = 0;  // and that come
};

// Nodes full of unimportant pods; important ones come one after the other, evict and are bound.
std::vector<Figure> Preemption(const Sizes& sizes);

// Pods that fit, with and without a crowd of ten times as many that cannot fit among them: how long
// each waits for its decision. The scheduler's own time counts, and 5 ms for each way between it
// and the API server; the API in memory costs nothing.
std::vector<Figure> Starvation(const Sizes& sizes);

}  // namespace berth::bench
