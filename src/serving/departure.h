// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace berth::serving {

// Tells those who work for a request that its client waits no longer: it has gone, or its time was
// up.
//
// Thread safety: the server's thread.
class Departure {
 public:
  // Calls `told` when the client has gone; at once where it has.
  void OnGone(std::function<void()> told) {
    if (gone_) return told();
    told_.push_back(std::move(told));
  }

  void Announce() {
    gone_ = true;
    for (const auto& told : std::exchange(told_, {})) told();
  }

 private:
  bool gone_ = false;
  std::vector<std::function<void()>> told_;
};

}  // namespace berth::serving
