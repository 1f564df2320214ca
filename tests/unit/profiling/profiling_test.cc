// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/profiling/cpu_sampler.h"
#include "src/profiling/profile.h"
#include "src/profiling/symbols.h"

namespace berth::profiling {

// Not static: it has a symbol of its own.
[[gnu::noinline]] double BusyWorkOfTheTest(int rounds) {
  double sum = 0;
  for (int i = 0; i < rounds; ++i) sum += std::sqrt(static_cast<double>(i) + sum);
  return sum;
}

namespace {

using protozero::pbf_reader;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A profile as read again: the sums of each function that is somewhere on a stack.
struct ReadProfile {
  std::vector<std::string> types;
  std::map<std::string, std::vector<int64_t>> by_function;
  std::vector<int64_t> whole;
  int64_t duration = 0;
  int64_t period = 0;
  std::vector<std::string> build_ids;
};

ReadProfile Read(const std::string& bytes) {
  std::vector<std::string> texts;
  std::map<uint64_t, uint64_t> function_of;  // by location
  std::map<uint64_t, uint64_t> name_of;      // by function
  std::vector<uint64_t> type_names;
  std::vector<uint64_t> build_ids;
  std::vector<std::pair<std::vector<uint64_t>, std::vector<int64_t>>> samples;
  ReadProfile read;
  pbf_reader profile(bytes);
  while (profile.next()) {
    switch (profile.tag()) {
      case 1: {
        pbf_reader type = profile.get_message();
        if (type.next(1)) type_names.push_back(static_cast<uint64_t>(type.get_int64()));
        break;
      }
      case 2: {
        pbf_reader sample = profile.get_message();
        auto& [ids, values] = samples.emplace_back();
        while (sample.next()) {
          if (sample.tag() == 1) {
            for (const uint64_t id : sample.get_packed_uint64()) ids.push_back(id);
          } else {
            for (const int64_t value : sample.get_packed_int64()) values.push_back(value);
          }
        }
        break;
      }
      case 3: {
        pbf_reader mapping = profile.get_message();
        while (mapping.next()) {
          if (mapping.tag() == 6) {
            build_ids.push_back(static_cast<uint64_t>(mapping.get_int64()));
          } else {
            mapping.skip();
          }
        }
        break;
      }
      case 4: {
        pbf_reader location = profile.get_message();
        uint64_t id = 0;
        while (location.next()) {
          if (location.tag() == 1) {
            id = location.get_uint64();
          } else if (location.tag() == 4) {
            pbf_reader line = location.get_message();
            if (line.next(1)) function_of[id] = line.get_uint64();
          } else {
            location.skip();
          }
        }
        break;
      }
      case 5: {
        pbf_reader function = profile.get_message();
        uint64_t id = 0;
        while (function.next()) {
          if (function.tag() == 1) {
            id = function.get_uint64();
          } else if (function.tag() == 2) {
            name_of[id] = static_cast<uint64_t>(function.get_int64());
          } else {
            function.skip();
          }
        }
        break;
      }
      case 6:
        texts.push_back(profile.get_string());
        break;
      case 10:
        read.duration = profile.get_int64();
        break;
      case 12:
        read.period = profile.get_int64();
        break;
      default:
        profile.skip();
    }
  }
  EXPECT_EQ(texts.at(0), "");
  for (const uint64_t name : type_names) read.types.push_back(texts.at(name));
  for (const uint64_t id : build_ids) read.build_ids.push_back(texts.at(id));
  const auto add = [](std::vector<int64_t>& sums, const std::vector<int64_t>& values) {
    sums.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
  };
  for (const auto& [ids, values] : samples) {
    add(read.whole, values);
    std::map<std::string, bool> seen;
    for (const uint64_t id : ids) {
      const auto function = function_of.find(id);
      if (function == function_of.end()) continue;
      const std::string& name = texts.at(name_of.at(function->second));
      if (!std::exchange(seen[name], true)) add(read.by_function[name], values);
    }
  }
  return read;
}

TEST(CpuSamplerTest, FindsTheFunctionThatTakesTheTime) {
  const base::RealClock clock;
  const auto sampler = CpuSampler::Start(clock);
  ASSERT_TRUE(sampler.has_value()) << sampler.error().message;
  // Some 0.3 s where nothing else slows it.
  EXPECT_GT(BusyWorkOfTheTest(60'000'000), 0);
  const ReadProfile profile = Read((*sampler)->Finish());
  EXPECT_THAT(profile.types, ElementsAre("samples", "cpu"));
  EXPECT_EQ(profile.period, 10'000'000);
  EXPECT_GT(profile.duration, 0);
  ASSERT_EQ(profile.whole.size(), 2u);
  EXPECT_GE(profile.whole[0], 3);
  EXPECT_EQ(profile.whole[1], profile.whole[0] * 10'000'000);
  const auto busy = profile.by_function.find("berth::profiling::BusyWorkOfTheTest(int)");
  ASSERT_NE(busy, profile.by_function.end());
  EXPECT_GE(busy->second[0], profile.whole[0] / 2);
  EXPECT_THAT(profile.build_ids, Not(IsEmpty()));
}

TEST(CpuSamplerTest, IsThereOnceAtATime) {
  const base::RealClock clock;
  auto first = CpuSampler::Start(clock);
  ASSERT_TRUE(first.has_value());
  const auto second = CpuSampler::Start(clock);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().message, "cpu profiling already in use");
  EXPECT_GT(BusyWorkOfTheTest(20'000'000), 0);
  first->reset();
  const auto third = CpuSampler::Start(clock);
  ASSERT_TRUE(third.has_value());
  // What the first has seen is not the third's.
  EXPECT_THAT(Read((*third)->Finish()).by_function,
              Not(testing::Contains(testing::Key(HasSubstr("BusyWorkOfTheTest")))));
}

TEST(ProfileTest, AddsUpEqualStacksAndNamesFunctions) {
  const auto work = reinterpret_cast<uintptr_t>(&BusyWorkOfTheTest);
  Profile profile({{"inuse_objects", "count"}, {"inuse_space", "bytes"}}, 512);
  profile.Add({work}, {1, 100});
  profile.Add({work}, {2, 50});
  profile.Add({0x10, work + 1}, {4, 7});
  const ReadProfile read = Read(profile.Serialize());
  EXPECT_THAT(read.types, ElementsAre("inuse_objects", "inuse_space"));
  EXPECT_THAT(read.whole, ElementsAre(7, 157));
  EXPECT_THAT(read.by_function.at("berth::profiling::BusyWorkOfTheTest(int)"), ElementsAre(7, 157));
}

TEST(SymbolsTest, AProgramWithoutThemHasNone) {
  EXPECT_TRUE(Symbols::Of("/proc/self/stat").empty());
  EXPECT_TRUE(Symbols::Of("/nothing").empty());
}

// A program may be replaced while it is read.
TEST(SymbolsTest, ADamagedProgramIsReadAsFarAsItGoes) {
  const auto program = base::ReadFile("/proc/self/exe", size_t{1} << 30);
  ASSERT_TRUE(program.has_value());
  const std::string path = testing::TempDir() + "/damaged_program";
  for (const size_t size : {size_t{3}, size_t{60}, program->size() / 2, program->size() - 100}) {
    ASSERT_TRUE(base::WritePrivateFile(path, program->substr(0, size)).has_value());
    (void)Symbols::Of(path).Find(1);
  }
  std::string odd = *program;
  for (size_t i = 0x28; i < 0x40; ++i) odd[i] = '\xff';  // where the sections are, and how many
  ASSERT_TRUE(base::WritePrivateFile(path, odd).has_value());
  EXPECT_TRUE(Symbols::Of(path).empty());
}

TEST(HeapProfileTest, StandsForAllAllocationsThatTheSampledOnesStandFor) {
  const auto converted = ConvertHeapProfile(
      "heap_v2/524288\n"
      "  t*: 3: 1048640 [0: 0]\n"
      "  t0: 3: 1048640 [0: 0]\n"
      "@ 0x10 0x20\n"
      "  t*: 1: 1048576 [0: 0]\n"
      "  t0: 1: 1048576 [0: 0]\n"
      "@ 0x30\n"
      "  t*: 2: 64 [0: 0]\n"
      "\n"
      "MAPPED_LIBRARIES:\n"
      "@ 0x1\n"
      "  t*: 9: 9 [0: 0]\n");
  ASSERT_TRUE(converted.has_value()) << converted.error().message;
  const ReadProfile read = Read(*converted);
  EXPECT_EQ(read.period, 524288);
  // 1 of 1 MiB: 1 / (1 - e^-2); 2 of 32 bytes: 1 / (1 - e^(-32 / 524288)) each.
  EXPECT_THAT(read.whole, ElementsAre(1 + 32769, 1212697 + 1048608));
}

TEST(HeapProfileTest, SaysWhatIsWrong) {
  EXPECT_THAT(ConvertHeapProfile("").error().message, HasSubstr("heap_v2"));
  EXPECT_THAT(ConvertHeapProfile("heap_v2/x\n").error().message, HasSubstr("rate"));
  EXPECT_THAT(ConvertHeapProfile("heap_v2/1\n@ 0x1\n  t*: 1 [0: 0]\n").error().message,
              HasSubstr("no count and size"));
  EXPECT_THAT(HeapProfile().error().message, HasSubstr("MALLOC_CONF=prof:true"));
}

}  // namespace
}  // namespace berth::profiling
