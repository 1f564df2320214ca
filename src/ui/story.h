// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/string_map.h"
#include "src/recording/reader.h"
#include "src/ui/cluster_map.h"

namespace berth::ui {

// What a recording tells, for a page that shows the cluster after any of its decisions: which nodes
// there were when, where each pod was when, and the decisions themselves. Step n of the map is the
// cluster after n decisions. A pod is on its node from the decision on, and waits again where its
// bind fails.
//
// Thread safety: one owner.
class Story {
 public:
  // More is left out: the story ends there.
  struct Limits {
    size_t decisions = 200'000;
    size_t rows = 1'000'000;  // of the map
  };

  // Reads the recording to its end.
  explicit Story(recording::RecordingReader& reader) : Story(reader, Limits()) {}
  Story(recording::RecordingReader& reader, const Limits& limits);

  // When the last turn began.
  Time end() const { return now_; }
  const ClusterMap& map() const { return map_; }
  size_t num_decisions() const { return pods_.size(); }
  bool cut_short() const { return cut_short_; }
  // The cluster as it was at the end; pods last.
  std::vector<api::ObjectPtr> Objects() const;

  // Appends {"code":[...],"message":[...],"messages":[...],"node":[...],"nodes":[...],"pod":[...],
  // "time":[...]}: of each decision what it came to, numbers in the lists `messages` and `nodes`
  // (-1: none), the pod's namespace/name, and when, in milliseconds since 1970.
  void AppendDecisions(std::string& out) const;

 private:
  struct KnownNode {
    std::shared_ptr<const api::Node> node;
    ClusterMap::Row row = ClusterMap::kNone;
  };
  struct KnownPod {
    std::shared_ptr<const api::Pod> pod;
    std::string node;  // by decision or by what was seen; "": none
    ClusterMap::Row row = ClusterMap::kNone;
  };

  void Take(const recording::Frame& frame);
  void TakeEvent(const informers::InformerEvent& event);
  void TakeNode(const std::shared_ptr<const api::Node>& node);
  void TakePod(const std::shared_ptr<const api::Pod>& pod);
  void TakeDecision(const recording::AttemptEnded& decision);
  // The pod's row ends, and one on the node `name` begins.
  void Move(KnownPod& pod, std::string_view name);
  void MovePodsOf(std::string_view node);
  uint32_t step() const { return static_cast<uint32_t>(pods_.size()); }

  ClusterMap map_;
  base::StringMap<KnownNode> nodes_by_name_;
  base::StringMap<KnownPod> pods_by_uid_;
  std::map<informers::Kind, std::map<std::string, api::ObjectPtr>> others_;
  Time now_;
  bool cut_short_ = false;

  // One of each decision.
  std::vector<std::string> pods_;
  std::vector<int64_t> decided_nodes_;
  std::vector<int64_t> messages_;
  std::vector<std::string_view> codes_;
  std::vector<int64_t> times_;
  NameTable node_names_;
  NameTable message_texts_;
};

}  // namespace berth::ui
