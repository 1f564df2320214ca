// SPDX-License-Identifier: Apache-2.0
#include "plugins/image_locality/image_locality.h"

#include <algorithm>

namespace berth::plugins {
namespace {

constexpr int64_t kMiB = 1024 * 1024;
constexpr int64_t kMinThreshold = 23 * kMiB;
constexpr int64_t kMaxThresholdPerImage = 1000 * kMiB;

// A name without tag or digest means its tag `latest`.
std::string NormalizedName(const std::string& name) {
  const size_t colon = name.rfind(':');
  const size_t slash = name.rfind('/');
  const bool tagged = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return tagged ? name : name + ":latest";
}

// Calls visit(name) for each image the pod uses, as often as it uses it.
template <typename Visit>
int64_t ForEachImage(const api::Pod& pod, Visit visit) {
  int64_t count = 0;
  const auto use = [&](const std::string& name) {
    visit(NormalizedName(name));
    ++count;
  };
  for (const api::Container& container : pod.spec.init_containers) use(container.image);
  for (const api::Container& container : pod.spec.containers) use(container.image);
  for (const api::Volume& volume : pod.spec.volumes) {
    if (volume.image.has_value()) use(volume.image->reference);
  }
  return count;
}

int64_t ScaledSize(const ImageState& image, size_t total_nodes) {
  const double spread = static_cast<double>(image.rows.size()) / static_cast<double>(total_nodes);
  return static_cast<int64_t>(static_cast<double>(image.size_bytes) * spread);
}

int64_t Priority(int64_t sum, int64_t image_count) {
  const int64_t max_threshold = kMaxThresholdPerImage * image_count;
  if (sum < kMinThreshold) {
    sum = kMinThreshold;
  } else if (sum > max_threshold) {
    sum = max_threshold;
  }
  return kMaxNodeScore * (sum - kMinThreshold) / (max_threshold - kMinThreshold);
}

}  // namespace

ScoreResult ImageLocality::Score(const CycleState&, const PodInfo& pod,
                                 const NodeView& node) const {
  const Snapshot& snapshot = node.snapshot();
  int64_t sum = 0;
  const int64_t count = ForEachImage(*pod.pod, [&](const std::string& name) {
    const auto image = snapshot.FindImage(name);
    if (image && std::binary_search(image->rows.begin(), image->rows.end(), node.row())) {
      sum += ScaledSize(*image, snapshot.num_nodes());
    }
  });
  return {Priority(sum, count)};
}

void ImageLocality::ScoreNodes(const CycleState&, const PodInfo& pod, const Snapshot& snapshot,
                               std::span<const NodeRow> nodes, std::span<int64_t> scores) const {
  std::vector<int64_t> sums;  // by row; empty until some node has some image
  const int64_t count = ForEachImage(*pod.pod, [&](const std::string& name) {
    const auto image = snapshot.FindImage(name);
    if (!image) return;
    sums.resize(snapshot.num_rows());
    const int64_t size = ScaledSize(*image, snapshot.num_nodes());
    for (NodeRow row : image->rows) sums[row] += size;
  });
  if (sums.empty()) {
    std::fill(scores.begin(), scores.end(), Priority(0, count));
    return;
  }
  for (size_t i = 0; i < nodes.size(); ++i) scores[i] = Priority(sums[nodes[i]], count);
}

}  // namespace berth::plugins
