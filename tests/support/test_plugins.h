// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "berth/in_tree/points.h"

namespace berth::test {

// What all test plugins of a profile did, in order: "Name.Point".
using CallLog = std::vector<std::string>;

// A plugin at every extension point but QueueSort and PostFilter. It logs its calls and answers
// what it is told to; Success unless told otherwise.
class EverywherePlugin : public PreEnqueuePlugin,
                         public PreFilterPlugin,
                         public FilterPlugin,
                         public PreScorePlugin,
                         public ScorePlugin,
                         public ReservePlugin,
                         public PermitPlugin,
                         public PreBindPlugin,
                         public BindPlugin,
                         public PostBindPlugin {
 public:
  EverywherePlugin(std::string name, CallLog& log) : name_(std::move(name)), log_(log) {}

  Status PreEnqueue(const PodInfo&) override {
    Log("PreEnqueue");
    return pre_enqueue;
  }
  PreFilterResult PreFilter(CycleState&, const PodInfo&, const Snapshot&) override {
    Log("PreFilter");
    return pre_filter;
  }
  Status Filter(const CycleState&, const PodInfo&, const NodeView& node) const override {
    Log("Filter");
    const auto it = filter_by_node.find(node.node().metadata.name);
    return it == filter_by_node.end() ? filter : it->second;
  }
  Status PreScore(CycleState&, const PodInfo&, const Snapshot&, const NodeSet&) override {
    Log("PreScore");
    return pre_score;
  }
  ScoreResult Score(const CycleState&, const PodInfo&, const NodeView& node) const override {
    Log("Score");
    const auto it = score_by_node.find(node.node().metadata.name);
    return {it == score_by_node.end() ? 0 : it->second, score_status};
  }
  Status Reserve(CycleState&, const PodInfo&, std::string_view) override {
    Log("Reserve");
    return reserve;
  }
  void Unreserve(CycleState&, const PodInfo&, std::string_view) override { Log("Unreserve"); }
  PermitResult Permit(CycleState&, const PodInfo&, std::string_view) override {
    Log("Permit");
    return permit;
  }
  Status PreBindPreFlight(CycleState&, const PodInfo&, std::string_view) override {
    Log("PreBindPreFlight");
    return pre_flight;
  }
  void PreBind(CycleState&, const PodInfo&, std::string_view, Cancellation&,
               AsyncDone done) override {
    Log("PreBind");
    done(pre_bind);
  }
  void Bind(CycleState&, const PodInfo&, std::string_view, Cancellation&, AsyncDone done) override {
    Log("Bind");
    done(bind);
  }
  void PostBind(CycleState&, const PodInfo&, std::string_view) override { Log("PostBind"); }

  Status pre_enqueue;
  PreFilterResult pre_filter;
  Status filter;
  std::map<std::string, Status> filter_by_node;
  Status pre_score;
  Status score_status;
  std::map<std::string, int64_t> score_by_node;
  Status reserve;
  PermitResult permit;
  Status pre_flight = Status::Skip();
  AsyncStatus pre_bind;
  AsyncStatus bind;
  std::string throws_at;  // an extension point; "": none

 private:
  void Log(std::string_view point) const {
    log_.push_back(name_ + '.' + std::string(point));
    if (point == throws_at) throw std::runtime_error("out of cheese");
  }

  const std::string name_;
  CallLog& log_;
};

// Orders by timestamp.
class TimeSortPlugin : public QueueSortPlugin {
 public:
  bool Less(const QueueSortKey& a, const QueueSortKey& b) const override {
    return a.timestamp < b.timestamp;
  }
};

// A PostFilter that answers what it is told to.
class FixedPostFilter : public PostFilterPlugin {
 public:
  PostFilterResult PostFilter(CycleState&, const PodInfo&, const Snapshot&,
                              const NodeToStatus&) override {
    return result;
  }

  PostFilterResult result;
};

}  // namespace berth::test
