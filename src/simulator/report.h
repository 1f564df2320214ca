// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/simulator/simulation.h"

// What `berth simulate` prints.
namespace berth::simulator {

// Appends the line of one decision: {"pod":"ns/name","node":"n2"}, or with null and a message, and
// with the nodes "tried" and "nominated" where there are such, and the "devices" that its claims
// get by this decision.
void AppendDecision(const scheduler::CycleOutcome& outcome, std::string& out,
                    std::span<const std::string> devices = {});
// Those devices, each as "request: driver/pool/device", in the order of the pod's claims; asked for
// while the decision is handed over.
std::vector<std::string> DevicesGiven(const api::Pod& pod, Simulation& simulation);
// {"podGroup":"ns/name","status":"False","reason":...,"message":...}
void AppendDecision(const scheduler::PodGroupOutcome& outcome, std::string& out);
// {"evicted":"ns/name"}
void AppendEviction(std::string_view pod, std::string& out);

// Why a pod has no node: what its condition says or, of one that no cycle was for, what gates it
// or its pod group, or why it is ignored; "" of one that is still to be decided. Of one whose group
// is not there, that.
std::string WhyWaiting(const std::shared_ptr<const api::Pod>& pod, Simulation& simulation);

// How a simulation went, counted by its caller.
struct RunFacts {
  uint64_t seed = 0;
  uint64_t attempts = 0;
  Duration virtual_time{};
  Duration wall_time{};  // of scheduling, without reading the cluster
};

// What became of the pods that were pending at first; lists are in the order given.
struct Report {
  // A pod without a node: "unschedulable"; "unfinished", so still tried again when the simulation
  // ended; "gated", by itself or with its pod group; or "ignored", being of no profile or deleted.
  struct Left {
    std::string pod;
    std::string_view result;
    std::string message;
  };

  RunFacts facts;
  size_t pods = 0;
  size_t nodes = 0;
  std::map<std::string, std::vector<std::string>> placed;  // node to pods
  size_t bound = 0;
  std::vector<Left> left;
  // Pods that are gone, to make room for others.
  std::vector<std::string> evicted;
  // Whose evicted pods the table names; "": those of all namespaces.
  std::string namespace_ = {};

  // How many were left so.
  size_t Count(std::string_view result) const;
};

// `pending` are the keys of the pods without a node when the simulation began.
Report MakeReport(const std::vector<std::string>& pending, const RunFacts& facts,
                  Simulation& simulation);

// Appends {"summary":{...}} and a newline.
void AppendSummary(const Report& report, std::string& out);

// Appends the report for people to read: what the nodes took, and who was left and why. The
// simulation is that of the report.
void AppendReportTable(const Report& report, Simulation& simulation, std::string& out);

}  // namespace berth::simulator
