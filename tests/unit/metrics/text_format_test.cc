// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/text_format.h"

#include <gtest/gtest.h>

#include <limits>

namespace berth::metrics {
namespace {

TEST(TextFormatTest, NumbersReadAsGoWritesThem) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const struct {
    double value;
    const char* want;
  } cases[] = {
      {0, "0"},
      {1, "1"},
      {-3, "-3"},
      {0.1, "0.1"},
      {0.0001 * 2 * 2 * 2 * 2 * 2, "0.0032"},
      {16.384, "16.384"},
      {0.1 + 0.2, "0.30000000000000004"},
      {1e-4, "0.0001"},
      {1e-5, "1e-05"},
      {1.5e-5, "1.5e-05"},
      {100000, "100000"},
      {262144, "262144"},
      {1e6, "1e+06"},
      {1048576, "1.048576e+06"},
      {2147483648.0, "2.147483648e+09"},
      {1e100, "1e+100"},
      {kInfinity, "+Inf"},
      {-kInfinity, "-Inf"},
      {std::numeric_limits<double>::quiet_NaN(), "NaN"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.want);
    EXPECT_EQ(FormatValue(c.value), c.want);
  }
}

TEST(TextFormatTest, SamplesEscapeTheirLabelsAndHeadersTheirHelp) {
  std::string text;
  AppendHeader(text, "m", "gauge", "a \"b\" \\ c\nd");
  AppendSample(text, "m", "", {}, 1);
  const Label labels[] = {{"x", "a\"b\\c\nd"}, {"y", ""}};
  AppendSample(text, "m", "_sum", labels, 2.5);
  EXPECT_EQ(text,
            "# HELP m a \"b\" \\\\ c\\nd\n"
            "# TYPE m gauge\n"
            "m 1\n"
            "m_sum{x=\"a\\\"b\\\\c\\nd\",y=\"\"} 2.5\n");
}

}  // namespace
}  // namespace berth::metrics
