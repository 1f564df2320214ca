// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/loadable/cpp/status.hpp"

BERTH_NAMESPACE_BEGIN

namespace internal {

template <typename T, typename = void>
struct HasBytes : std::false_type {};
template <typename T>
struct HasBytes<T, std::void_t<decltype(std::declval<const T&>().bytes())>> : std::true_type {};

}  // namespace internal

using ResourceId = uint32_t;
inline constexpr ResourceId kCpu = BERTH_CPU;                             // in milli-cores
inline constexpr ResourceId kMemory = BERTH_MEMORY;                       // in bytes
inline constexpr ResourceId kEphemeralStorage = BERTH_EPHEMERAL_STORAGE;  // in bytes

// Labels or annotations; sorted by key.
class StringMap {
 public:
  explicit StringMap(berth_map map) : map_(map) {}

  std::optional<std::string_view> Find(std::string_view key) const {
    berth_string value{};
    if (!internal::host->map_find(map_, internal::C(key), &value)) return std::nullopt;
    return internal::Cpp(value);
  }
  // The value, or "" when the key is not there.
  std::string_view Get(std::string_view key) const { return Find(key).value_or(""); }
  size_t size() const { return internal::host->map_size(map_); }
  // Calls visit(key, value) for each entry.
  template <typename Visit>
  void ForEach(Visit visit) const {
    berth_string key{};
    berth_string value{};
    for (size_t i = 0; internal::host->map_at(map_, i, &key, &value); ++i) {
      visit(internal::Cpp(key), internal::Cpp(value));
    }
  }
  const berth_map& c() const { return map_; }

 private:
  berth_map map_;
};

struct Toleration {
  std::string_view key;
  std::string_view op;  // "" and Equal compare values, Exists ignores them
  std::string_view value;
  std::string_view effect;  // "": every effect
};

struct Taint {
  std::string_view key;
  std::string_view value;
  std::string_view effect;
};

// A volume of a pod; see berth_volume.
struct Volume {
  std::string_view in_tree_plugin;
  std::string_view disk;
  std::optional<std::string_view> claim;  // nullopt: it stands for none
  bool ephemeral = false;
};

class PodView {
 public:
  explicit PodView(const berth_pod& pod) : pod_(pod) {}

  std::string_view name() const { return Text(BERTH_POD_NAME); }
  std::string_view namespace_() const { return Text(BERTH_POD_NAMESPACE); }
  std::string_view uid() const { return Text(BERTH_POD_UID); }
  std::string_view scheduler_name() const { return Text(BERTH_POD_SCHEDULER_NAME); }
  std::string_view node_name() const { return Text(BERTH_POD_NODE_NAME); }
  std::string_view nominated_node_name() const { return Text(BERTH_POD_NOMINATED_NODE_NAME); }
  std::string_view preemption_policy() const { return Text(BERTH_POD_PREEMPTION_POLICY); }
  std::string_view phase() const { return Text(BERTH_POD_PHASE); }
  // The owner that controls it; "" when none does.
  std::string_view owner_kind() const { return Text(BERTH_POD_OWNER_KIND); }
  std::string_view owner_name() const { return Text(BERTH_POD_OWNER_NAME); }
  std::string_view owner_uid() const { return Text(BERTH_POD_OWNER_UID); }
  // "namespace/name".
  std::string Key() const { return std::string(namespace_()) + "/" + std::string(name()); }

  int32_t priority() const { return static_cast<int32_t>(Number(BERTH_POD_PRIORITY)); }
  bool host_network() const { return Number(BERTH_POD_HOST_NETWORK) != 0; }
  Time creation_time() const { return internal::ToTime(Number(BERTH_POD_CREATION_TIME)); }
  bool being_deleted() const { return Number(BERTH_POD_DELETION_TIME) != 0; }
  // Since 1970 when it has not started.
  Time start_time() const { return internal::ToTime(Number(BERTH_POD_START_TIME)); }

