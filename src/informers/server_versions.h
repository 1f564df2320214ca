// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace berth::informers {

// A resourceVersion as a number; nullopt: it is none, and cannot be compared.
inline std::optional<uint64_t> NumberOf(std::string_view version) {
  uint64_t number = 0;
  const char* const end = version.data() + version.size();
  const auto [at, problem] = std::from_chars(version.data(), end, number);
  if (version.empty() || problem != std::errc() || at != end) return std::nullopt;
  return number;
}

// The versions that one API server has given out, of all kinds: they are counted as one. A list
// that is older than what was seen before it was asked for tells that etcd was restored. Then a
// watch of another kind must not resume either: its version may have been given out a second time,
// and what was undone before it would be missed.
//
// Thread safety: one owner.
class ServerVersions {
 public:
  uint64_t newest() const { return newest_; }
  // How often the server has gone back in time.
  uint64_t times_gone_back() const { return times_gone_back_; }

  void Saw(std::string_view version) { newest_ = std::max(newest_, NumberOf(version).value_or(0)); }
  // A list of a kind that was listed before, as new as the server could give it. `newest_before`:
  // newest() when it was asked for.
  void ListedAgain(std::string_view version, uint64_t newest_before) {
    const auto number = NumberOf(version);
    if (!number || *number >= newest_before) return;
    ++times_gone_back_;
    newest_ = *number;
  }

 private:
  uint64_t newest_ = 0;
  uint64_t times_gone_back_ = 0;
};

}  // namespace berth::informers
