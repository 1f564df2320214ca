// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "berth/api/quantity.h"
#include "berth/check.h"
#include "src/api/time_format.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::api::Quantity;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto quantity = Quantity::Parse(text)) {
    const auto again = Quantity::Parse(quantity->ToString());
    BERTH_CHECK(again.has_value() && *again == *quantity, "the quantity changed");
  }
  if (const auto time = berth::api::ParseTime(text)) {
    const auto again = berth::api::ParseTime(berth::api::FormatMicroTime(*time));
    BERTH_CHECK(again.has_value(), "what was formatted does not parse");
    // The last second of the range is clamped.
    const bool at_the_end = *again == berth::Time::min() || *again == berth::Time::max();
    BERTH_CHECK(at_the_end || *again == std::chrono::floor<std::chrono::microseconds>(*time),
                "the time changed");
  }
  return 0;
}
