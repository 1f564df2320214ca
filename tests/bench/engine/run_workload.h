// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/bench/engine/workload.h"

namespace berth::bench {

// What one workload came to. Times are CPU times of the one thread, in seconds, of the measured
// pods alone.
struct Measurement {
  size_t nodes = 0;
  size_t there = 0;     // pods that had a node when the clock started
  size_t measured = 0;  // pods
  size_t bound = 0;     // of the measured ones
  double loop = 0;      // from each pod's message until the watch event of its bind is applied
  double thread = 0;    // of that, what the daemon's scheduling thread does
  double deciding = 0;  // of that, the decisions alone; `decisions` of them
  size_t decisions = 0;
  double p50 = 0;  // of a decision, in seconds
  double p99 = 0;
  double bytes_per_node = 0;  // on the heap, the API object included
  double bytes_per_pod = 0;   // of a measured pod, once bound
  // Of which measured pod has which node.
  uint64_t fingerprint = 0;
};

struct RunOptions {
  // Evaluate plainly: nothing that was found for one pod is used for the next. The slow twin.
  bool plain = false;
  // Measure only so many pods; 0: all.
  size_t limit = 0;
  // Told now and then.
  std::function<void(const std::string& what, size_t done, size_t of)> progress;
  // Record into this folder; "": nowhere.
  std::string record = {};
};

// Thread safety: one at a time.
Result<Measurement> RunWorkload(const Workload& workload, const Size& size,
                                const RunOptions& options);

// A workload and its peer, each in the best of a few rounds.
struct Pair {
  Measurement measured;
  Measurement peer;

  // What a pod costs, from its message to the applied watch event of its bind, in pods of the peer;
  // 0 where one of both bound none.
  double cost() const;
};

// Runs both in turn, so that what else the machine does meets both.
//
// Thread safety: one at a time.
Result<Pair> RunPair(const Workload& workload, const Workload& peer, const Size& size,
                     const RunOptions& options);

}  // namespace berth::bench
