// SPDX-License-Identifier: Apache-2.0
#include "src/framework/waiting_pods.h"

#include <algorithm>
#include <utility>

#include "berth/config_value.h"

namespace berth::framework {

class WaitingPods::Waiter final : public WaitingPod {
 public:
  struct Pending {
    std::string plugin;
    Duration timeout;
    Time deadline;
  };

  Waiter(WaitingPods& owner, PodInfoPtr pod, std::string node_name, std::vector<Pending> pending,
         Time since)
      : owner_(owner),
        pod_(std::move(pod)),
        node_name_(std::move(node_name)),
        pending_(std::move(pending)),
        since_(since) {}

  const PodInfo& pod() const override { return *pod_; }
  std::string_view node_name() const override { return node_name_; }
  void Allow(std::string_view plugin) override {
    std::erase_if(pending_, [plugin](const Pending& p) { return p.plugin == plugin; });
    if (pending_.empty()) owner_.End(*this, Code::kSuccess, "", "");
  }
  void Reject(std::string_view plugin, std::string_view reason) override {
    owner_.End(*this, Code::kUnschedulable, plugin, reason);
  }
  void Preempt(std::string_view plugin, std::string_view reason) override {
    owner_.End(*this, Code::kError, plugin, reason);
  }

  // The pending plugin whose time runs out first; the earlier in the list of equals.
  const Pending* Next() const {
    const auto it = std::min_element(
        pending_.begin(), pending_.end(),
        [](const Pending& a, const Pending& b) { return a.deadline < b.deadline; });
    return it == pending_.end() ? nullptr : &*it;
  }
  const std::vector<Pending>& pending() const { return pending_; }
  bool done() const { return done_; }
  void set_done() { done_ = true; }
  Time since() const { return since_; }

 private:
  WaitingPods& owner_;
  PodInfoPtr pod_;
  std::string node_name_;
  std::vector<Pending> pending_;
  Time since_;
  bool done_ = false;
};

WaitingPods::WaitingPods() = default;
WaitingPods::~WaitingPods() = default;

void WaitingPods::Add(PodInfoPtr pod, std::string node_name, std::vector<PluginTimeout> plugins,
                      Time now) {
  std::vector<Waiter::Pending> pending;
  for (PluginTimeout& plugin : plugins) {
    pending.push_back({std::move(plugin.plugin), plugin.timeout, now + plugin.timeout});
  }
  std::string uid = pod->pod->metadata.uid;
  pods_[std::move(uid)] = std::make_unique<Waiter>(*this, std::move(pod), std::move(node_name),
                                                   std::move(pending), now);
}

WaitingPod* WaitingPods::Find(std::string_view uid) {
  const auto it = pods_.find(uid);
  return it == pods_.end() || it->second->done() ? nullptr : it->second.get();
}

std::vector<std::string> WaitingPods::Objectors(std::string_view uid) const {
  std::vector<std::string> plugins;
  if (const auto it = pods_.find(uid); it != pods_.end()) {
    for (const auto& pending : it->second->pending()) plugins.push_back(pending.plugin);
  }
  return plugins;
}

void WaitingPods::ForEach(const std::function<void(WaitingPod&)>& visit) {
  for (auto& [uid, waiter] : pods_)
    if (!waiter->done()) visit(*waiter);
}

void WaitingPods::Expire(Time now) {
  for (auto& [uid, waiter] : pods_) {
    if (waiter->done()) continue;
    const Waiter::Pending* next = waiter->Next();
    if (next == nullptr || next->deadline > now) continue;
    const std::string plugin = next->plugin;
    End(*waiter, Code::kUnschedulable, plugin,
        "rejected due to timeout after waiting " + FormatGoDuration(next->timeout) + " at plugin " +
            plugin);
  }
}

std::optional<Time> WaitingPods::NextExpiry() const {
  std::optional<Time> next;
  for (const auto& [uid, waiter] : pods_) {
    if (waiter->done()) continue;
    const Waiter::Pending* pending = waiter->Next();
    if (pending != nullptr && (!next || pending->deadline < *next)) next = pending->deadline;
  }
  return next;
}

std::vector<PermitOutcome> WaitingPods::TakeOutcomes(Time now) {
  std::vector<PermitOutcome> taken = std::exchange(outcomes_, {});
  for (PermitOutcome& outcome : taken) {
    const auto it = pods_.find(outcome.uid);
    outcome.waited = now - it->second->since();
    pods_.erase(it);
  }
  return taken;
}

void WaitingPods::End(Waiter& waiter, Code code, std::string_view plugin,
                      std::string_view message) {
  if (waiter.done()) return;
  waiter.set_done();
  outcomes_.push_back({waiter.pod().pod->metadata.uid, code, std::string(plugin),
                       std::string(message), Duration{}});
}

}  // namespace berth::framework
