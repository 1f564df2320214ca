// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "berth/check.h"
#include "src/api/decode.h"

// What decodes must survive being written and read again. Protobuf strings may hold bytes that
// JSON cannot; these are replaced once, so the second writing is compared.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace berth::api;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)ReadIdentity(Encoding::kProtobuf, bytes);
  (void)DecodeProtobuf<Node>(bytes);
  (void)DecodeProtobuf<PodDisruptionBudget>(bytes);
  const auto pod = DecodeProtobuf<Pod>(bytes);
  if (!pod) return 0;
  const auto once = DecodeJson<Pod>(EncodeJson(*pod));
  BERTH_CHECK(once.has_value(), "what was encoded does not decode");
  const auto twice = DecodeJson<Pod>(EncodeJson(*once));
  BERTH_CHECK(twice.has_value() && *twice == *once, "encoding changed the pod");
  return 0;
}
