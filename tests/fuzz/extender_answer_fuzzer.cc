// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/extender/messages.h"

// No answer of an extender may crash its readers.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace berth::extender;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)ReadFilterAnswer(text);
  (void)ReadHostPriorityList(text);
  (void)ReadPreemptionAnswer(text);
  (void)ReadBindingAnswer(text);
  return 0;
}
