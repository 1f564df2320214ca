// SPDX-License-Identifier: Apache-2.0
#include "src/informers/server_versions.h"

#include <algorithm>

namespace berth::informers {
namespace {

uint64_t Of(const ServerVersions::Numbers& numbers, Kind kind) {
  const auto found = numbers.find(kind);
  return found == numbers.end() ? 0 : found->second;
}

}  // namespace

void ServerVersions::Saw(Kind kind, std::string_view version) {
  if (const auto number = NumberOf(version)) newest_[kind] = std::max(newest_[kind], *number);
}

void ServerVersions::Listed(Kind kind, std::string_view version, const Numbers& before) {
  const auto number = NumberOf(version);
  if (!number) return;
  // What was seen before is no measure any more where the server went back meanwhile.
  const auto seen = [&](Kind of) { return std::min(Of(before, of), Of(newest_, of)); };
  const bool first = seen(kind) == 0;
  if (*number < seen(kind)) GoBack(*number);
  if (const auto doubters = doubted_by_.extract(kind)) {
    for (const Kind other : doubters.mapped()) TakeApart(kind, other);
  }
  for (const auto& [other, ignored] : before) {
    if (other == kind || seen(other) <= *number || apart_[kind].contains(other)) continue;
    if (first) {
      // Hardly a restore while this process starts.
      TakeApart(kind, other);
    } else {
      doubted_by_[other].insert(kind);
    }
  }
  newest_[kind] = *number;
}

void ServerVersions::GoBack(uint64_t number) {
  ++times_gone_back_;
  for (auto& [kind, newest] : newest_) newest = std::min(newest, number);
  // Each kind is listed again, and shows itself whether it went back.
  doubted_by_.clear();
}

void ServerVersions::TakeApart(Kind a, Kind b) {
  apart_[a].insert(b);
  apart_[b].insert(a);
}

}  // namespace berth::informers
