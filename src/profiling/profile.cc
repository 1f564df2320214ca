// SPDX-License-Identifier: Apache-2.0
#include "src/profiling/profile.h"

#include <algorithm>
#include <iterator>
#include <protozero/pbf_writer.hpp>

#include "src/profiling/symbols.h"

namespace berth::profiling {
namespace {

using protozero::pbf_writer;

// Numbers of the fields, by message.
namespace field {
enum Profile : uint8_t {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
};
enum ValueType : uint8_t { kType = 1, kUnit = 2 };
enum Sample : uint8_t { kLocationIds = 1, kValues = 2 };
enum Mapping : uint8_t {
  kMappingId = 1,
  kMemoryStart = 2,
  kMemoryLimit = 3,
  kFileOffset = 4,
  kFilename = 5,
  kBuildId = 6,
  kHasFunctions = 7,
};
enum Location : uint8_t { kLocationId = 1, kMappingOf = 2, kAddress = 3, kLine = 4 };
enum Line : uint8_t { kFunctionOf = 1 };
enum Function : uint8_t { kFunctionId = 1, kName = 2, kSystemName = 3 };
}  // namespace field

// Writes a profile's tables: each text, mapping, function and address once, by number.
class Writer {
 public:
  explicit Writer(std::string& out) : profile_(out), mappings_(CodeMappings()) {
    (void)Text("");  // pprof wants it first
    symbols_.resize(mappings_.size());
    used_.resize(mappings_.size());
  }

  void AddType(field::Profile field, const ValueType& type) {
    std::string bytes;
    pbf_writer message(bytes);
    message.add_int64(field::kType, Text(type.type));
    message.add_int64(field::kUnit, Text(type.unit));
    profile_.add_message(field, bytes);
  }

  void AddSample(const Stack& stack, const std::vector<int64_t>& values) {
    std::vector<uint64_t> ids;
    for (size_t i = 0; i < stack.size(); ++i) {
      // A return address may be the next function's; the call is before it.
      ids.push_back(Location(i == 0 ? stack[i] : stack[i] - 1));
    }
    std::string bytes;
    pbf_writer message(bytes);
    message.add_packed_uint64(field::kLocationIds, ids.begin(), ids.end());
    message.add_packed_int64(field::kValues, values.begin(), values.end());
    profile_.add_message(field::kSample, bytes);
  }

  void AddTimes(Time start, Duration duration, int64_t period) {
    profile_.add_int64(field::kTimeNanos, start.time_since_epoch().count());
    profile_.add_int64(field::kDurationNanos, duration.count());
    profile_.add_int64(field::kPeriod, period);
  }

  // After all else: what it was made of.
  void Finish() {
    for (size_t i = 0; i < mappings_.size(); ++i) {
      if (used_[i]) AddMapping(i);
    }
    for (const std::string& text : texts_) profile_.add_string(field::kStringTable, text);
  }

 private:
  int64_t Text(std::string_view text) {
    const auto [it, is_new] = numbers_.try_emplace(std::string(text), texts_.size());
    if (is_new) texts_.emplace_back(text);
    return static_cast<int64_t>(it->second);
  }

  // The index of the mapping that holds the address; none: their number.
  size_t MappingOf(uintptr_t address) const {
    const auto next = std::ranges::upper_bound(mappings_, address, {}, &Mapping::begin);
    if (next == mappings_.begin() || address >= std::prev(next)->end) return mappings_.size();
    return static_cast<size_t>(std::prev(next) - mappings_.begin());
  }

  uint64_t Location(uintptr_t address) {
    const auto [it, is_new] = locations_.try_emplace(address, locations_.size() + 1);
    if (!is_new) return it->second;
    std::string bytes;
    pbf_writer message(bytes);
    message.add_uint64(field::kLocationId, it->second);
    message.add_uint64(field::kAddress, address);
    if (const size_t mapping = MappingOf(address); mapping < mappings_.size()) {
      message.add_uint64(field::kMappingOf, mapping + 1);
      if (const uint64_t function = Function(mapping, address); function != 0) {
        std::string line;
        pbf_writer(line).add_uint64(field::kFunctionOf, function);
        message.add_message(field::kLine, line);
      }
    }
    profile_.add_message(field::kLocation, bytes);
    return it->second;
  }

  // Its number; 0: there is no symbol.
  uint64_t Function(size_t mapping, uintptr_t address) {
    if (!used_[mapping]) {
      used_[mapping] = true;
      symbols_[mapping] = Symbols::Of(mappings_[mapping].file);
    }
    const std::string name = symbols_[mapping].Find(address - mappings_[mapping].load_bias);
    if (name.empty()) return 0;
    const auto [it, is_new] = functions_.try_emplace(name, functions_.size() + 1);
    if (is_new) {
      std::string bytes;
      pbf_writer message(bytes);
      message.add_uint64(field::kFunctionId, it->second);
      message.add_int64(field::kName, Text(name));
      message.add_int64(field::kSystemName, Text(name));
      profile_.add_message(field::kFunction, bytes);
    }
    return it->second;
  }

  void AddMapping(size_t i) {
    const Mapping& mapping = mappings_[i];
    std::string bytes;
    pbf_writer message(bytes);
    message.add_uint64(field::kMappingId, i + 1);
    message.add_uint64(field::kMemoryStart, mapping.begin);
    message.add_uint64(field::kMemoryLimit, mapping.end);
    message.add_uint64(field::kFileOffset, mapping.offset);
    message.add_int64(field::kFilename, Text(mapping.path));
    message.add_int64(field::kBuildId, Text(mapping.build_id));
    message.add_bool(field::kHasFunctions, !symbols_[i].empty());
    profile_.add_message(field::kMapping, bytes);
  }

  pbf_writer profile_;
  std::vector<Mapping> mappings_;
  std::vector<Symbols> symbols_;  // by mapping, of those that are used
  std::vector<bool> used_;
  std::vector<std::string> texts_;
  std::map<std::string, size_t, std::less<>> numbers_;
  std::map<uintptr_t, uint64_t> locations_;
  std::map<std::string, uint64_t> functions_;
};

}  // namespace

void Profile::Add(const Stack& stack, const std::vector<int64_t>& values) {
  std::vector<int64_t>& sums = samples_[stack];
  sums.resize(types_.size());
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
}

std::string Profile::Serialize() const {
  std::string out;
  Writer writer(out);
  for (const ValueType& type : types_) writer.AddType(field::kSampleType, type);
  writer.AddType(field::kPeriodType, types_.back());
  writer.AddTimes(start_, duration_, period_);
  for (const auto& [stack, values] : samples_) writer.AddSample(stack, values);
  writer.Finish();
  return out;
}

}  // namespace berth::profiling
