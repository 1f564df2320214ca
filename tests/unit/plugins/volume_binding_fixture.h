// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugins/volume_binding/volume_binding.h"
#include "tests/support/volume_builders.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::test {

inline constexpr std::string_view kNodeConflict =
    "node(s) didn't match PersistentVolume's node affinity";
inline constexpr std::string_view kBindConflict =
    "node(s) didn't find available persistent volumes to bind";
inline constexpr std::string_view kNoSpace = "node(s) did not have enough free storage";
inline constexpr std::string_view kNoVolume =
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

// VolumeBinding with the classes `wait` (provisioner csi.example.com) and `local` (none), which
// wait for a consumer, and `now`, which does not.
class VolumeBindingFixture : public PluginFixture {
 public:
  VolumeBindingFixture() {
    handle.plain_listers.Set(MakeWaitingClass("wait", "csi.example.com"));
    handle.plain_listers.Set(MakeWaitingClass("local", kNoProvisioner));
    api::StorageClass now = MakeWaitingClass("now", "csi.example.com");
    now.volume_binding_mode = api::kBindImmediate;
    handle.plain_listers.Set(now);
  }

  // A node that has its name in the usual label.
  static NodeBuilder Node(std::string_view name) {
    return MakeNode(name).Label("kubernetes.io/hostname", name);
  }

  // Begins a cycle for the pod over `nodes`.
  Status PreFilter(const api::Pod& pod, std::vector<api::Node> nodes) {
    snapshot.emplace(handle.names, nodes, std::vector<api::Pod>{});
    handle.current_snapshot = &*snapshot;
    info = Info(pod);
    state = CycleState();
    return plugin().PreFilter(state, *info, *snapshot).status;
  }
  // The node's verdict: "", "code: reasons". The column form must say the same.
  std::string Filter(NodeRow row) {
    const Status status = plugin().Filter(state, *info, NodeView(*snapshot, row));
    NodeSet nodes(snapshot->num_rows());
    nodes.Set(row);
    const Status failure = plugin().FilterNodes(state, *info, *snapshot, nodes);
    if (status.code() == Code::kError) {
      EXPECT_EQ(failure, status);
    } else {
      EXPECT_TRUE(failure.ok());
      EXPECT_EQ(nodes.Test(row), status.ok());
    }
    return Text(status);
  }
  static std::string Text(const Status& status) {
    if (status.ok()) return "";
    std::string text(CodeName(status.code()));
    for (const std::string& reason : status.reasons()) text += "; " + reason;
    return text;
  }
  static std::string Rejected(std::initializer_list<std::string_view> reasons) {
    std::string text = "UnschedulableAndUnresolvable";
    for (const std::string_view reason : reasons) text.append("; ").append(reason);
    return text;
  }

  plugins::VolumeBinding& plugin() {
    if (!plugin_) {
      plugin_.emplace(args, handle);
      plugin_->SetCalledPoints(called);
    }
    return *plugin_;
  }

  plugins::VolumeBindingArgs args;
  // Where the profile calls the plugin.
  CalledPoints called{
      .pre_filter = true, .filter = true, .pre_score = true, .score = true, .reserve = true};
  std::optional<PlainSnapshot> snapshot;
  PodInfoPtr info;

 private:
  std::optional<plugins::VolumeBinding> plugin_;
};

}  // namespace berth::test
