// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "berth/result.h"
#include "berth/time.h"

namespace berth::base {

// A kubeconfig, a key or a bundle of certificates is far smaller.
inline constexpr size_t kMostFileBytes = size_t{16} << 20;

// Errors, in Go's words: "open /path: no such file or directory", "read /path: is a directory";
// more than `most` bytes.
Result<std::string> ReadFile(const std::string& path, size_t most = kMostFileBytes);

// The content of a file that is rotated from outside, read again once a minute: half of the
// shortest time between the renewal of a projected service account token and its expiry.
//
// Thread safety: one owner.
class WatchedFile {
 public:
  static constexpr Duration kPeriod = std::chrono::minutes(1);

  explicit WatchedFile(std::string path) : path_(std::move(path)) {}

  // The content; what was read last where the file cannot be read any more. Errors: it was never
  // read.
  Result<std::string> Get(Time now);
  // The next Get() reads.
  void Expire() { read_at_.reset(); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::optional<Time> read_at_;
  std::optional<std::string> content_;
};

}  // namespace berth::base
