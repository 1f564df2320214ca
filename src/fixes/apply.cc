// SPDX-License-Identifier: Apache-2.0
#include "src/fixes/apply.h"

#include <memory>
#include <type_traits>

#include "src/fixes/requests.h"

namespace berth::fixes {
namespace {

using informers::Kind;
using simulator::MemoryApi;

Delta Put(api::Pod pod) {
  Delta delta;
  delta.put.emplace_back(std::make_shared<const api::Pod>(std::move(pod)));
  return delta;
}

// Carries a change out on a copy of the pod; false: there is nothing that it could change.
bool Change(const explain::LowerRequest& change, api::Pod& pod) {
  pod = WithRequest(pod, change.resource, Amount(change.resource, change.to));
  return true;
}

bool Change(const explain::Tolerate& change, api::Pod& pod) {
  api::Toleration toleration;
  toleration.key = change.taint.key;
  toleration.operator_ = "Equal";
  toleration.value = change.taint.value;
  toleration.effect = change.taint.effect;
  pod.spec.tolerations.push_back(std::move(toleration));
  return true;
}

// The same for a node.
bool Change(const explain::Uncordon&, api::Node& node) {
  node.spec.unschedulable = false;
  std::erase_if(node.spec.taints,
                [](const api::Taint& taint) { return taint.key == kUnschedulableTaint; });
  return true;
}

template <typename T>
concept OfPod = requires(const T& change, api::Pod& pod) { Change(change, pod); };
template <typename T>
concept OfNode = requires(const T& change, api::Node& node) { Change(change, node); };

std::optional<Delta> ApplyOther(const explain::AddNode& change, const MemoryApi& objects) {
  return NodeLike(change.like, objects);
}

}  // namespace

std::optional<Delta> Apply(const explain::Change& change, const api::Pod& pod,
                           const MemoryApi& objects) {
  return std::visit(
      [&](const auto& held) -> std::optional<Delta> {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (OfPod<Held>) {
          api::Pod changed = pod;
          if (!Change(held, changed)) return std::nullopt;
          return Put(std::move(changed));
        } else if constexpr (OfNode<Held>) {
          const auto node = simulator::FindIn<api::Node>(objects, Kind::kNode, held.node);
          if (node == nullptr) return std::nullopt;
          auto changed = std::make_shared<api::Node>(*node);
          if (!Change(held, *changed)) return std::nullopt;
          Delta delta;
          delta.put.emplace_back(std::shared_ptr<const api::Node>(std::move(changed)));
          return delta;
        } else {
          return ApplyOther(held, objects);
        }
      },
      change);
}

}  // namespace berth::fixes
