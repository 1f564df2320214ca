// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "berth/check.h"
#include "src/serving/connection.h"

namespace {

bool IsPrintable(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::serving::StatusText;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto head = berth::serving::ParseRequestHead(text);
  if (!head) {
    BERTH_CHECK(head.error() >= 400 && !StatusText(head.error()).empty(), "no such refusal");
    return 0;
  }
  const auto& request = head->request;
  BERTH_CHECK(!request.method.empty() && IsPrintable(request.method), "a strange method");
  BERTH_CHECK(request.path.starts_with('/'), "a path that is none");
  BERTH_CHECK(request.body.empty(), "a head has no body");
  for (const auto& [name, value] : request.headers) {
    BERTH_CHECK(!name.empty() && IsPrintable(name), "a strange header name");
    BERTH_CHECK(std::ranges::none_of(name, [](char c) { return c >= 'A' && c <= 'Z'; }),
                "a header name in upper case");
    BERTH_CHECK(IsPrintable(value), "a control character in a header");
  }
  return 0;
}
