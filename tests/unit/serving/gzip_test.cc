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

std::string Encoding(const Response& response) {
  for (const auto& [name, value] : response.headers) {
    if (name == "Content-Encoding") return value;
  }
  return "";
}

Response Long() {
  Response response;
  for (int i = 0; i < 1000; ++i) response.body += "metric{label=\"" + std::to_string(i) + "\"} 1\n";
  return response;
}

TEST(GzipTest, ALongBodyIsCompressedForAClientThatTakesIt) {
  const Response response = Compressed(Asking("gzip"), Long());
  EXPECT_EQ(Encoding(response), "gzip");
  EXPECT_LT(response.body.size(), Long().body.size() / 3);
  EXPECT_EQ(Unzipped(response.body), Long().body);
}

TEST(GzipTest, OthersGetItAsItIs) {
  EXPECT_EQ(Compressed(Request(), Long()).body, Long().body);
  EXPECT_EQ(Encoding(Compressed(Asking("identity"), Long())), "");
}

TEST(GzipTest, AShortBodyIsLeftAlone) {
  Response response;
  response.body = "ok";
  response = Compressed(Asking("gzip"), std::move(response));
  EXPECT_EQ(response.body, "ok");
  EXPECT_EQ(Encoding(response), "");
}

TEST(GzipTest, ABodyThatIsStillToBeWrittenIsCompressedOnceItIs) {
  Response response;
  response.write_body = [] { return std::string("later"); };
  response = Compressed(Asking("gzip"), std::move(response));
  EXPECT_EQ(Encoding(response), "gzip");
  EXPECT_EQ(Unzipped(response.write_body()), "later");
}

}  // namespace
}  // namespace berth::serving
