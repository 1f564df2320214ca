// SPDX-License-Identifier: Apache-2.0
#include "src/recording/chunk.h"

#include <zlib.h>

namespace berth::recording {
namespace {

constexpr std::string_view kMagic = "BCHK";
constexpr size_t kNumbers = 5;
constexpr size_t kHeadBytes = 4 + kNumbers * 4;

void AppendNumber(uint32_t number, std::string& out) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(number >> shift));
}

uint32_t ReadNumber(std::string_view bytes) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number |= uint32_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  return number;
}

uint32_t Checksum(std::string_view numbers, std::string_view packed) {
  const auto add = [](uLong sum, std::string_view bytes) {
    return crc32(sum, reinterpret_cast<const Bytef*>(bytes.data()),
                 static_cast<uInt>(bytes.size()));
  };
  return static_cast<uint32_t>(add(add(crc32(0, nullptr, 0), numbers), packed));
}

tl::unexpected<BadChunk> Bad(std::string message, bool torn = false) {
  return tl::unexpected(BadChunk{std::move(message), torn});
}

}  // namespace

Result<void> AppendChunk(ChunkType type, uint32_t number, std::string_view bytes,
                         std::string& out) {
  if (bytes.size() > kMostChunkBytes) {
    return Fail("a chunk of " + std::to_string(bytes.size()) + " bytes is too long");
  }
  uLongf packed_size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(packed_size, '\0');
  const int done = compress2(reinterpret_cast<Bytef*>(packed.data()), &packed_size,
                             reinterpret_cast<const Bytef*>(bytes.data()),
                             static_cast<uLong>(bytes.size()), Z_BEST_SPEED);
  if (done != Z_OK) return Fail("a chunk cannot be packed");
  packed.resize(packed_size);
  std::string numbers;
  AppendNumber(static_cast<uint32_t>(type), numbers);
  AppendNumber(number, numbers);
  AppendNumber(static_cast<uint32_t>(bytes.size()), numbers);
  AppendNumber(static_cast<uint32_t>(packed.size()), numbers);
  out += kMagic;
  out += numbers;
  AppendNumber(Checksum(numbers, packed), out);
  out += packed;
  return {};
}

tl::expected<Chunk, BadChunk> ReadChunk(std::string_view& bytes) {
  if (!bytes.starts_with(kMagic.substr(0, bytes.size()))) return Bad("no chunk begins here");
  if (bytes.size() < kHeadBytes) return Bad("the file ends within the head of a chunk", true);
  const std::string_view numbers = bytes.substr(kMagic.size(), 16);
  Chunk chunk;
  const uint32_t type = ReadNumber(numbers);
  chunk.number = ReadNumber(numbers.substr(4));
  const size_t size = ReadNumber(numbers.substr(8));
  const size_t packed_size = ReadNumber(numbers.substr(12));
  const uint32_t checksum = ReadNumber(bytes.substr(kHeadBytes - 4));
  if (size > kMostChunkBytes || packed_size > compressBound(kMostChunkBytes)) {
    return Bad("a chunk is longer than any may be");
  }
  if (bytes.size() - kHeadBytes < packed_size) return Bad("the file ends within a chunk", true);
  const std::string_view packed = bytes.substr(kHeadBytes, packed_size);
  if (Checksum(numbers, packed) != checksum) return Bad("a chunk is damaged: wrong checksum");
  if (type != static_cast<uint32_t>(ChunkType::kHeader) &&
      type != static_cast<uint32_t>(ChunkType::kFrames)) {
    return Bad("a chunk of type " + std::to_string(type) + ", which this version does not know");
  }
  chunk.type = static_cast<ChunkType>(type);
  chunk.bytes.resize(size);
  uLongf unpacked = static_cast<uLongf>(size);
  const int done =
      uncompress(reinterpret_cast<Bytef*>(chunk.bytes.data()), &unpacked,
                 reinterpret_cast<const Bytef*>(packed.data()), static_cast<uLong>(packed.size()));
  if (done != Z_OK || unpacked != size) return Bad("a chunk cannot be unpacked");
  bytes.remove_prefix(kHeadBytes + packed_size);
  return chunk;
}

}  // namespace berth::recording
