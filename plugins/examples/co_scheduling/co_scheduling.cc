// SPDX-License-Identifier: Apache-2.0
#include <berth/loadable/plugin.hpp>
#include <charconv>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::string_view kGroupLabel = "pod-group.example.com/name";
constexpr std::string_view kMinAnnotation = "pod-group.example.com/min-available";

// Lets the pods of a group go together: each pod gets its place and waits there, until as many
// have one as the group wants at least. Then all go. When one of them gives up, because its time
// is over or it was rejected, all that wait give up their places.
//
// A group is the pods of a namespace with the same label pod-group.example.com/name; its minimum
// is the annotation pod-group.example.com/min-available of each.
//
//   pluginConfig:
//   - name: CoScheduling
//     args: {timeoutSeconds: 60}
class CoScheduling final : public berth::PreEnqueuePlugin,
                           public berth::ReservePlugin,
                           public berth::PermitPlugin,
                           public berth::EnqueueExtensions {
 public:
  CoScheduling(const berth::ConfigValue& args, berth::Handle handle)
      : handle_(handle),
        groups_(handle.Counter("groups_total", "Groups of pods by how their wait ended.",
                               {"outcome"})) {
    int64_t seconds = 60;
    berth::FieldReader fields(args);
    fields.Read("timeoutSeconds", seconds);
    if (seconds < 1 || seconds > 900) fields.Invalid("timeoutSeconds", "must be 1 to 900");
    fields.Finish();
    timeout_ = std::chrono::seconds(seconds);
  }

  // A member that left room may let the group fit.
  std::vector<berth::ClusterEventWithHint> EventsToRegister() const override {
    return {{BERTH_KIND_ASSIGNED_POD, BERTH_ACTION_DELETE}, {BERTH_KIND_NODE, BERTH_ACTION_ADD}};
  }

  // Rejects no pod; learns which pods the group has.
  berth::Status PreEnqueue(const berth::PodView& pod) override {
    if (MinOf(pod) > 1) queued_[GroupOf(pod)].insert(std::string(pod.name()));
    return berth::Status::Success();
  }

  berth::Status Reserve(berth::CycleState&, const berth::PodView&, std::string_view) override {
    return berth::Status::Success();
  }

  berth::PermitResult Permit(berth::CycleState&, const berth::PodView& pod,
                             std::string_view) override {
    const int64_t min = MinOf(pod);
    if (min <= 1) return {};
    const Group group = GroupOf(pod);
    queued_[group].erase(std::string(pod.name()));
    // Places that are taken, this pod's and those of bound pods included.
    const int64_t placed = handle_.snapshot().CountPods(group.first, kGroupLabel, group.second);
    if (placed < min) {
      CallOthers(group);
      return berth::PermitResult::Wait(timeout_);
    }
    bool any = false;
    ForEachWaiting(group, [&](berth::WaitingPod& waiting) {
      waiting.Allow();
      any = true;
    });
    if (any) groups_.Add(1, {"released"});
    if (queued_[group].empty()) queued_.erase(group);
    return {};
  }

  // Also called when a pod was let go and could not be bound; then no pod waits any more.
  void Unreserve(berth::CycleState&, const berth::PodView& pod, std::string_view) override {
    if (MinOf(pod) <= 1) return;
    bool any = false;
    ForEachWaiting(GroupOf(pod), [&](berth::WaitingPod& waiting) {
      if (waiting.pod().uid() == pod.uid()) return;
      waiting.Reject("pod " + pod.Key() + " of the same group gave up its place");
      any = true;
    });
    if (any) groups_.Add(1, {"given_up"});
  }

 private:
  using Group = std::pair<std::string, std::string>;  // namespace and name

  static Group GroupOf(const berth::PodView& pod) {
    return {std::string(pod.namespace_()), std::string(pod.labels().Get(kGroupLabel))};
  }

  // 0 for a pod of no group.
  static int64_t MinOf(const berth::PodView& pod) {
    if (!pod.labels().Find(kGroupLabel)) return 0;
    const std::string_view text = pod.annotations().Get(kMinAnnotation);
    int64_t min = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), min);
    return error == std::errc() && end == text.data() + text.size() ? min : 0;
  }

  template <typename Visit>
  void ForEachWaiting(const Group& group, Visit visit) const {
    handle_.ForEachWaitingPod([&](berth::WaitingPod& waiting) {
      if (GroupOf(waiting.pod()) == group) visit(waiting);
    });
  }

  // The rest of the group need not sit out its backoff while places are held for it.
  void CallOthers(const Group& group) {
    std::set<std::string>& names = queued_[group];
    std::vector<std::string> keys;
    for (auto it = names.begin(); it != names.end();) {
      if (handle_.FindPendingPod(group.first, *it, [](const berth::PodView&) {})) {
        keys.push_back(group.first + "/" + *it++);
      } else {
        it = names.erase(it);
      }
    }
    handle_.Activate(keys);
  }

  berth::Handle handle_;
  berth::Metric groups_;
  berth::Duration timeout_{};
  // Members that have no place yet, as far as is known.
  std::map<Group, std::set<std::string>> queued_;
};

}  // namespace

BERTH_PLUGINS("1.0.0", berth::Define<CoScheduling>("CoScheduling"))
