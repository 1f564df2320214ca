// SPDX-License-Identifier: Apache-2.0
#include "src/recording/comparison.h"

#include <algorithm>
#include <optional>

namespace berth::recording {
namespace {

DifferenceKind KindOf(const AttemptEnded& recorded, const AttemptEnded& replayed) {
  const bool placed = !recorded.node_name.empty();
  if (placed != !replayed.node_name.empty()) return DifferenceKind::kVerdict;
  if (recorded.node_name != replayed.node_name) return DifferenceKind::kNode;
  if (recorded.code != replayed.code) return DifferenceKind::kVerdict;
  return DifferenceKind::kMessage;
}

}  // namespace

std::string_view NameOf(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::kNode:
      return "node";
    case DifferenceKind::kVerdict:
      return "verdict";
    case DifferenceKind::kMessage:
      return "message";
    case DifferenceKind::kOrder:
      return "order";
    case DifferenceKind::kMissing:
      return "missing";
    case DifferenceKind::kExtra:
      return "extra";
  }
  return "";
}

void Comparison::Add(const AttemptEnded& recorded, const std::string& recorded_pod,
                     AttemptEnded replayed, const std::string& replayed_pod, std::string why) {
  if (recorded.pod_uid == replayed.pod_uid && recorded_.empty() && replayed_.empty()) {
    const uint64_t number = ++decisions_;
    Compare(recorded, std::move(replayed), number, recorded_pod, true, std::move(why));
    return;
  }
  AddExtra(std::move(replayed), replayed_pod);
  AddMissing(recorded, recorded_pod);
}

void Comparison::AddMissing(AttemptEnded recorded, const std::string& pod) {
  const uint64_t number = ++decisions_;
  if (auto pair = TakeFrom(replayed_, recorded.pod_uid)) {
    Compare(recorded, std::move(pair->decision), number, pod, false, "");
    return;
  }
  recorded_[recorded.pod_uid].push_back({number, now_, pod, std::move(recorded)});
}

void Comparison::AddExtra(AttemptEnded replayed, const std::string& pod) {
  if (const auto pair = TakeFrom(recorded_, replayed.pod_uid)) {
    Compare(pair->decision, std::move(replayed), pair->number, pod, false, "");
    return;
  }
  replayed_[replayed.pod_uid].push_back({decisions_ + 1, now_, pod, std::move(replayed)});
}

std::optional<Comparison::Unpaired> Comparison::TakeFrom(ByPod& by_pod, const std::string& uid) {
  const auto it = by_pod.find(uid);
  if (it == by_pod.end()) return std::nullopt;
  Unpaired first = std::move(it->second.front());
  it->second.pop_front();
  if (it->second.empty()) by_pod.erase(it);
  return first;
}

void Comparison::Compare(const AttemptEnded& recorded, AttemptEnded replayed, uint64_t number,
                         const std::string& pod, bool in_order, std::string why) {
  if (recorded == replayed) {
    if (in_order) {
      ++equal_;
      return;
    }
    Note({DifferenceKind::kOrder, number, now_, pod, recorded, std::move(replayed), ""});
    return;
  }
  Note({KindOf(recorded, replayed), number, now_, pod, recorded, std::move(replayed),
        std::move(why)});
}

void Comparison::Note(Difference difference) {
  ++num_differences_;
  if (shows_ && !shows_(difference.pod)) return;
  ++num_shown_;
  if (differences_.size() < most_differences_) differences_.push_back(std::move(difference));
}

void Comparison::Finish(ReplayReport& report) {
  const auto rest = [this](ByPod& by_pod, DifferenceKind kind) {
    std::vector<Unpaired> all;
    for (auto& [uid, unpaired] : by_pod) {
      std::move(unpaired.begin(), unpaired.end(), std::back_inserter(all));
    }
    std::ranges::sort(all, [](const Unpaired& a, const Unpaired& b) {
      return std::tie(a.number, a.pod) < std::tie(b.number, b.pod);
    });
    for (Unpaired& one : all) {
      Difference difference{kind, one.number, one.at, one.pod, {}, {}, ""};
      (kind == DifferenceKind::kMissing ? difference.recorded : difference.replayed) =
          std::move(one.decision);
      Note(std::move(difference));
    }
    by_pod.clear();
  };
  rest(recorded_, DifferenceKind::kMissing);
  rest(replayed_, DifferenceKind::kExtra);
  report.decisions = decisions_;
  report.equal = equal_;
  report.num_differences = num_differences_;
  report.num_shown = num_shown_;
  std::ranges::stable_sort(differences_, {}, &Difference::number);
  report.differences = std::move(differences_);
}

}  // namespace berth::recording
