// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "src/simulator/simulation.h"

namespace berth::ui {

// The document of one pod, judged alone against a simulation that has its objects and has not
// started:
//
//   {"facts":{...},
//    "nearMisses":[{"code":...,"nodes":7,"examples":["n1"],"plugin":...,"reasons":[...],
//                    "inTheWay":"pod shop/a has host port 80/TCP"}],
//    "node":..., "pod":"ns/name", "verdict":{...}}
//
// `facts` are AppendPodFacts(). `verdict` is what `berth explain --preemption -o json` prints
// (docs/explain.md); nearMisses come in its table's order, with what is in the way on the first
// example, where that is known. Of a pod that is on a node `node` names that, and it is judged as
// if it waited. Errors: there is no such pod.
Result<std::string> PodVerdict(simulator::Simulation& simulation, std::string_view key);

// {"fixes":[{"changes":["cluster: uncordon n2"],"commands":["kubectl uncordon n2"],"cost":10,
// "nodes":["n2"]}],"tried":48}: what would let the pod schedule, as the table of `berth explain
// --fix --commands` has it.
// `clock` bounds the search, and `interrupted` ends it. Errors: there is no such pod.
Result<std::string> PodFixes(simulator::Simulation& simulation, std::string_view key,
                             const Clock& clock, const std::function<bool()>& interrupted);

}  // namespace berth::ui
