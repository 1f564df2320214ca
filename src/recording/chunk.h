// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/result.h"

// A file of a recording is a row of chunks. Each can be read by itself:
//
//   "BCHK"  type  number  size  packed size  CRC-32     then so many packed bytes (zlib)
//
// The five numbers are 32 bits each, the lowest byte first. The CRC is over what stands before it,
// from the type on, and over the packed bytes.
//
// Thread safety: any thread.

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

enum class ChunkType : uint32_t {
  kHeader = 1,  // what the recording is of: first in each file
  kFrames = 2,
};

// A chunk holds no more than this, packed or not. The longest object is far shorter.
inline constexpr size_t kMostChunkBytes = size_t{16} << 20;

struct Chunk {
  ChunkType type = ChunkType::kFrames;
  uint32_t number = 0;  // in its file, from 0
  std::string bytes;
};

// Appends a chunk. Errors: it is too long.
Result<void> AppendChunk(ChunkType type, uint32_t number, std::string_view bytes, std::string& out);

// What is wrong with the bytes where a chunk should begin.
struct BadChunk {
  std::string message;
  // The bytes end before the chunk does: its writer was stopped.
  bool torn = false;
};

// Takes the next chunk off `bytes`.
tl::expected<Chunk, BadChunk> ReadChunk(std::string_view& bytes);

}  // namespace berth::recording
