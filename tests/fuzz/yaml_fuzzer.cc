// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/api/decode.h"
#include "src/documents/parse.h"

// No input may crash the parsers or the reader of the trees they build.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace berth::api;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto documents = berth::documents::ParseYaml(text, "fuzz.yaml")) {
    for (const berth::ConfigValue& document : *documents) (void)DecodeValue<Pod>(document, "");
  }
  if (const auto value = berth::documents::ParseJson(text, "fuzz.json")) (void)value->ToJson();
  return 0;
}
