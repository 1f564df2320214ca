// SPDX-License-Identifier: Apache-2.0
#include "berth/api/quantity.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>

namespace berth::api {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(QuantityTest, ParseReadsWhatKubernetesReads) {
  const struct {
    const char* text;
    int64_t value;
    int64_t milli;
    const char* canonical;
  } cases[] = {
      {"0", 0, 0, "0"},
      {"100m", 1, 100, "100m"},
      {"0.5", 1, 500, "500m"},
      {"1.5", 2, 1500, "1500m"},
      {"-1500m", -2, -1500, "-1500m"},
      {"00001", 1, 1000, "1"},
      {"-00.50", -1, -500, "-500m"},
      {"1.5Gi", 1610612736, 1610612736000, "1610612736"},
      {"1536Mi", 1610612736, 1610612736000, "1610612736"},
      {"-1.5Gi", -1610612736, -1610612736000, "-1610612736"},
      {"1Ki", 1024, 1024000, "1024"},
      {"1.1Ki", 1127, 1126400, "1126400m"},
      {".5Ki", 512, 512000, "512"},
      {"1.Ki", 1024, 1024000, "1024"},
      {"10Ti", 10995116277760, 10995116277760000, "10995116277760"},
      {"3Pi", 3377699720527872, 3377699720527872000, "3377699720527872"},
      {"1e3", 1000, 1000000, "1k"},
      {"1E3", 1000, 1000000, "1k"},
      {"1e-3", 1, 1, "1m"},
      {"1e+5", 100000, 100000000, "100k"},
      {"4.4e10", 44000000000, 44000000000000, "44G"},
      {"1E", 1000000000000000000, kMost, "1E"},
      {"1.5E", 1500000000000000000, kMost, "1500P"},
      {"1n", 1, 1, "1n"},
      {"1u", 1, 1, "1u"},
      {"1500u", 1, 2, "1500u"},
      {"0.1m", 1, 1, "100u"},
      {"5000000000000000000000n", 5000000000000, 5000000000000000, "5T"},
      {"0.000000001e9", 1, 1000, "1"},
      {"9223372036854775807", kMost, kMost, "9223372036854775807"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const auto quantity = Quantity::Parse(c.text);
    ASSERT_TRUE(quantity);
    EXPECT_EQ(quantity->Value(), c.value);
    EXPECT_EQ(quantity->MilliValue(), c.milli);
    EXPECT_EQ(quantity->ToString(), c.canonical);
  }
}

TEST(QuantityTest, DigitsFinerThanNanoAreRoundedAwayFromZero) {
  const struct {
    const char* text;
    const char* canonical;
  } cases[] = {
      {"0.0000000001", "1n"},
      {"-0.0000000001", "-1n"},
      {"1e-10", "1n"},
      {"1e-100", "1n"},
      {"2.5e-9", "3n"},
      {"1.0000000001", "1000000001n"},
      {"1.0000000000", "1"},
      {"1.0000000001Ki", "1024000000103n"},
      {"0.3333333333333333333333Mi", "349525333333334n"},
      {"123456789.123456789123456789", "123456789123456790n"},
      {"7.999999999999999999Ei", "9223372036854775806847078496n"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const auto quantity = Quantity::Parse(c.text);
    ASSERT_TRUE(quantity);
    EXPECT_EQ(quantity->ToString(), c.canonical);
  }
}

TEST(QuantityTest, HugeAmountsOfBinaryFormatAreCapped) {
  for (const char* text :
       {"8Ei", "999999999999999999Ki", "1234567890123456789012345678901234567890Ei"}) {
    SCOPED_TRACE(text);
    const auto quantity = Quantity::Parse(text);
    ASSERT_TRUE(quantity);
    EXPECT_EQ(*quantity, Quantity::FromUnits(kMost));
    const auto negative = Quantity::Parse(std::string("-") + text);
    ASSERT_TRUE(negative);
    EXPECT_EQ(*negative, Quantity::FromUnits(-kMost));
  }
}

// One beyond 64 bits is more than the most of them, as in Kubernetes; whole numbers saturate.
TEST(QuantityTest, DecimalAmountsGoBeyond64Bits) {
  Quantity before = Quantity::FromUnits(kMost);
  for (const char* text : {"9223372036854775808", "1e19", "100E", "1e24"}) {
    SCOPED_TRACE(text);
    const auto quantity = Quantity::Parse(text);
    ASSERT_TRUE(quantity);
    EXPECT_GT(*quantity, before);
    EXPECT_EQ(quantity->Value(), kMost);
    EXPECT_EQ(quantity->MilliValue(), kMost);
    before = *quantity;
    const auto negative = Quantity::Parse(std::string("-") + text);
    ASSERT_TRUE(negative);
    EXPECT_EQ(negative->Value(), std::numeric_limits<int64_t>::min());
    EXPECT_LT(*negative, Quantity::FromUnits(-kMost));
  }
  EXPECT_EQ(Quantity::Parse("1e19")->ToCanonicalString(), "10e18");
  for (const char* text : {"1e25", "1e100", "1e2147483647", "10000000E"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(*Quantity::Parse(text), *Quantity::Parse("1e24"));
  }
  // Many of them can be added.
  Quantity sum;
  for (int i = 0; i < 10000; ++i) sum += *Quantity::Parse("1e100");
  EXPECT_GT(sum, *Quantity::Parse("1e100"));
}

TEST(QuantityTest, AMissingNumberIsZeroAsInKubernetes) {
  for (const char* text : {".", "+", "-", "Ki", "m", "0e100", "0.0Ei", "-0"}) {
    SCOPED_TRACE(text);
    const auto quantity = Quantity::Parse(text);
    ASSERT_TRUE(quantity);
    EXPECT_TRUE(quantity->IsZero());
  }
}

TEST(QuantityTest, ParseRefusesOtherText) {
  const struct {
    const char* text;
    const char* part_of_error;
  } cases[] = {
      {"", "must match the regular expression"},
      {"abc", "must match the regular expression"},
      {" 1", "must match the regular expression"},
      {"1 ", "must match the regular expression"},
      {"--1", "unable to parse quantity's suffix"},
      {"+-1", "unable to parse quantity's suffix"},
      {"1.5.5", "must match the regular expression"},
      {"1_000", "must match the regular expression"},
      {"0x10", "must match the regular expression"},
      {"1e+-5", "must match the regular expression"},
      {"1ee3", "unable to parse quantity's suffix"},
      {"1e", "unable to parse quantity's suffix"},
      {"1m5", "unable to parse quantity's suffix"},
      {"1KiKi", "unable to parse quantity's suffix"},
      {"1ki", "unable to parse quantity's suffix"},
      {"1K", "unable to parse quantity's suffix"},
      {"1i", "unable to parse quantity's suffix"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const auto quantity = Quantity::Parse(c.text);
    ASSERT_FALSE(quantity);
    EXPECT_NE(quantity.error().message.find(c.part_of_error), std::string::npos)
        << quantity.error().message;
  }
}

TEST(QuantityTest, ToStringReadsBackAsTheSameAmount) {
  std::mt19937_64 random(17);
  for (int i = 0; i < 2000; ++i) {
    auto nanos = static_cast<Quantity::Nanos>(static_cast<int64_t>(random()));
    nanos = nanos * 1'000'000'000 / (1 + static_cast<Quantity::Nanos>(random() % 1'000'000'007));
    const Quantity quantity = Quantity::FromNanos(nanos);
    SCOPED_TRACE(quantity.ToString());
    EXPECT_EQ(Quantity::Parse(quantity.ToString()), quantity);
  }
}

TEST(QuantityTest, CanonicalTextKeepsTheFormat) {
  const struct {
    const char* text;
    const char* want;
  } cases[] = {
      {"0", "0"},
      {"0Ki", "0"},
      {"100", "100"},
      {"1000", "1k"},
      {"1500m", "1500m"},
      {"1000m", "1"},
      {"1Gi", "1Gi"},
      {"1024Mi", "1Gi"},
      {"1025Ki", "1025Ki"},
      {"1.5Gi", "1536Mi"},
      {"-2Gi", "-2Gi"},
      {"0.5Ki", "512"},             // too small for a binary suffix
      {"1.0001Ki", "1024102400u"},  // and no whole number
      {"0.001Ki", "1024m"},
      {"0.0001Ki", "102400u"},
      {"1e3", "1e3"},
      {"120e5", "12e6"},
      {"15e-1", "1500e-3"},
      {"2E", "2E"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const auto quantity = Quantity::Parse(c.text);
    ASSERT_TRUE(quantity);
    EXPECT_EQ(quantity->ToCanonicalString(), c.want);
  }
}

TEST(QuantityTest, FormatIsNoPartOfTheValue) {
  const Quantity binary = *Quantity::Parse("1Ki");
  const Quantity decimal = *Quantity::Parse("1024");
  EXPECT_EQ(binary, decimal);
  EXPECT_EQ(binary <=> decimal, std::strong_ordering::equal);
  EXPECT_EQ(binary.format(), Quantity::Format::kBinarySI);
  EXPECT_EQ(decimal.format(), Quantity::Format::kDecimalSI);

  // A sum has the format of what it began with, unless that was nothing.
  Quantity sum = decimal;
  sum += binary;
  EXPECT_EQ(sum.ToCanonicalString(), "2048");
  Quantity from_nothing;
  from_nothing += binary;
  EXPECT_EQ(from_nothing.ToCanonicalString(), "1Ki");
}

TEST(QuantityTest, NegativeAmountsKeepValueAndFormat) {
  for (const Quantity::Format format : {Quantity::Format::kDecimalSI, Quantity::Format::kBinarySI,
                                        Quantity::Format::kDecimalExponent}) {
    const Quantity quantity = Quantity::FromUnits(std::numeric_limits<int64_t>::min(), format);
    EXPECT_EQ(quantity.Value(), std::numeric_limits<int64_t>::min());
    EXPECT_EQ(quantity.format(), format);
  }
}

}  // namespace
}  // namespace berth::api
