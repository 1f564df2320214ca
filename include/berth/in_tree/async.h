// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "berth/status.h"

namespace berth::inline in_tree {

// The verdict of work that went on elsewhere.
struct AsyncStatus {
  Code code = Code::kSuccess;
  std::string message = {};

  bool ok() const { return code == Code::kSuccess; }
};

// Call exactly once, from any thread, also from within the call that handed it out.
using AsyncDone = std::function<void(AsyncStatus)>;

// Tells asynchronous work that its result is no longer wanted. Thread safety: any thread.
class Cancellation {
 public:
  virtual ~Cancellation() = default;
  virtual bool cancelled() const = 0;
  // Runs `hook` once when cancelled, at once if that has happened; on the cancelling thread. The
  // work must still call its AsyncDone, with Code::kError.
  virtual void OnCancel(std::function<void()> hook) = 0;
};

}  // namespace berth::inline in_tree
