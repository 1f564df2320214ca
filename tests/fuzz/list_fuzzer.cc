// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/check.h"
#include "src/api/list_reader.h"

namespace {

using berth::api::Encoding;
using berth::api::ListMeta;
using berth::api::ListReader;

struct Read {
  std::vector<std::string> items;
  std::optional<ListMeta> meta;  // nullopt: it failed
};

Read ReadInParts(Encoding encoding, std::string_view body, size_t part) {
  Read read;
  ListReader reader(encoding, [&](std::string_view item) { read.items.emplace_back(item); });
  for (size_t at = 0; at < body.size(); at += part)
    if (!reader.Push(body.substr(at, part))) return read;
  if (auto meta = reader.Finish()) read.meta = *meta;
  return read;
}

}  // namespace

// The same list must come out whatever parts the body arrives in.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const Encoding encoding : {Encoding::kProtobuf, Encoding::kJson}) {
    const Read whole = ReadInParts(encoding, body, std::max<size_t>(size, 1));
    const Read parts = ReadInParts(encoding, body, 1 + size % 7);
    BERTH_CHECK(whole.meta == parts.meta && whole.items == parts.items,
                "the list depends on the parts");
  }
  return 0;
}