  // Calls visit(claim, ephemeral) for each PersistentVolumeClaim that the volumes name, in the
  // pod's namespace; an ephemeral volume's claim is the pod's own.
  template <typename Visit>
  void ForEachClaim(Visit visit) const {
    internal::host->pod_each_claim(
        &pod_,
        [](void* context, berth_string claim, bool ephemeral) {
          (*static_cast<Visit*>(context))(internal::Cpp(claim), ephemeral);
          return true;
        },
        &visit);
  }

  // Calls visit(Volume) for each volume, until it returns false.
  template <typename Visit>
  void ForEachVolume(Visit visit) const {
    internal::host->pod_each_volume(
        &pod_,
        [](void* context, const berth_volume* volume) {
          Volume view;
          view.in_tree_plugin = internal::Cpp(volume->in_tree_plugin);
          view.disk = internal::Cpp(volume->disk);
          if (volume->has_claim) view.claim = internal::Cpp(volume->claim);
          view.ephemeral = volume->ephemeral;
          return static_cast<bool>((*static_cast<Visit*>(context))(view));
        },
        &visit);
  }
  int64_t num_topology_spread_constraints() const {
    return Number(BERTH_POD_NUM_TOPOLOGY_SPREAD_CONSTRAINTS);
  }

  StringMap labels() const { return StringMap(internal::host->pod_labels(&pod_)); }
  StringMap annotations() const { return StringMap(internal::host->pod_annotations(&pod_)); }
  StringMap node_selector() const { return StringMap(internal::host->pod_node_selector(&pod_)); }
  // What resource scores count; see berth_host::pod_scored_requests.
  std::vector<int64_t> ScoredRequests(const std::vector<std::string>& resources) const {
    std::vector<berth_string> names;
    names.reserve(resources.size());
    for (const std::string& resource : resources) names.push_back(internal::C(resource));
    std::vector<int64_t> amounts(resources.size());
    internal::host->pod_scored_requests(&pod_, names.data(), amounts.data(), names.size());
    return amounts;
  }
  int64_t request(ResourceId id) const { return internal::host->pod_request(&pod_, id); }
  std::vector<Toleration> tolerations() const {
    std::vector<Toleration> all;
    berth_toleration one{};
    for (size_t i = 0; internal::host->pod_toleration(&pod_, i, &one); ++i) {
      all.push_back({internal::Cpp(one.key), internal::Cpp(one.op), internal::Cpp(one.value),
                     internal::Cpp(one.effect)});
    }
    return all;
  }

  const berth_pod& c() const { return pod_; }

 private:
  std::string_view Text(int32_t name) const {
    return internal::Cpp(internal::host->pod_text(&pod_, name));
  }
  int64_t Number(int32_t name) const { return internal::host->pod_number(&pod_, name); }

  berth_pod pod_;
};

class Snapshot;

// A node of the cluster as the running cycle sees it, or one of an event, which has no row, pods or
// amounts.
class NodeView {
 public:
  explicit NodeView(const berth_node& node) : node_(node) {}

  std::string_view name() const {
    return internal::Cpp(internal::host->node_text(&node_, BERTH_NODE_NAME));
  }
  uint32_t row() const { return node_.row; }
  bool unschedulable() const { return Number(BERTH_NODE_UNSCHEDULABLE) != 0; }
  int64_t allowed_pods() const { return Number(BERTH_NODE_ALLOWED_PODS); }
  int64_t pod_count() const { return Number(BERTH_NODE_POD_COUNT); }
  StringMap labels() const { return StringMap(internal::host->node_labels(&node_)); }
  StringMap annotations() const { return StringMap(internal::host->node_annotations(&node_)); }
  int64_t allocatable(ResourceId id) const { return internal::host->node_allocatable(&node_, id); }
  int64_t requested(ResourceId id) const { return internal::host->node_requested(&node_, id); }
  // Of cpu or memory, with defaults for containers that ask for none.
  int64_t non_zero_requested(ResourceId id) const {
    return internal::host->node_non_zero_requested(&node_, id);
  }
  // In whole units; nullopt: the node names no such resource.
  std::optional<int64_t> FindAllocatable(std::string_view resource) const {
    int64_t amount = 0;
    if (!internal::host->node_find_allocatable(&node_, internal::C(resource), &amount)) {
      return std::nullopt;
    }
    return amount;
  }
  std::vector<Taint> taints() const {
    std::vector<Taint> all;
    berth_taint one{};
    for (size_t i = 0; internal::host->node_taint(&node_, i, &one); ++i) {
      all.push_back({internal::Cpp(one.key), internal::Cpp(one.value), internal::Cpp(one.effect)});
    }
    return all;
  }
  // The cluster that it is of. Not of a node in an event.
  Snapshot snapshot() const;
  const berth_node& c() const { return node_; }
  // Calls visit(PodView) for each pod on the node, until it returns false.
  template <typename Visit>
  void ForEachPod(Visit visit) const;

