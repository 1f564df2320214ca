// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "berth/check.h"
#include "src/api/decode.h"

namespace {

using namespace berth::api;

// What decodes must survive being written and read again. Protobuf strings may hold bytes that
// JSON cannot; these are replaced once, so the second writing is compared.
template <typename T>
void Try(Encoding encoding, std::string_view bytes) {
  const auto decoded = Decode<T>(encoding, bytes);
  if (!decoded) return;
  const auto once = DecodeJson<T>(EncodeJson(*decoded));
  BERTH_CHECK(once.has_value(), "what was encoded does not decode");
  const auto twice = DecodeJson<T>(EncodeJson(*once));
  BERTH_CHECK(twice.has_value() && *twice == *once, "encoding changed the object");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const Encoding encoding : {Encoding::kJson, Encoding::kProtobuf}) {
    Try<PersistentVolume>(encoding, bytes);
    Try<PersistentVolumeClaim>(encoding, bytes);
    Try<StorageClass>(encoding, bytes);
    Try<CSINode>(encoding, bytes);
    Try<CSIDriver>(encoding, bytes);
    Try<CSIStorageCapacity>(encoding, bytes);
    Try<VolumeAttachment>(encoding, bytes);
    Try<VolumeAttributesClass>(encoding, bytes);
  }
  return 0;
}
