// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/api/boxed.h"
#include "berth/api/node.h"
#include "berth/api/pod.h"
#include "berth/matching.h"

namespace berth::plugins::dra {

// Which nodes reach a slice or a device: the one it names, else all, else those that a selector
// matches, else none.
class NodeChoice {
 public:
  NodeChoice() = default;
  // What is given must outlive the choice.
  NodeChoice(const std::optional<std::string>& node_name, const std::optional<bool>& all_nodes,
             const api::Boxed<api::NodeSelector>& selector);

  // Neither a name, nor all nodes, nor a selector.
  bool empty() const { return node_name_.empty() && !all_nodes_ && matcher_ == nullptr; }
  bool has_selector() const { return matcher_ != nullptr; }
  std::string_view node_name() const { return node_name_; }

  bool Matches(const api::Node& node) const;
  // Why Matches cannot be asked, in upstream's words; "": it can.
  std::string Problem() const;

 private:
  std::string_view node_name_;
  bool all_nodes_ = false;
  const api::NodeSelector* selector_ = nullptr;
  std::unique_ptr<NodeSelectorMatcher> matcher_;  // only where it decides
};

}  // namespace berth::plugins::dra
