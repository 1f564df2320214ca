// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include "berth/loadable/cpp/handle.hpp"

BERTH_NAMESPACE_BEGIN

// Asynchronous work for one pod: tells how it ended. Dropped without a word it ends as an error.
// The pod, its state and the node's name are good until then.
//
// Thread safety: any thread, one at a time.
class Async {
 public:
  explicit Async(berth_async* async) : async_(async) {}
  Async(Async&& other) noexcept : async_(std::exchange(other.async_, nullptr)) {}
  Async& operator=(Async&& other) noexcept {
    Async dropped(std::exchange(async_, std::exchange(other.async_, nullptr)));
    return *this;
  }
  ~Async() {
    if (async_ != nullptr) Done(Status::Error("the plugin ended without a verdict"));
  }

  // The first call counts.
  void Done(const Status& status) {
    if (berth_async* async = std::exchange(async_, nullptr)) {
      internal::host->async_done(async, static_cast<berth_code>(status.code()),
                                 internal::C(status.reason()));
    }
  }
  // Of Bind: binds the pod as DefaultBinder does, and ends with how that went.
  void BindByDefault() {
    if (berth_async* async = std::exchange(async_, nullptr)) {
      internal::host->async_bind_by_default(async);
    }
  }
  // The answer is waited for no more. Done() is still wanted. False once that was called.
  bool cancelled() const { return async_ != nullptr && internal::host->async_cancelled(async_); }
  // Runs `hook` when cancelled, on any thread, possibly still while Done() is called elsewhere; at
  // once if that has happened. One hook.
  void OnCancel(std::function<void()> hook) {
    if (async_ == nullptr) return;
    internal::host->async_on_cancel(async_, internal::ToTask(std::move(hook)));
  }

 private:
  berth_async* async_;
};

// Tells work on a thread of its own that it is waited for no more.
class Cancellation {
 public:
  explicit Cancellation(const berth_async* async) : async_(async) {}
  bool cancelled() const { return internal::host->async_cancelled(async_); }

 private:
  const berth_async* async_;
};

BERTH_NAMESPACE_END
