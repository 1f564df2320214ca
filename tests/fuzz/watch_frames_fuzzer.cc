// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/check.h"
#include "src/api/watch.h"

namespace {

using berth::api::Encoding;

// The frames of `body`, pushed in parts of `part` bytes.
std::vector<std::string> Frames(Encoding encoding, std::string_view body, size_t part) {
  std::vector<std::string> out;
  berth::api::WatchFrames frames(encoding, 1 << 20);
  for (size_t at = 0; at < body.size(); at += part) {
    frames.Push(body.substr(at, part));
    for (;;) {
      const auto frame = frames.Next();
      if (!frame) {
        out.push_back("too large");
        return out;
      }
      if (!*frame) break;
      out.emplace_back(**frame);
    }
  }
  return out;
}

void Decode(Encoding encoding, const std::string& frame) {
  using namespace berth::api;
  const auto event = DecodeWatchEvent(encoding, frame);
  if (!event) return;
  (void)DecodeBookmark(encoding, event->object);
  (void)Decode<Pod>(encoding, event->object);
}

}  // namespace

// The same frames must come out whatever parts the body arrives in.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const size_t part = 1 + data[0] % 64;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const Encoding encoding : {Encoding::kProtobuf, Encoding::kJson}) {
    const auto whole = Frames(encoding, body, std::max<size_t>(body.size(), 1));
    BERTH_CHECK(whole == Frames(encoding, body, part), "frames depend on the parts");
    for (const std::string& frame : whole) Decode(encoding, frame);
  }
  return 0;
}