 private:
  int64_t Number(int32_t name) const { return internal::host->node_number(&node_, name); }

  berth_node node_;
};

// A set of node rows, one bit a row.
template <typename Word>
class BasicNodeSet {
 public:
  BasicNodeSet(Word* words, size_t num_words) : words_(words), num_words_(num_words) {}

  bool Test(uint32_t row) const { return ((words_[row / 64] >> (row % 64)) & 1) != 0; }
  void Clear(uint32_t row) { words_[row / 64] &= ~(uint64_t{1} << (row % 64)); }
  // Calls visit(row) for each row, ascending; it may clear the row it is given.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (size_t i = 0; i < num_words_; ++i) {
      uint64_t word = words_[i];
      for (uint32_t row = static_cast<uint32_t>(i * 64); word != 0; word >>= 1, ++row) {
        if ((word & 1) != 0) visit(row);
      }
    }
  }
  Word* words() const { return words_; }
  size_t num_words() const { return num_words_; }

 private:
  Word* words_;
  size_t num_words_;
};
using NodeSet = BasicNodeSet<uint64_t>;
using ConstNodeSet = BasicNodeSet<const uint64_t>;

// One value a row; reads as 0 everywhere when no node has any.
class Column {
 public:
  explicit Column(const int64_t* values) : values_(values) {}
  int64_t operator[](uint32_t row) const { return values_ == nullptr ? 0 : values_[row]; }

 private:
  const int64_t* values_;
};

// The cluster as the running cycle sees it.
class Snapshot {
 public:
  explicit Snapshot(const berth_nodes* nodes) : nodes_(nodes) {}

  size_t num_nodes() const { return internal::host->nodes_count(nodes_); }
  size_t num_rows() const { return internal::host->nodes_num_rows(nodes_); }
  // The rows that hold a node.
  ConstNodeSet nodes() const {
    return {internal::host->nodes_words(nodes_), (num_rows() + 63) / 64};
  }
  // `row` must hold a node.
  NodeView node(uint32_t row) const {
    berth_node node{};
    internal::host->nodes_at(nodes_, row, &node);
    return NodeView(node);
  }
  std::optional<NodeView> FindNode(std::string_view name) const {
    berth_node node{};
    if (!internal::host->nodes_find(nodes_, internal::C(name), &node)) return std::nullopt;
    return NodeView(node);
  }
  // Calls visit(NodeView) for each node.
  template <typename Visit>
  void ForEachNode(Visit visit) const {
    nodes().ForEach([&](uint32_t row) { visit(node(row)); });
  }

  Column allocatable(ResourceId id) const { return Of(BERTH_COLUMN_ALLOCATABLE, id); }
  Column requested(ResourceId id) const { return Of(BERTH_COLUMN_REQUESTED, id); }
  Column non_zero_requested(ResourceId id) const { return Of(BERTH_COLUMN_NON_ZERO_REQUESTED, id); }
  Column allowed_pods() const { return Of(BERTH_COLUMN_ALLOWED_PODS, 0); }
  Column pod_count() const { return Of(BERTH_COLUMN_POD_COUNT, 0); }

