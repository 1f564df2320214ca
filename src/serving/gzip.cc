// SPDX-License-Identifier: Apache-2.0
#include "src/serving/gzip.h"

#include <zlib.h>

#include "berth/check.h"
#include "src/serving/accept.h"

namespace berth::serving {
namespace {

constexpr int kGzipFormat = 16;
constexpr int kMemoryLevel = 8;

}  // namespace

bool TakesGzip(const Request& request) {
  const std::string* accepted = request.FindHeader("accept-encoding");
  return accepted != nullptr && AcceptsGzip(*accepted);
}

std::string Gzip(std::string_view text) {
  z_stream stream{};
  // The fastest level: a text of metrics still becomes a tenth.
  BERTH_CHECK(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzipFormat, kMemoryLevel,
                           Z_DEFAULT_STRATEGY) == Z_OK,
              "zlib does not start");
  std::string out(deflateBound(&stream, text.size()), '\0');
  // zlib does not write to what it reads from.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  BERTH_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib's own bound is too small");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace berth::serving
