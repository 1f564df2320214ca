// SPDX-License-Identifier: Apache-2.0
#include "src/engine/diagnosis.h"

#include <algorithm>

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
  verdicts_.clear();
  ids_.clear();
  last_ = 0;
  verdict_of_.resize(rows);
  absent_ = Status(Code::kUnschedulableAndUnresolvable);
}

void NodeStatuses::Grow(size_t rows) {
  explicit_.Resize(rows);
  verdict_of_.resize(rows);
}

NodeStatuses::VerdictId NodeStatuses::IdOf(const Status& status, std::string_view plugin) {
  const auto [at, is_new] = ids_.try_emplace(KeyOf(status, plugin), verdicts_.size());
  if (is_new) verdicts_.push_back({status, plugin, 0});
  return at->second;
}

void NodeStatuses::Set(NodeRow row, Status status, std::string_view plugin) {
  Clear(row);
  if (last_ >= verdicts_.size() || verdicts_[last_].status != status ||
      verdicts_[last_].plugin.data() != plugin.data()) {
    last_ = IdOf(status, plugin);
  }
  explicit_.Set(row);
  ++num_explicit_;
  verdict_of_[row] = last_;
  ++verdicts_[last_].num_nodes;
}

void NodeStatuses::Clear(NodeRow row) {
  if (!explicit_.Test(row)) return;
  explicit_.Clear(row);
  --num_explicit_;
  --verdicts_[verdict_of_[row]].num_nodes;
}

void NodeStatuses::Intern(ReasonTable& reasons) {
  ids_.clear();
  for (VerdictId id = 0; id < verdicts_.size(); ++id) {
    Status& status = verdicts_[id].status;
    status = Status(status.code(), reasons.Intern(status.reasons()));
    ids_.try_emplace(KeyOf(status, verdicts_[id].plugin), id);
  }
  absent_ = Status(absent_.code(), reasons.Intern(absent_.reasons()));
}

Status NodeStatuses::Get(NodeRow row) const {
  return explicit_.Test(row) ? verdicts_[verdict_of_[row]].status : absent_;
}

std::string_view NodeStatuses::plugin(NodeRow row) const {
  return explicit_.Test(row) ? verdicts_[verdict_of_[row]].plugin : std::string_view();
}

size_t NodeStatuses::bytes() const {
  return explicit_.words().size_bytes() + verdict_of_.capacity() * sizeof(VerdictId) +
         verdicts_.capacity() * sizeof(Verdict) +
         ids_.capacity() * sizeof(std::pair<Key, VerdictId>);
}

void Diagnosis::Reset(size_t rows) {
  num_all_nodes = 0;
  statuses.Reset(rows);
  pre_filter_message.clear();
  pre_filter_plugins.clear();
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
    for (const NodeStatuses::Verdict& verdict : statuses.verdicts()) {
      if (verdict.num_nodes > 0) histogram.Add(verdict.status.reasons(), verdict.num_nodes);
    }
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
