// SPDX-License-Identifier: Apache-2.0
#include "src/cache/node_metrics_table.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace berth::cache {
namespace {

// How long it takes until what a new pod uses is measured: Trimaran's number, the mean of what lies
// between none and two rounds of an agent that reports once a minute.
constexpr int64_t kReportingSeconds = 60;
// Older pods are dropped though no source has said anything: what the sources knew is too old by
// then, and what they tell next ends later.
constexpr int64_t kMostSeconds = 10 * 60;

int64_t SecondsOf(Time wall) {
  return std::chrono::floor<std::chrono::seconds>(wall).time_since_epoch().count();
}

int64_t PlacedAt(const api::Pod& pod, Time wall_now) {
  const auto& started = pod.status.start_time;
  return SecondsOf(started ? std::min(*started, wall_now) : wall_now);
}

// False: there is nothing to hold the amount against.
bool ToPercentOf(double capacity, MeasuredResource& resource) {
  if (!resource.known || capacity <= 0) return false;
  resource.average = 100 * resource.average / capacity;
  resource.deviation = 100 * resource.deviation / capacity;
  if (resource.last) resource.last = 100 * *resource.last / capacity;
  return true;
}

}  // namespace

const NodeMetrics* NodeMetricsTable::Source::Find(std::string_view node_name) const {
  if (nodes.empty()) return nullptr;
  const auto found = nodes.find(node_name);
  return found == nodes.end() ? nullptr : &found->second;
}

const NodeMetrics* NodeMetricsTable::Source::FindOnRow(NodeRow row,
                                                       std::string_view node_name) const {
  const NodeMetrics* measured = row < by_row.size() ? by_row[row] : nullptr;
  return measured != nullptr && measured->name == node_name ? measured : Find(node_name);
}

std::span<const std::shared_ptr<const api::Pod>> NodeMetricsTable::Source::UnmeasuredPods(
    std::string_view node_name) const {
  if (table_.recent_.empty()) return {};
  const auto found = table_.recent_.find(node_name);
  if (found == table_.recent_.end()) return {};
  const RecentPods& recent = found->second;
  const auto first = std::ranges::upper_bound(recent.seconds, window_end - kReportingSeconds);
  return std::span(recent.pods)
      .subspan(static_cast<size_t>(std::distance(recent.seconds.begin(), first)));
}

const MeasuredNodes& NodeMetricsTable::Watch(const NodeMetricsSource& source, Time wall_now) {
  const bool first = !watches();
  std::unique_ptr<Source>& table = sources_[source.Name()];
  if (table == nullptr) table = std::make_unique<Source>(*this);
  if (first) {
    cache_.ForEachPod(
        [&](const CachedPod& pod) { Place(pod.info->pod, cache_.node_name(pod.row), wall_now); });
  }
  return *table;
}

void NodeMetricsTable::Take(const NodesMeasured& measured) {
  const auto found = sources_.find(measured.source);
  if (found == sources_.end()) return;
  Source& source = *found->second;
  base::StringMap<NodeMetrics> nodes;
  nodes.reserve(measured.nodes.size());  // so that none moves
  std::vector<const NodeMetrics*> by_row(cache_.num_rows());
  NodeSet changed(cache_.num_rows());
  const auto note = [&changed](NodeRow row) {
    if (row != kNoRow) changed.Set(row);
  };
  size_t known_before = 0;
  for (const NodeMetrics& reported : measured.nodes) {
    const NodeRow row = cache_.FindNode(reported.name);
    NodeMetrics node = reported;
    if (measured.amounts && !ToPercent(row, node)) continue;
    const NodeMetrics* before = source.FindOnRow(row, reported.name);
    if (before == nullptr || *before != node) note(row);
    const auto [known, is_new] = nodes.insert_or_assign(reported.name, std::move(node));
    if (before != nullptr && is_new) ++known_before;
    if (row != kNoRow) by_row[row] = &known->second;
  }
  if (known_before < source.nodes.size()) {
    for (const auto& [name, node] : source.nodes) {
      if (!nodes.contains(name)) note(cache_.FindNode(name));
    }
  }
  // Which of these are measured by now may have changed, too.
  if (source.window_end != measured.window_end) {
    for (const auto& [name, pods] : recent_) note(cache_.FindNode(name));
  }
  changed.ForEach([this](NodeRow row) { cache_.NoteMeasured(row); });
  source.nodes = std::move(nodes);
  source.by_row = std::move(by_row);
  source.window_end = measured.window_end;
  DropMeasuredPods();
}

