// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_join.h>

#include <cmath>

#include "src/explain/text_table.h"
#include "src/packing/figures.h"
#include "src/what_if/difference.h"

namespace berth::what_if {
namespace {

using explain::Counted;
using explain::TextTable;

constexpr size_t kMostPods = 50;

std::string Percent(const Picture::Usage& usage) {
  if (usage.allocatable <= 0) return "-";
  const auto share =
      static_cast<double>(usage.requested) / static_cast<double>(usage.allocatable) * 100.0;
  return std::to_string(std::lround(share)) + "%";
}

void AppendPictures(const Answer& answer, std::string& out) {
  TextTable table;
  table.AddColumn("");
  for (const char* header :
       {"NODES", "USED", "AT LEAST", "PODS", "PENDING", "CPU", "STRANDED", "MEMORY", "STRANDED"}) {
    table.AddColumn(header, TextTable::Align::kRight);
  }
  for (const auto& [name, picture] :
       {std::pair("today", &answer.before), {"then", &answer.after}}) {
    table.AddRow({name, std::to_string(picture->nodes), std::to_string(picture->used_nodes),
                  std::to_string(picture->lower_bound), std::to_string(picture->pods.size()),
                  std::to_string(picture->pending), Percent(picture->milli_cpu),
                  packing::AmountText("cpu", picture->milli_cpu.stranded), Percent(picture->memory),
                  packing::AmountText("memory", picture->memory.stranded)});
  }
  table.Append("", out);
}

std::string Place(const std::optional<std::string>& node) {
  if (!node) return "-";
  return node->empty() ? "pending" : *node;
}

void AppendMoved(const Answer& answer, std::string& out) {
  const std::vector<MovedPod> moved = answer.Moved();
  if (moved.empty()) {
    out += "\nNo pod is elsewhere.\n";
    return;
  }
  TextTable table;
  table.AddColumn("POD");
  table.AddColumn("TODAY");
  table.AddColumn("THEN");
  table.AddColumn("WHY");
  for (size_t i = 0; i < moved.size() && i < kMostPods; ++i) {
    const MovedPod& pod = moved[i];
    table.AddRow({pod.pod, Place(pod.before), Place(pod.after), pod.message});
  }
  out +=
      '\n' + Counted(moved.size(), "pod") + (moved.size() == 1 ? " is" : " are") + " elsewhere:\n";
  table.Append("", out);
  if (moved.size() > kMostPods) out += "... and " + Counted(moved.size() - kMostPods, "pod") + '\n';
}

void AppendDrainedRow(const Drained& drained, std::string& out) {
  out += "\nDrain of " + drained.node + ": " +
         (drained.ok() ? "every pod that comes back has a node" : "cannot be done without loss") +
         ". " + std::to_string(drained.moved.size()) + " moved.\n";
  for (const Drained::Stopped& pod : drained.stopped) {
    out += "  stays: " + pod.pod + ", by " +
           (pod.budgets.size() > 1 ? "having several budgets: " : "budget ") +
           absl::StrJoin(pod.budgets, ", ") + '\n';
  }
  for (const std::string& pod : drained.homeless) out += "  fits nowhere: " + pod + '\n';
  for (const std::string& pod : drained.unmanaged) {
    out += "  is lost: " + pod + ", which no controller makes again\n";
  }
  if (!drained.with_empty_dir.empty()) {
    out += "  " + Counted(drained.with_empty_dir.size(), "pod") +
           " with data in emptyDir volumes, which is lost (kubectl drain wants " +
           "--delete-emptydir-data): " + absl::StrJoin(drained.with_empty_dir, ", ") + '\n';
  }
}

}  // namespace

void AppendAnswerTable(const Answer& answer, std::string& out) {
  AppendPictures(answer, out);
  for (const Drained& drained : answer.drained) AppendDrainedRow(drained, out);
  if (answer.filled) {
    out += '\n' + Counted(answer.filled->pods, "more pod") + " would fit, on " +
           Counted(answer.filled->by_node.size(), "node") + ".\n";
    if (!answer.filled->stopped_by.empty()) {
      out += "  The next is told: " + answer.filled->stopped_by + '\n';
    }
  }
  if (!answer.evicted.empty()) {
    out += "\nEvicted by preemption: " + absl::StrJoin(answer.evicted, ", ") + '\n';
  }
  AppendMoved(answer, out);
}

}  // namespace berth::what_if
