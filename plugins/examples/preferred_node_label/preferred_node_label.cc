// SPDX-License-Identifier: Apache-2.0
#include <berth/loadable/plugin.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

// Prefers the nodes with a label: they get `weight` points of a hundred, all others none.
//
//   pluginConfig:
//   - name: PreferredNodeLabel
//     args: {label: example.com/disk, value: fast, weight: 80}
class PreferredNodeLabel final : public berth::PreScorePlugin, public berth::ColumnScorePlugin {
 public:
  PreferredNodeLabel(const berth::ConfigValue& args, berth::Handle handle)
      : lookups_(
            handle.Counter("lookups_total", "How often the nodes with the label were found.")) {
    berth::FieldReader fields(args);
    fields.Require("label", label_);
    fields.Require("value", value_);
    fields.Read("weight", weight_);
    if (weight_ < 1 || weight_ > 100) fields.Invalid("weight", "must be in the range 1 to 100");
    fields.Finish();
  }

  // The index of labels is for the scheduling thread, so it is asked here and not in ScoreNodes.
  berth::Status PreScore(berth::CycleState& state, const berth::PodView&,
                         const berth::Snapshot& snapshot, const berth::ConstNodeSet&) override {
    auto preferred = std::make_unique<Preferred>();
    preferred->words = snapshot.NodesWithLabel(label_, value_);
    for (const uint64_t word : preferred->words) preferred->any |= word != 0;
    if (!preferred->any) return berth::Status::Skip();
    state.Write(std::move(preferred));
    lookups_.Add();
    return berth::Status::Success();
  }

  berth::ScoreResult Score(const berth::CycleState&, const berth::PodView&,
                           const berth::NodeView& node) const override {
    return {node.labels().Find(label_) == value_ ? weight_ : 0};
  }

  void ScoreNodes(const berth::CycleState& state, const berth::PodView&, const berth::Snapshot&,
                  const uint32_t* rows, int64_t* scores, size_t n) const override {
    const std::vector<uint64_t>& words = state.Read<Preferred>()->words;
    for (size_t i = 0; i < n; ++i) {
      scores[i] = ((words[rows[i] / 64] >> (rows[i] % 64)) & 1) != 0 ? weight_ : 0;
    }
  }

 private:
  struct Preferred {
    std::vector<uint64_t> words;  // a bit for each node with the label
    bool any = false;
  };

  std::string label_;
  std::string value_;
  int64_t weight_ = 100;
  berth::Metric lookups_;
};

// All that the scores depend on: the labels of nodes, and nothing of the pod.
berth::PluginOptions Inputs() {
  berth::PluginOptions options;
  options.declares_inputs = true;
  options.reach = BERTH_REACH_NODE | BERTH_REACH_ALL_NODES;
  return options;
}

}  // namespace

BERTH_PLUGINS("1.0.0", berth::Define<PreferredNodeLabel>("PreferredNodeLabel", Inputs()))
