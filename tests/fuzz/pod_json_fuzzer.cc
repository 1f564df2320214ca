// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "berth/check.h"
#include "src/api/decode.h"

// What decodes must survive being written and read again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace berth::api;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)ReadIdentity(Encoding::kJson, text);
  (void)DecodeJson<Node>(text);
  const auto pod = DecodeJson<Pod>(text);
  if (!pod) return 0;
  const auto again = DecodeJson<Pod>(EncodeJson(*pod));
  BERTH_CHECK(again.has_value(), "what was encoded does not decode");
  BERTH_CHECK(EncodeJson(*again) == EncodeJson(*pod), "encoding changed the pod");
  return 0;
}
