// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/node_metrics.h"
#include "berth/result.h"
#include "src/config/feature_gates.h"
#include "src/config/types.h"
#include "src/informers/informer_event.h"

// A workload as plain values; tests/bench/engine/README.md has the format.
namespace berth::bench {

// Makes numbered copies of one object. Pods and nodes are decoded just once where the number
// stands only in their name, namespace and values of labels.
//
// Thread safety: one owner.
class ObjectTemplate {
 public:
  // `written` as in scenarios, without `repeat`. Errors: what no scenario may say either.
  static Result<ObjectTemplate> Make(informers::Kind kind, const ConfigValue& written);

  // `index` stands for "$i".
  api::ObjectPtr Copy(size_t index, std::string uid) const;
  std::string KeyOfCopy(size_t index) const;
  informers::Kind kind() const { return kind_; }

 private:
  informers::Kind kind_ = informers::Kind::kPod;
  ConfigValue expanded_;
  // What every copy is but for "$i" in its metadata; monostate where more depends on the number.
  api::ObjectPtr pattern_;
};

// Objects that come together.
struct Crowd {
  ObjectTemplate object;
  std::string count;  // the name of a number in Size, or the number itself
};

// Nodes that are measured to use the same.
struct MeasuredCrowd {
  NodeMetrics pattern;  // "$i" in its name counts the nodes
  std::string count;    // as in Crowd
};

// What others do to the cluster while pods are measured.
struct Meanwhile {
  size_t every = 1;    // measured pods
  Duration advance{};  // what the clock does each time
  std::vector<ObjectTemplate> create;
  std::vector<ObjectTemplate> recreate;        // goes the next time, comes again the time after
  std::optional<std::string> delete_pod = {};  // "$i" counts the times
  // The next time the nodes use again what they did before.
  std::vector<MeasuredCrowd> node_metrics;
};

struct WorkloadStep {
  std::vector<Crowd> create;
  std::vector<MeasuredCrowd> node_metrics;
  bool measured = false;
  std::vector<ObjectTemplate> before;  // what comes with each measured pod, before it
  std::vector<Meanwhile> meanwhile;
};

// One size of a workload.
struct Size {
  std::string name;
  std::map<std::string, size_t, std::less<>> numbers;
  // Pods a second that upstream's own benchmark asks of kube-scheduler; 0: none.
  size_t threshold = 0;
};

// Another workload that a workload's pods are held against, in the same run.
struct Peer {
  std::string workload;      // "": the same one, with the default configuration
  double costs_at_most = 1;  // times what a pod of the peer costs
};

struct Workload {
  std::string name;
  std::string about;
  config::FeatureGates feature_gates;
  config::SchedulerConfiguration configuration;
  std::optional<Peer> peer;
  std::vector<Size> sizes;  // the first is measured unless another is named
  std::vector<WorkloadStep> steps;

  // nullptr: there is none of that name.
  const Size* FindSize(std::string_view size) const;
};

// Reads a workload strictly. Errors begin with the file and the line.
//
// Thread safety: any thread.
Result<Workload> ReadWorkload(const std::string& file_name);

// What `workload` is held against; it runs in each size of `workload`. nullopt: nothing. Errors:
// there is none of that name in `workloads`, or a size lacks a number that it names.
Result<std::optional<Workload>> PeerOf(const Workload& workload,
                                       const std::vector<Workload>& workloads);

// How many `count`, of a crowd, is in this size.
size_t CountOf(const std::string& count, const Size& size);

}  // namespace berth::bench
