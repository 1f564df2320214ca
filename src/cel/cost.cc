// SPDX-License-Identifier: Apache-2.0
#include "src/cel/cost.h"

#include <algorithm>
#include <cmath>

#include "src/cel/formats.h"

namespace berth::cel {
namespace {

constexpr double kPerCharacter = 0.1;
constexpr double kPerPatternCharacter = 0.25;
constexpr uint64_t kList = 10;
constexpr uint64_t kCall = 1;

uint64_t RoundedUp(double cost) { return static_cast<uint64_t>(std::ceil(cost)); }

uint64_t Characters(uint64_t count, double factor = 1) {
  return RoundedUp(static_cast<double>(count) * factor * kPerCharacter);
}

uint64_t RegexCost(uint64_t text, uint64_t pattern) {
  return RoundedUp((1.0 + static_cast<double>(text)) * kPerCharacter) *
         RoundedUp(static_cast<double>(pattern) * kPerPatternCharacter);
}

uint64_t TraversalCost(const Value& value, uint64_t& steps) {
  if (steps == 0) return 0;
  --steps;
  switch (value.kind()) {
    case Kind::kString:
    case Kind::kBytes:
      return static_cast<uint64_t>(static_cast<double>(value.text().size()) * kPerCharacter);
    case Kind::kList: {
      uint64_t cost = 0;
      for (const Value& item : value.list().items) {
        if (steps == 0) break;
        cost += TraversalCost(item, steps);
      }
      return cost;
    }
    case Kind::kMap: {
      uint64_t cost = 0;
      for (const auto& [key, held] : value.map().entries())
        cost += TraversalCost(key, steps) + TraversalCost(held, steps);
      return cost;
    }
    default:
      return 1;
  }
}

uint64_t MadeListCost(double factor, uint64_t size) {
  if (factor < 0) factor = 1;
  return static_cast<uint64_t>(static_cast<double>(size) * factor) + kCall + kList;
}

std::optional<uint64_t> SelfCompareCost(const Value& list) {
  if (list.kind() != Kind::kList) return std::nullopt;
  const std::vector<Value>& items = list.list().items;
  double factor = 2;
  if (!items.empty() &&
      (items.front().kind() == Kind::kString || items.front().kind() == Kind::kBytes))
    factor += kPerCharacter;
  return MadeListCost(factor, items.size() * items.size());
}

std::optional<uint64_t> FlattenCost(std::span<const Value> args) {
  double depth = 1;
  if (args.size() == 2) {
    if (args[1].kind() != Kind::kInt) return std::nullopt;
    depth = static_cast<double>(args[1].integer());
  }
  return MadeListCost(depth, SizeOf(args[0]));
}

uint64_t FormatCost(std::span<const Value> args) {
  const auto* const format = As<FormatValue>(args[0]);
  return format == nullptr ? kCall : RegexCost(SizeOf(args[1]), format->pattern_size());
}

uint64_t SubnetCost(uint64_t prefix) {
  return Characters(prefix + prefix) + Characters(prefix) + 1;
}

}  // namespace

std::optional<uint64_t> CostOf(Cost rule, std::span<const Value> args, const Value& result,
                               uint64_t& steps) {
  switch (rule) {
    case Cost::kDefault:
    case Cost::kOne:
      return kCall;
    case Cost::kFirst:
      return Characters(SizeOf(args[0]));
    case Cost::kFirstTwice:
      return Characters(SizeOf(args[0]), 2);
    case Cost::kSecond:
      return Characters(SizeOf(args[1]));
    case Cost::kSecondWhole:
      return SizeOf(args[1]);
    case Cost::kSmaller:
      return Characters(std::min(SizeOf(args[0]), SizeOf(args[1])));
    case Cost::kBoth:
      return Characters(SizeOf(args[0]) + SizeOf(args[1]));
    case Cost::kProduct:
      return Characters(SizeOf(args[0])) * Characters(SizeOf(args[1]));
    case Cost::kRegex:
      return RegexCost(SizeOf(args[0]), SizeOf(args[1]));
    case Cost::kResultTwice:
      return Characters(SizeOf(result), 2);
    case Cost::kTraversal:
      return TraversalCost(args[0], steps);
    case Cost::kMadeList:
      return MadeListCost(1, SizeOf(result));
    case Cost::kFlatten:
      return FlattenCost(args);
    case Cost::kSelfCompare:
      return SelfCompareCost(args[0]);
    case Cost::kKeysCompare:
      return SelfCompareCost(args[1]);
    case Cost::kSets:
      return kCall + SizeOf(args[0]) * SizeOf(args[1]);
    case Cost::kSetsTwice:
      return kCall + SizeOf(args[0]) * SizeOf(args[1]) * 2;
    case Cost::kWithin:
      return Characters(SizeOf(args[0]) * 2);
    case Cost::kWithinText:
      return Characters(SizeOf(args[0]) * 2) + Characters(SizeOf(args[1]));
    case Cost::kSubnet:
      return SubnetCost(SizeOf(args[0]));
    case Cost::kSubnetText:
      return SubnetCost(SizeOf(args[0])) + Characters(SizeOf(args[1]));
    case Cost::kFormat:
      return FormatCost(args);
  }
  return kCall;
}

uint64_t CostOfEquality(const Value& a, const Value& b, bool negated) {
  if (!negated && a.kind() == Kind::kExtension) return kCall;
  const auto size = [](const Value& value) {
    const Value* const held = value.kind() == Kind::kOptional ? value.held() : nullptr;
    return SizeOf(held == nullptr ? value : *held);
  };
  return Characters(std::min(size(a), size(b)));
}

}  // namespace berth::cel
