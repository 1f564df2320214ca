// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>

#include "berth/check.h"
#include "src/recording/chunk.h"
#include "src/recording/reader.h"

namespace {

using berth::recording::AppendChunk;
using berth::recording::ChunkType;
using berth::recording::Header;
using berth::recording::RecordingReader;

void ReadToTheEnd(std::string bytes) {
  auto reader = RecordingReader::OpenBytes("fuzz", std::move(bytes));
  if (!reader) return;
  while (reader->Next()) continue;
  BERTH_CHECK(reader->problem() || !reader->end_reason().empty() || !reader->torn(),
              "a recording ends without a word");
}

}  // namespace

// The bytes are read as a file, and as the frames of a chunk whose checksum is right.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  ReadToTheEnd(bytes);
  std::string file;
  if (!AppendChunk(ChunkType::kHeader, 0, ToJson(Header()), file)) return 0;
  if (!AppendChunk(ChunkType::kFrames, 1, bytes, file)) return 0;
  ReadToTheEnd(std::move(file));
  return 0;
}
