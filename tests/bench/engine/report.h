// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "tests/bench/engine/run_workload.h"

namespace berth::bench {

// What a workload costs beside its peer.
struct ReportedPair {
  Peer peer;
  Pair pair;
};

// One workload in one size, as measured, and as the slow twin did on `twin->measured` of its pods.
struct ReportedRun {
  std::string workload;
  std::string size;
  size_t threshold = 0;
  Measurement measurement;
  std::optional<Measurement> twin;
  bool alike = true;  // the twin placed pods in the same way
  std::optional<ReportedPair> pair;
};

std::string TableHead();
std::string TableLine(const ReportedRun& run);
// What the columns mean.
std::string TableFoot();

// {"date":...,"machine":...,"kind":"engine"}
std::string JsonHead();
std::string JsonLine(const ReportedRun& run);

}  // namespace berth::bench