  // The rows of nodes with the label, 64 a word; for NodeSet. Scheduling thread.
  std::vector<uint64_t> NodesWithLabel(std::string_view key, std::string_view value) const {
    std::vector<uint64_t> words((num_rows() + 63) / 64);
    internal::host->nodes_with_label(nodes_, internal::C(key), internal::C(value), words.data());
    return words;
  }
  // How many pods of the namespace with the label are placed or assumed. Scheduling thread.
  int64_t CountPods(std::string_view namespace_, std::string_view key,
                    std::string_view value) const {
    return internal::host->nodes_count_pods(nodes_, internal::C(namespace_), internal::C(key),
                                            internal::C(value));
  }
  const berth_nodes* c() const { return nodes_; }

 private:
  Column Of(int32_t column, ResourceId id) const {
    return Column(internal::host->nodes_column(nodes_, column, id));
  }

  const berth_nodes* nodes_;
};

inline Snapshot NodeView::snapshot() const { return Snapshot(internal::host->node_nodes(&node_)); }

// Which labels a pod must have. Thread safety: immutable.
class Selector {
 public:
  explicit Selector(berth_selector* selector)
      : selector_(selector, internal::host->selector_free) {}
  static Selector OfLabels(const StringMap& labels) {
    return Selector(internal::host->selector_of_labels(labels.c()));
  }

  bool Matches(const StringMap& labels) const {
    return internal::host->selector_matches(selector_.get(), labels.c());
  }
  const berth_selector* c() const { return selector_.get(); }

 private:
  std::shared_ptr<berth_selector> selector_;
};

// How many of the pods that a selector matches are on each node; copies share them. See
// berth_host::counts_make.
class Counts {
 public:
  // Scheduling thread.
  static Counts Of(const Snapshot& snapshot, std::string_view namespace_, const Selector& selector,
                   bool skip_terminating) {
    return Counts(internal::host->counts_make(snapshot.c(), internal::C(namespace_), selector.c(),
                                              skip_terminating));
  }
  // The same counts, which change no more.
  Counts Copy() const { return Counts(internal::host->counts_copy(counts_.get())); }

  int64_t operator[](uint32_t row) const {
    int64_t pods = 0;
    Read(&row, &pods, 1);
    return pods;
  }
  // Sets pods[i] to how many are on rows[i].
  void Read(const uint32_t* rows, int64_t* pods, size_t n) const {
    internal::host->counts_read(counts_.get(), rows, pods, n);
  }
  // Calls visit(row, pods) for each row with a pod, ascending, until it returns false.
  template <typename Visit>
  void ForEach(Visit visit) const {
    internal::host->counts_each(
        counts_.get(),
        [](void* context, uint32_t row, int64_t pods) {
          return static_cast<bool>((*static_cast<Visit*>(context))(row, pods));
        },
        &visit);
  }
  // About how much memory they take, in parts where copies share them.
  size_t bytes() const {
    return internal::host->counts_bytes(counts_.get()) / static_cast<size_t>(counts_.use_count());
  }

 private:
  explicit Counts(berth_counts* counts) : counts_(counts, internal::host->counts_free) {}

  std::shared_ptr<berth_counts> counts_;
};

// An object of a cluster event, or of Handle::FindObject and ForEachObject.
class ObjectView {
 public:
  explicit ObjectView(const berth_object* object) : object_(object) {}

