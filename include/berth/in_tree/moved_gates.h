// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace berth::inline in_tree {

// What a PreEnqueue plugin may also be: one that tells whom it may hold back no more, so that the
// queue asks about these alone, however many wait.
class MovedGates {
 public:
  virtual ~MovedGates() = default;

  // Adds the keys ("namespace/name") of pods for which PreEnqueue may answer something else than it
  // did, since the last call or since it answered, whichever came later. It holds back all others
  // still. Pods of pod groups need not be named.
  virtual void TakeMovedGates(std::vector<std::string>& pod_keys) = 0;
};

}  // namespace berth::inline in_tree
