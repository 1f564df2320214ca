// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth::recording {

// Where a recorder writes to.
//
// Thread safety: one owner at a time.
class ChunkSink {
 public:
  virtual ~ChunkSink() = default;
  // Writes frames, whole ones. Errors: they cannot be written, or there is no room; what was
  // written before stays. Nothing may be written after an error.
  virtual Result<void> Write(std::string_view frames) = 0;
  // Writes the last frames, for which there always is room.
  virtual Result<void> WriteLast(std::string_view frames) = 0;
};

}  // namespace berth::recording
