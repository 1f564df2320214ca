// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/simulator/simulation.h"
#include "tests/scenarios/runner/run.h"

namespace berth::scenarios {

// The state of a simulation against what a scenario expects of it.
//
// Thread safety: one owner.
class Comparison {
 public:
  // Both must outlive the comparison; `attempts` are scheduling cycles by pod.
  Comparison(simulator::Simulation& simulation,
             const std::map<std::string, int64_t, std::less<>>& attempts)
      : simulation_(simulation), attempts_(attempts) {}

  // All that is not as expected, in the order of the file.
  std::vector<Mismatch> Check(const Expect& expect, int line);

 private:
  void CheckCount(const CountExpectation& expected, int line);
  void CheckPod(const PodExpectation& expected);
  void CheckVerdict(const VerdictExpectation& expected);
  void CheckObject(const ObjectExpectation& expected);
  void CheckEvent(const EventExpectation& expected);
  std::string PlaceOf(std::string_view key) const;
  std::vector<std::string> RejectorsOf(std::string_view key) const;
  void Add(int line, std::string what, std::string expected, std::string found);

  simulator::Simulation& simulation_;
  const std::map<std::string, int64_t, std::less<>>& attempts_;
  std::vector<Mismatch> mismatches_;
};

// Where `found` lacks what `expected` says. Members of maps that `expected` does not name are not
// looked at; null: there is no such member. All else must be equal, an empty map to an empty one.
// `path` stands before the names.
std::vector<Mismatch> CompareTrees(const ConfigValue& expected, const ConfigValue& found,
                                   const std::string& path);

}  // namespace berth::scenarios
