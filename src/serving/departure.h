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
  // Calls `on_gone` when the client has gone; at once where it has.
  void OnGone(std::function<void()> on_gone) {
    if (gone_) return on_gone();
    on_gone_.push_back(std::move(on_gone));
  }

  void Announce() {
    gone_ = true;
    for (const auto& on_gone : std::exchange(on_gone_, {})) on_gone();
  }

 private:
  bool gone_ = false;
  std::vector<std::function<void()>> on_gone_;
};

}  // namespace berth::serving
