// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "src/informers/informer_event.h"

namespace berth::informers {

// A resourceVersion as a number; nullopt: it is none, and cannot be compared.
inline std::optional<uint64_t> NumberOf(std::string_view version) {
  uint64_t number = 0;
  const char* const end = version.data() + version.size();
  const auto [at, problem] = std::from_chars(version.data(), end, number);
  if (version.empty() || problem != std::errc() || at != end) return std::nullopt;
  return number;
}

// The versions that one API server has given out. Kinds that share an etcd are counted as one; a
// kind may have an etcd of its own, and the server does not say which.
//
// A list that is older than its own kind was seen before tells that etcd was restored. Then a watch
// of another kind must not resume either: its version may have been given out a second time, and
// what was undone before it would be missed.
//
// A list that is older than another kind was seen before it was asked for tells either that, or
// that the two kinds count apart. So the other kind is listed again: it has gone back, or the two
// are known to count apart from then on.
//
// Thread safety: one owner.
class ServerVersions {
 public:
  // The newest version seen of each kind.
  using Numbers = std::map<Kind, uint64_t>;

  const Numbers& newest() const { return newest_; }
  // How often the server has gone back in time.
  uint64_t times_gone_back() const { return times_gone_back_; }
  // Whether a list of another kind leaves open that this one has gone back.
  bool IsDoubted(Kind kind) const { return doubted_by_.contains(kind); }

  // A watch of the kind has reached `version`.
  void Saw(Kind kind, std::string_view version);
  // A list of the kind, as new as the server could give it. `before`: newest() when it was asked
  // for.
  void Listed(Kind kind, std::string_view version, const Numbers& before);

 private:
  void GoBack(uint64_t number);
  void TakeApart(Kind a, Kind b);

  Numbers newest_;
  uint64_t times_gone_back_ = 0;
  std::map<Kind, std::set<Kind>> doubted_by_;
  std::map<Kind, std::set<Kind>> apart_;  // both ways
};

}  // namespace berth::informers
