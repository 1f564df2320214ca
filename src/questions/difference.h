// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/questions/node_changes.h"
#include "src/questions/replicas.h"
#include "src/simulator/simulation.h"

namespace berth::questions {

// Where the pods of a settled simulation are, and how full its nodes.
struct Picture {
  struct Pod {
    std::string node;     // "": none
    std::string message;  // why
  };
  struct Usage {
    int64_t allocatable = 0;
    int64_t requested = 0;
    int64_t stranded = 0;  // free, and of no use to any pod: docs/packing.md
  };

  std::map<std::string, Pod> pods;  // by namespace/name
  size_t nodes = 0;
  size_t used_nodes = 0;   // with a pod that is no DaemonSet's
  size_t lower_bound = 0;  // of used nodes, however pods were placed
  size_t pending = 0;
  Usage milli_cpu;
  Usage memory;        // bytes
  size_t evicted = 0;  // by preemption, since the question began
};

Picture Take(simulator::Simulation& simulation);

// A pod whose place differs. No node: it is pending; nullopt: there is no such pod.
struct MovedPod {
  std::string pod;
  std::optional<std::string> before;
  std::optional<std::string> after;
  std::string message;  // why it is pending then
};

// The answer to a question.
struct WhatIfAnswer {
  Picture now;     // as the cluster is
  Picture before;  // once the pending pods have landed
  Picture after;
  std::vector<Drained> drained;
  std::optional<Filled> filled;
  std::vector<std::string> evicted_before;  // by preemption, for the pending pods
  std::vector<std::string> evicted;         // by preemption after that
  std::vector<std::string> warnings;        // MissingOf() the question
  // Whose pods are named where the answer is written; "": those of all. All count.
  std::string namespace_;

  bool Names(std::string_view pod) const;
  // Those of the pods that are named.
  std::vector<std::string> Named(const std::vector<std::string>& pods) const;
  // By namespace/name, those that are named; without the copies that filled the cluster.
  std::vector<MovedPod> Moved() const;
  bool ok() const;
};

// Appends the answer as one document on one line (docs/explain.md).
void AppendAnswer(const WhatIfAnswer& answer, std::string& out);
// Appends it for people to read.
void AppendAnswerTable(const WhatIfAnswer& answer, std::string& out);

}  // namespace berth::questions
