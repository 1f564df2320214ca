// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "berth/node_set.h"

// What nodes are measured to use, for plugins that score by it.
namespace berth::inline in_tree {

// Where it is read.
struct NodeMetricsSource {
  enum class Type : uint8_t {
    kMetricsServer,  // metrics.k8s.io, through the API server
    kPrometheus,
    kLoadWatcher,  // the HTTP service of github.com/paypal/load-watcher
  };
  Type type = Type::kMetricsServer;
  std::string address = {};  // http:// or https://; "" with kMetricsServer
  std::string token = {};    // "": none is sent
  bool insecure_skip_verify = false;

  // What logs, metrics and messages call it: type and address, never the token. Sources of one name
  // are one; the token of the first counts.
  std::string Name() const;
};

// One resource of a node, in percent of the node's capacity. A load-watcher may have several values
// of it, so that the plugins differ in the one they take.
struct MeasuredResource {
  bool known = false;
  double average = 0;    // else, where there is none, the newest value
  double deviation = 0;  // the standard deviation; 0 where none is known
  // The last value that says that it is an average or the newest.
  std::optional<double> last = std::nullopt;

  friend bool operator==(const MeasuredResource&, const MeasuredResource&) = default;
};

struct NodeMetrics {
  std::string name;  // of the node
  MeasuredResource cpu;
  MeasuredResource memory;

  friend bool operator==(const NodeMetrics&, const NodeMetrics&) = default;
};

// A message to the scheduling thread: this is what the source knows now, in place of what it knew
// before.
struct NodesMeasured {
  std::string source;  // NodeMetricsSource::Name()
  // When what was measured ends, in seconds since 1970.
  int64_t window_end = 0;
  // The values are milli-CPU and bytes instead, to be held against the nodes' capacity.
  bool amounts = false;
  // Names are unique. None: what was known is too old.
  std::vector<NodeMetrics> nodes;
};

// What one source knows, as the running cycle sees it. It stays the same until a message comes; of
// a node that is not there, or that the source does not know, nothing is known.
//
// Thread safety: as Snapshot.
class MeasuredNodes {
 public:
  virtual ~MeasuredNodes() = default;
  // nullptr: nothing is known of the node.
  virtual const NodeMetrics* Find(std::string_view node_name) const = 0;
  // The same, of the node on that row of the snapshot: it is not searched by its name where it was
  // there when it was measured.
  virtual const NodeMetrics* FindOnRow(NodeRow, std::string_view node_name) const {
    return Find(node_name);
  }
  // Pods that were placed too late to be in what was measured: those that the scheduler has put
  // there, or has seen there for the first time, less than a minute before the end of it, and all
  // since then.
  virtual std::span<const std::shared_ptr<const api::Pod>> UnmeasuredPods(
      std::string_view node_name) const = 0;
};

}  // namespace berth::inline in_tree
