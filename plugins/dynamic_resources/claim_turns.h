// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "berth/in_tree/claim_tracker.h"

namespace berth::plugins {

// Pods that share a claim write their reservations one after the other, each upon the version that
// the one before left: else all but one would be refused, and read and try again.
//
// Thread safety: the binding thread.
class ClaimTurns {
 public:
  // `latest` is what the one before wrote; nullptr: nothing, or there was none.
  using Go = std::function<void(ClaimPtr latest)>;

  // Calls `go` when the claim is no other's turn: at once, or within Give.
  void Take(const std::string& uid, Go go) {
    const auto [turn, is_free] = waiting_.try_emplace(uid);
    if (is_free) {
      go(nullptr);
    } else {
      turn->second.push_back(std::move(go));
    }
  }

  // Ends the turn; `written` is the claim's version by now, nullptr where nothing was written.
  void Give(const std::string& uid, ClaimPtr written) {
    const auto turn = waiting_.find(uid);
    if (turn == waiting_.end()) return;
    if (turn->second.empty()) {
      waiting_.erase(turn);
      return;
    }
    const Go next = std::move(turn->second.front());
    turn->second.pop_front();
    next(std::move(written));
  }

 private:
  // By uid of the claims that are some pod's turn.
  std::map<std::string, std::deque<Go>> waiting_;
};

}  // namespace berth::plugins
