// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "berth/cluster_event.h"
#include "berth/status.h"
#include "berth/time.h"

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

// An object, by its kind and "namespace/name", or "name" where it has no namespace.
struct ObjectKey {
  EventResource kind = EventResource::kNode;
  std::string key;

  friend bool operator==(const ObjectKey&, const ObjectKey&) = default;
};

// Something that will be so once the API server shows it.
struct ObjectWait {
  // When one of these comes, changes or goes, `check` is asked again; for a claim, also when a
  // volume does that is or was bound to it. Pods are kPod.
  std::vector<ObjectKey> objects;
  // The verdict, or nullopt while there is none. Called on the scheduling thread.
  std::function<std::optional<AsyncStatus>()> check;
  // How long to wait, and the verdict after that.
  Duration timeout{};
  AsyncStatus timed_out;
  // The verdict when the wait is cancelled.
  AsyncStatus cancelled;
};

}  // namespace berth::inline in_tree