bool NodeMetricsTable::ToPercent(NodeRow row, NodeMetrics& node) const {
  if (row == kNoRow) return false;
  const api::ResourceList& capacity = cache_.node(row).status.capacity;
  const api::Quantity* cpu = api::Find(capacity, "cpu");
  const api::Quantity* memory = api::Find(capacity, "memory");
  const double milli_cpu = cpu == nullptr ? 0 : static_cast<double>(cpu->MilliValue());
  const double bytes = memory == nullptr ? 0 : static_cast<double>(memory->Value());
  if (!ToPercentOf(milli_cpu, node.cpu)) node.cpu = {};
  if (!ToPercentOf(bytes, node.memory)) node.memory = {};
  return node.cpu.known || node.memory.known;
}

void NodeMetricsTable::Place(const std::shared_ptr<const api::Pod>& pod, std::string_view node_name,
                             Time wall_now) {
  const std::string& uid = pod->metadata.uid;
  if (const auto known = node_of_pod_.find(uid); known != node_of_pod_.end()) {
    if (known->second == node_name) return;
    Unplace(*pod);
  }
  const int64_t now = SecondsOf(wall_now);
  const int64_t seconds = PlacedAt(*pod, wall_now);
  if (seconds <= now - kMostSeconds) return;
  RecentPods& recent = recent_[node_name];
  DropUntil(now - kMostSeconds, recent);
  // The first lists tell of pods in another order than that in which they started.
  const auto at = std::ranges::upper_bound(recent.seconds, seconds);
  recent.pods.insert(recent.pods.begin() + std::distance(recent.seconds.begin(), at), pod);
  recent.seconds.insert(at, seconds);
  node_of_pod_.emplace(uid, node_name);
}

void NodeMetricsTable::Unplace(const api::Pod& pod) {
  const auto known = node_of_pod_.find(pod.metadata.uid);
  if (known == node_of_pod_.end()) return;
  const auto node = recent_.find(known->second);
  node_of_pod_.erase(known);
  RecentPods& recent = node->second;
  const auto of_pod = [&](const auto& placed) { return placed->metadata.uid == pod.metadata.uid; };
  const auto at = std::ranges::find_if(recent.pods, of_pod);
  recent.seconds.erase(recent.seconds.begin() + std::distance(recent.pods.begin(), at));
  recent.pods.erase(at);
  if (recent.pods.empty()) recent_.erase(node);
}

void NodeMetricsTable::DropUntil(int64_t seconds, RecentPods& recent) {
  const auto kept = std::ranges::upper_bound(recent.seconds, seconds);
  const auto count = std::distance(recent.seconds.begin(), kept);
  for (auto pod = recent.pods.begin(); pod != recent.pods.begin() + count; ++pod) {
    node_of_pod_.erase((*pod)->metadata.uid);
  }
  recent.pods.erase(recent.pods.begin(), recent.pods.begin() + count);
  recent.seconds.erase(recent.seconds.begin(), kept);
}

void NodeMetricsTable::DropMeasuredPods() {
  int64_t measured_until = INT64_MAX;
  for (const auto& [name, source] : sources_) {
    if (!source->nodes.empty()) measured_until = std::min(measured_until, source->window_end);
  }
  if (measured_until == INT64_MAX) return;
  absl::erase_if(recent_, [&](auto& entry) {
    DropUntil(measured_until - kReportingSeconds, entry.second);
    return entry.second.pods.empty();
  });
}

}  // namespace berth::cache
