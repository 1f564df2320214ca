// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "berth/api/pod.h"
#include "berth/in_tree/async.h"
#include "berth/in_tree/handle.h"
#include "berth/time.h"
#include "plugins/volume_binding/assumed_pod_volumes.h"

namespace berth::plugins {

// One pod's PreBind: writes what was assumed, one object after the other, volumes first; then waits
// until the API server shows all claims bound. The first failure ends it; what was written stays.
//
// Thread safety: the binding thread.
class BindRun : public std::enable_shared_from_this<BindRun> {
 public:
  // `handle` must outlive the run, `cancellation` the call to `done`.
  BindRun(std::shared_ptr<AssumedPodVolumes> volumes, std::shared_ptr<const api::Pod> pod,
          Duration timeout, Handle& handle, Cancellation& cancellation, AsyncDone done);

  void Start();

 private:
  void WriteNext();
  void Wait();
  void Finish(AsyncStatus status);

  const std::shared_ptr<AssumedPodVolumes> volumes_;
  const std::shared_ptr<const api::Pod> pod_;
  const Duration timeout_;
  Handle& handle_;
  Cancellation& cancellation_;
  const AsyncDone done_;
  size_t next_binding_ = 0;
  size_t next_provision_ = 0;
};

}  // namespace berth::plugins
