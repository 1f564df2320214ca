// SPDX-License-Identifier: Apache-2.0
// Plugins that ask for kinds of their own.
#include <memory>
#include <string>

#include "berth/loadable/plugin.hpp"

namespace {

constexpr size_t kWidget = 0;
constexpr size_t kGadget = 1;

// Rejects with what it sees of its kinds, for each node: "<keys of all widgets>; <keys of the
// gadgets in the pod's namespace>; <the gadget of the node's name, as JSON>".
class ShowsKinds final : public berth::FilterPlugin, public berth::EnqueueExtensions {
 public:
  ShowsKinds(const berth::ConfigValue&, berth::Handle handle) : handle_(handle) {}

  // A gadget helps the pod whose name stands in the change.
  std::vector<berth::ClusterEventWithHint> EventsToRegister() const override {
    return {{berth::KindOf(kGadget), BERTH_ACTION_ALL,
             [](const berth::PodView& pod, const berth::ObjectView& before,
                const berth::ObjectView& after) {
               const auto names = [&pod](const berth::ObjectView& object) {
                 return object && object.json().find(pod.name()) != std::string_view::npos;
               };
               return names(before) || names(after) ? berth::QueueingHint::kQueue
                                                    : berth::QueueingHint::kQueueSkip;
             }},
            {berth::KindOf(2), BERTH_ACTION_ALL}};
  }

  berth::Status Filter(const berth::CycleState&, const berth::PodView& pod,
                       const berth::NodeView& node) const override {
    std::string text;
    const auto add = [&text](const berth::ObjectView& object) {
      text += std::string(object.namespace_()) + "/" + std::string(object.name()) + " ";
    };
    handle_.ForEachObject(berth::KindOf(kWidget), "", add);
    text += "; ";
    handle_.ForEachObject(berth::KindOf(kGadget), pod.namespace_(), add);
    text += "; ";
    handle_.FindObject(
        berth::KindOf(kGadget), pod.namespace_(), node.name(),
        [&text](const berth::ObjectView& object) { text += std::string(object.json()); });
    return berth::Status::Unschedulable(text);
  }

 private:
  berth::Handle handle_;
};

// Registers for no events, and so wants all.
class WantsAll final : public berth::FilterPlugin {
 public:
  WantsAll(const berth::ConfigValue&, berth::Handle) {}
  berth::Status Filter(const berth::CycleState&, const berth::PodView&,
                       const berth::NodeView&) const override {
    return berth::Status::Success();
  }
};

berth::PluginOptions Kinds(std::vector<berth::OwnKind> kinds) {
  berth::PluginOptions options;
  options.own_kinds = std::move(kinds);
  return options;
}

const berth::OwnKind kWidgets{"tests.example.com", "v1", "widgets", "Widget", false};
const berth::OwnKind kGadgets{"tests.example.com", "v1beta1", "gadgets", "Gadget", true};

}  // namespace

BERTH_PLUGINS("1.0", berth::Define<ShowsKinds>("ShowsKinds", Kinds({kWidgets, kGadgets})),
              berth::Define<WantsAll>("WantsAll", Kinds({kGadgets})))
