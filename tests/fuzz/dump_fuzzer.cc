// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/check.h"
#include "src/documents/dump_reader.h"

namespace {

using berth::Result;
using berth::api::ObjectPtr;
using berth::documents::DumpPlace;
using berth::documents::DumpStats;

Result<DumpStats> Read(std::string_view text) {
  uint64_t visits = 0;
  auto stats = berth::documents::ReadDump(
      text, "fuzz", [&](ObjectPtr&&, const DumpPlace& place) -> Result<void> {
        BERTH_CHECK(place.line() > 0 && place.document() > 0, "an object without a place");
        ++visits;
        return {};
      });
  BERTH_CHECK(!stats || stats->objects == visits, "objects are miscounted");
  return stats;
}

}  // namespace

// No dump may crash the reader, and JSON that is written twice has everything twice.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto once = Read(text);
  if (!once || once->has_yaml) return 0;
  const auto twice = Read(text + text);
  BERTH_CHECK(
      twice && twice->objects == 2 * once->objects && twice->documents == 2 * once->documents,
      "the second half reads otherwise than the first");
  return 0;
}