  // False: an addition has no old object, a deletion no new one.
  explicit operator bool() const { return object_ != nullptr; }
  std::optional<PodView> pod() const {
    berth_pod pod{};
    if (object_ == nullptr || !internal::host->object_pod(object_, &pod)) return std::nullopt;
    return PodView(pod);
  }
  std::optional<NodeView> node() const {
    berth_node node{};
    if (object_ == nullptr || !internal::host->object_node(object_, &node)) return std::nullopt;
    return NodeView(node);
  }
  // Of objects that are there.
  std::string_view name() const { return Text(BERTH_OBJECT_NAME); }
  std::string_view namespace_() const { return Text(BERTH_OBJECT_NAMESPACE); }
  std::string_view uid() const { return Text(BERTH_OBJECT_UID); }
  // Of volumes and what is near them, "" and 0 elsewhere; types.h says which kind has what.
  std::string_view storage_class() const { return Text(BERTH_OBJECT_STORAGE_CLASS); }
  std::string_view phase() const { return Text(BERTH_OBJECT_PHASE); }
  std::string_view volume_name() const { return Text(BERTH_OBJECT_VOLUME_NAME); }
  std::string_view claim_namespace() const { return Text(BERTH_OBJECT_CLAIM_NAMESPACE); }
  std::string_view claim_name() const { return Text(BERTH_OBJECT_CLAIM_NAME); }
  std::string_view driver() const { return Text(BERTH_OBJECT_DRIVER); }
  std::string_view volume_handle() const { return Text(BERTH_OBJECT_VOLUME_HANDLE); }
  std::string_view node_name() const { return Text(BERTH_OBJECT_NODE_NAME); }
  std::string_view binding_mode() const { return Text(BERTH_OBJECT_BINDING_MODE); }
  std::string_view in_tree_plugin() const { return Text(BERTH_OBJECT_IN_TREE_PLUGIN); }
  std::string_view disk() const { return Text(BERTH_OBJECT_DISK); }
  std::string_view spec_storage_class() const { return Text(BERTH_OBJECT_SPEC_STORAGE_CLASS); }
  // Of the owner that controls it.
  std::string_view owner_uid() const { return Text(BERTH_OBJECT_OWNER_UID); }
  // The labels by which a Service selects pods.
  StringMap selector() const { return StringMap(internal::host->object_selector(object_)); }
  // Of a kind of the plugin's own: the whole object, good as long as berth_host::object_json says.
  std::string_view json() const { return internal::Cpp(internal::host->object_json(object_)); }
  // In bytes.
  int64_t storage() const { return internal::host->object_number(object_, BERTH_OBJECT_STORAGE); }
  // Whether the volume can be used on the node, or the capacity is about it.
  bool Reaches(const NodeView& node) const {
    return internal::host->object_reaches(object_, &node.c());
  }
  StringMap labels() const { return StringMap(internal::host->object_labels(object_)); }
  StringMap annotations() const { return StringMap(internal::host->object_annotations(object_)); }

 private:
  std::string_view Text(int32_t name) const {
    return internal::Cpp(internal::host->object_text(object_, name));
  }

  const berth_object* object_;
};

// What the plugin keeps for one pod between its extension points: one object, of one type.
class CycleState {
 public:
  explicit CycleState(berth_state* state) : read_(state), write_(state) {}
  // Of an extension point that only reads.
  explicit CycleState(const berth_state* state) : read_(state) {}

  // Keeps `data`. Where AddPod and RemovePod are to change it, T must be copyable. Where it grows
  // with the cluster or with what pods ask for, T has `size_t bytes() const`; see
  // berth_host::state_set.
  template <typename T>
  T& Write(std::unique_ptr<T> data) {
    T& kept = *data;
    void* (*clone)(const void*) = nullptr;
    if constexpr (std::is_copy_constructible_v<T>) {
      clone = [](const void* from) -> void* { return new T(*static_cast<const T*>(from)); };
    }
    size_t (*bytes)(const void*) = nullptr;
    if constexpr (internal::HasBytes<T>::value) {
      bytes = [](const void* of) -> size_t { return static_cast<const T*>(of)->bytes(); };
    }
    internal::host->state_set(
        write_, data.release(), [](void* old) { delete static_cast<T*>(old); }, clone, bytes);
    return kept;
  }
  // What was kept, or nullptr.
  template <typename T>
  const T* Read() const {
    return static_cast<const T*>(internal::host->state_get(read_));
  }
  template <typename T>
  T* Mutable() {
    return static_cast<T*>(internal::host->state_get(read_));
  }

 private:
  const berth_state* read_;
  berth_state* write_ = nullptr;
};

template <typename Visit>
void NodeView::ForEachPod(Visit visit) const {
  internal::host->node_each_pod(
      &node_,
      [](void* context, const berth_pod* pod) {
        return static_cast<bool>((*static_cast<Visit*>(context))(PodView(*pod)));
      },
      &visit);
}

BERTH_NAMESPACE_END
