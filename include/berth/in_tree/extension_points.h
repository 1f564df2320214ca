// SPDX-License-Identifier: Apache-2.0
#pragma once

// The extension points. What needs all of them (struct Plugin, the lists of a profile, the fields
// of the configuration, the labels of metrics, what a loaded plugin has) is generated from here.
//
// X(Name, member, field, build_order): the interface is <Name>Plugin, `member` names the point in
// structs and `field` in a configuration file. In the order of a pod's way through a profile;
// kube-scheduler builds a profile in `build_order`, and so reports the first of several errors.
#define BERTH_EXTENSION_POINTS(X)            \
  X(PreEnqueue, pre_enqueue, preEnqueue, 10) \
  X(QueueSort, queue_sort, queueSort, 11)    \
  X(PreFilter, pre_filter, preFilter, 0)     \
  X(Filter, filter, filter, 1)               \
  X(PostFilter, post_filter, postFilter, 2)  \
  X(PreScore, pre_score, preScore, 4)        \
  X(Score, score, score, 5)                  \
  X(Reserve, reserve, reserve, 3)            \
  X(Permit, permit, permit, 9)               \
  X(PreBind, pre_bind, preBind, 6)           \
  X(Bind, bind, bind, 7)                     \
  X(PostBind, post_bind, postBind, 8)

// The points at which pod groups are decided, in the same form. Loaded plugins do not have them.
#define BERTH_POD_GROUP_POINTS(X)                                 \
  X(PlacementGenerate, placement_generate, placementGenerate, 12) \
  X(PlacementScore, placement_score, placementScore, 13)          \
  X(PodGroupPostFilter, pod_group_post_filter, podGroupPostFilter, 14)

// What a plugin may offer besides. X(Interface, member).
#define BERTH_PLUGIN_EXTENSIONS(X)               \
  X(PointsAwarePlugin, points_aware)             \
  X(MemoryPlugin, memory)                        \
  X(EnqueueExtensions, enqueue_extensions)       \
  X(PreFilterExtensions, pre_filter_extensions)  \
  X(UpdatablePreFilterPlugin, update_pre_filter) \
  X(ColumnFilterPlugin, column_filter)           \
  X(ClaimPreviewPlugin, claim_preview)           \
  X(PreemptionPlugin, preemption)                \
  X(UpdatablePreScorePlugin, update_pre_score)   \
  X(ColumnScorePlugin, column_score)             \
  X(ScoreExtensions, score_extensions)           \
  X(PlacementFeasiblePlugin, placement_feasible)
