// SPDX-License-Identifier: Apache-2.0
#include "src/engine/diagnosis.h"

#include <algorithm>
#include <utility>

#include "berth/fit_error.h"

namespace berth::engine {
namespace {

void InsertSorted(std::vector<std::string>& names, std::string_view name) {
  const auto it = std::lower_bound(names.begin(), names.end(), name);
  if (it == names.end() || *it != name) names.emplace(it, name);
}

}  // namespace

void NodeStatuses::Reset(size_t rows) {
  explicit_.Assign(rows, false);
  num_explicit_ = 0;
  by_row_.resize(rows);
  absent_ = Status(Code::kUnschedulableAndUnresolvable);
}

void NodeStatuses::Set(NodeRow row, Status status, std::string_view plugin) {
  if (!explicit_.Test(row)) {
    explicit_.Set(row);
    ++num_explicit_;
  }
  by_row_[row] = {status, plugin};
}

Status NodeStatuses::Get(NodeRow row) const {
  return explicit_.Test(row) ? by_row_[row].status : absent_;
}

std::string_view NodeStatuses::plugin(NodeRow row) const {
  return explicit_.Test(row) ? by_row_[row].plugin : std::string_view();
}

void Diagnosis::Reset(size_t rows) {
  num_all_nodes = 0;
  statuses.Reset(rows);
  pre_filter_message.clear();
  post_filter_message.clear();
  unschedulable_plugins.clear();
  pending_plugins.clear();
}

void Diagnosis::AddPlugin(std::string_view plugin, const Status& status) {
  if (plugin.empty() || !status.rejected()) return;
  InsertSorted(unschedulable_plugins, plugin);
  if (status.code() == Code::kPending) InsertSorted(pending_plugins, plugin);
}

void Diagnosis::AddPlugin(std::string_view plugin) { InsertSorted(unschedulable_plugins, plugin); }

std::string FitErrorMessage(const Diagnosis& diagnosis) {
  std::string message = FitErrorHead(diagnosis.num_all_nodes);
  if (!diagnosis.pre_filter_message.empty()) {
    message += ' ' + diagnosis.pre_filter_message + '.';
  } else {
    ReasonHistogram histogram;
    const NodeStatuses& statuses = diagnosis.statuses;
    statuses.explicit_nodes().ForEach(
        [&](NodeRow row) { histogram.Add(statuses.Get(row).reasons(), 1); });
    if (statuses.num_explicit() < diagnosis.num_all_nodes) {
      histogram.Add(statuses.absent().reasons(), diagnosis.num_all_nodes - statuses.num_explicit());
    }
    message += histogram.ToString();
  }
  if (!diagnosis.post_filter_message.empty()) message += ' ' + diagnosis.post_filter_message;
  return message;
}

std::string FitErrorMessage(const Status& status) {
  ReasonHistogram histogram;
  histogram.Add(status.reasons(), 1);
  return FitErrorHead(1) + histogram.ToString();
}

}  // namespace berth::engine
