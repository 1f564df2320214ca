// SPDX-License-Identifier: Apache-2.0
#include "src/serving/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace berth::serving {
namespace {

std::string Unzipped(const std::string& bytes) {
  std::string text(1 << 20, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

Request Asking(std::string encodings) {
  Request request;
  request.headers.emplace_back("accept-encoding", std::move(encodings));
  return request;
}

TEST(GzipTest, UnpacksToWhatItWas) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "metric{label=\"" + std::to_string(i) + "\"} 1\n";
  const std::string packed = Gzip(text);
  EXPECT_LT(packed.size(), text.size() / 3);
  EXPECT_EQ(Unzipped(packed), text);
  EXPECT_EQ(Unzipped(Gzip("")), "");
}

TEST(GzipTest, IsForThoseWhoAskForIt) {
  EXPECT_TRUE(TakesGzip(Asking("gzip")));
  EXPECT_FALSE(TakesGzip(Asking("identity")));
  EXPECT_FALSE(TakesGzip(Request()));
}

}  // namespace
}  // namespace berth::serving
