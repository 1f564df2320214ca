// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "berth/in_tree/preemption.h"
#include "src/engine/judgement.h"
#include "tests/unit/framework/profile_fixture.h"

namespace berth::test {

// Rejects nodes that have or expect a pod.
class OnePodFilter final : public FilterPlugin {
 public:
  explicit OnePodFilter(const Status& full) : full_(full) {}
  Status Filter(const CycleState&, const PodInfo&, const NodeView& node) const override {
    return node.pod_count() >= 1 ? full_ : Status::Success();
  }

 private:
  Status full_;
};

// A PostFilter named "Preempts" that would do what it is told to.
class FixedPreemption final : public PreemptionPlugin {
 public:
  PostFilterResult PostFilter(CycleState&, const PodInfo&, const Snapshot&,
                              const NodeToStatus&) override {
    return {};
  }
  PreemptionPreview Preview(CycleState&, const PodInfo&, const Snapshot& snapshot,
                            const NodeToStatus& statuses) override {
    codes.clear();
    snapshot.nodes().ForEach([&](NodeRow row) { codes.push_back(statuses.Get(row).code()); });
    if (throws) throw std::runtime_error("no idea");
    return preview;
  }

  PreemptionPreview preview;
  bool throws = false;
  // By node, of the last call.
  std::vector<Code> codes;
};

// Judges pods by test plugins over the nodes n0, n1, ...
class JudgementFixture : public ProfileFixture {
 protected:
  void SetNodes(size_t count) {
    std::vector<api::Node> nodes;
    for (size_t i = 0; i < count; ++i) nodes.push_back(MakeNode("n" + std::to_string(i)));
    snapshot_ = std::make_unique<PlainSnapshot>(handle_.names, nodes);
  }
  // A profile of the plugins named, in that order, with their weights.
  void MakeWeighted(const std::vector<config::PluginRef>& plugins) {
    config::Profile config;
    config.scheduler_name = "test-scheduler";
    config.plugins.multi_point.enabled = {{"Sort", 0}};
    for (const config::PluginRef& plugin : plugins) {
      config.plugins.multi_point.enabled.push_back(plugin);
    }
    std::vector<PluginRegistration> registry = Registry();
    registry.push_back({"Preempts", [this](const ConfigValue&, Handle&) {
                          auto preemption = std::make_unique<FixedPreemption>();
                          preemption_ = preemption.get();
                          return Result<Plugin>(AsPlugin("Preempts", std::move(preemption)));
                        }});
    auto made = framework::Profile::Make(config, registry, handle_);
    ASSERT_TRUE(made) << made.error().message;
    profile_ = std::move(*made);
  }
  // Decided, but not explained.
  engine::Judgement& Decide(const PodBuilder& pod) {
    judgement_ = std::make_unique<engine::Judgement>(
        profile_.get(), pod.Info(handle_.names),
        engine::ClusterState{
            .snapshot = *snapshot_, .nominated = nominated_, .extenders = extenders_},
        extenders_not_asked_);
    return *judgement_;
  }
  engine::Judgement& Judge(const PodBuilder& pod = MakePod()) {
    Decide(pod).Explain();
    return *judgement_;
  }
  engine::Judgement& JudgeWithPreemption(const PodBuilder& pod = MakePod()) {
    Judge(pod).PreviewPreemption();
    return *judgement_;
  }

  std::unique_ptr<PlainSnapshot> snapshot_;
  cache::Nominator nominated_;
  extender::Extenders* extenders_ = nullptr;
  std::vector<std::string> extenders_not_asked_;
  FixedPreemption* preemption_ = nullptr;
  std::unique_ptr<engine::Judgement> judgement_;
};

}  // namespace berth::test
