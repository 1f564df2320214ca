// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "berth/time.h"

namespace berth::base {

// A kubeconfig, a key or a bundle of certificates is far smaller.
inline constexpr size_t kMostFileBytes = size_t{16} << 20;

// Errors, in Go's words: "open /path: no such file or directory", "read /path: is a directory";
// more than `most` bytes.
Result<std::string> ReadFile(const std::string& path, size_t most = kMostFileBytes);

// What is left of the standard input. Errors: as above.
Result<std::string> ReadStandardInput(size_t most = kMostFileBytes);

// Writes a file that only its owner may read (0600). What stands there is replaced in one step, and
// never written through: who holds it open sees nothing of `text`. Errors: what stands there is no
// regular file but a link, device or folder; the folder cannot be written.
Result<void> WritePrivateFile(const std::string& path, std::string_view text);

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
