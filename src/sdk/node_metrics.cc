// SPDX-License-Identifier: Apache-2.0
#include "berth/in_tree/node_metrics.h"

namespace berth::inline in_tree {

std::string NodeMetricsSource::Name() const {
  switch (type) {
    case Type::kMetricsServer:
      return "KubernetesMetricsServer";
    case Type::kPrometheus:
      return "Prometheus " + address;
    case Type::kLoadWatcher:
      return "load-watcher " + address;
  }
  return "";
}

}  // namespace berth::inline in_tree
