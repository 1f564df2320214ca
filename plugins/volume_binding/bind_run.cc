// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/bind_run.h"

#include <utility>

#include "plugins/volume_binding/stage_errors.h"

namespace berth::plugins {

BindRun::BindRun(std::shared_ptr<AssumedPodVolumes> volumes, std::shared_ptr<const api::Pod> pod,
                 Duration timeout, Handle& handle, Cancellation& cancellation, AsyncDone done)
    : volumes_(std::move(volumes)),
      pod_(std::move(pod)),
      timeout_(timeout),
      handle_(handle),
      cancellation_(cancellation),
      done_(std::move(done)) {}

void BindRun::Start() {
  // kube-scheduler takes volumes that were not assumed for none where nothing is to be bound.
  if (volumes_->assumed || !volumes_->bindings.empty()) return WriteNext();
  Finish({Code::kError, "failed to get cached bindings for pod \"" + pod_->metadata.Key() + "\""});
}

void BindRun::WriteNext() {
  const auto write = [this](auto& entry, const auto& object) {
    handle_.WriteAssumed(object, cancellation_,
                         [self = shared_from_this(), &entry](AsyncStatus status) {
                           if (!status.ok()) {
                             self->Finish(std::move(status));
                             return;
                           }
                           entry.written = true;
                           self->WriteNext();
                         });
  };
  while (next_binding_ < volumes_->bindings.size()) {
    AssumedPodVolumes::Binding& binding = volumes_->bindings[next_binding_++];
    if (binding.to_write) return write(binding, *binding.volume);
  }
  while (next_provision_ < volumes_->provisions.size()) {
    AssumedPodVolumes::Provision& provision = volumes_->provisions[next_provision_++];
    if (provision.to_write) return write(provision, *provision.claim);
  }
  Wait();
}

void BindRun::Wait() {
  ObjectWait wait;
  for (const auto& binding : volumes_->bindings) {
    wait.objects.push_back({EventResource::kPersistentVolume, binding.volume->metadata.name});
    wait.objects.push_back({EventResource::kPersistentVolumeClaim,
                            binding.claim_namespace + "/" + binding.claim_name});
  }
  for (const auto& provision : volumes_->provisions) {
    wait.objects.push_back(
        {EventResource::kPersistentVolumeClaim, provision.claim->metadata.Key()});
  }
  wait.objects.push_back({EventResource::kNode, volumes_->node_name});
  wait.objects.push_back({EventResource::kCsiNode, volumes_->node_name});
  wait.objects.push_back({EventResource::kPod, pod_->metadata.Key()});
  wait.check = [volumes = volumes_, pod = pod_, &handle = handle_] {
    return CheckBindings(*volumes, *pod, handle);
  };
  wait.timeout = timeout_;
  wait.timed_out = {Code::kError, "binding volumes: context deadline exceeded"};
  wait.cancelled = {Code::kError, "binding volumes: context canceled"};
  handle_.WaitFor(std::move(wait), cancellation_, [self = shared_from_this()](AsyncStatus status) {
    self->Finish(std::move(status));
  });
}

void BindRun::Finish(AsyncStatus status) {
  if (!status.ok()) {
    handle_.Post([&handle = handle_] { CountStageError(handle, "bind"); });
  }
  done_(std::move(status));
}

}  // namespace berth::plugins
