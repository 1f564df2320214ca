// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "berth/handle.h"
#include "src/binding/binder.h"
#include "src/cache/cache.h"
#include "src/cache/object_tables.h"
#include "src/framework/waiting_pods.h"

namespace berth::scheduler {

// What the plugins of all profiles share. Everything must outlive the handles.
struct HandleParts {
  const Clock& clock;
  const Features& features;
  cache::Cache& cache;
  const cache::ObjectTables& objects;
  ReasonTable& reasons;
  framework::WaitingPods& waiting_pods;
  binding::Binder& binder;
  // Keys of pods to move to activeQ once the running cycle is over.
  std::vector<std::string>& pods_to_activate;
};

// One profile's Handle; see berth/handle.h for the threads.
class ProfileHandle final : public Handle {
 public:
  ProfileHandle(HandleParts parts, std::string scheduler_name, Random random)
      : parts_(parts), scheduler_name_(std::move(scheduler_name)), random_(random) {}

  const Clock& clock() const override { return parts_.clock; }
  Random& random() override { return random_; }
  const Features& features() const override { return parts_.features; }
  std::string_view scheduler_name() const override { return scheduler_name_; }
  const Snapshot& snapshot() const override { return parts_.cache; }
  const Listers& listers() const override { return parts_.objects; }
  ResourceNames& resource_names() override { return parts_.cache.mutable_resource_names(); }
  ReasonTable& reasons() override { return parts_.reasons; }
  WaitingPod* FindWaitingPod(std::string_view uid) override {
    return parts_.waiting_pods.Find(uid);
  }
  void ForEachWaitingPod(const std::function<void(WaitingPod&)>& visit) override {
    parts_.waiting_pods.ForEach(visit);
  }
  void Activate(const std::vector<std::string>& pod_keys) override {
    parts_.pods_to_activate.insert(parts_.pods_to_activate.end(), pod_keys.begin(), pod_keys.end());
  }
  void BindPod(const PodInfo& pod, std::string_view node_name, Cancellation& cancellation,
               AsyncDone done) override {
    parts_.binder.BindPod(*pod.pod, node_name, cancellation, std::move(done));
  }

 private:
  HandleParts parts_;
  std::string scheduler_name_;
  Random random_;
};

}  // namespace berth::scheduler
