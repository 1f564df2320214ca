// SPDX-License-Identifier: Apache-2.0
#include "src/cel/machine.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "src/cel/environment.h"
#include "src/cel/kubernetes_values.h"
#include "src/cel/value_ops.h"

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

// What a call costs, its result known. nullopt: the rule cannot be applied to these arguments.
// `steps`: of values that may be looked at.
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

// Of == and !=: a tenth of the smaller side; 1 for extensions without a size to compare.
uint64_t CostOfEquality(const Value& a, const Value& b, bool negated) {
  if (!negated && a.kind() == Kind::kExtension) return kCall;
  const auto size = [](const Value& value) {
    const Value* const held = value.kind() == Kind::kOptional ? value.held() : nullptr;
    return SizeOf(held == nullptr ? value : *held);
  };
  return Characters(std::min(size(a), size(b)));
}

constexpr uint64_t kListCost = 10;
constexpr uint64_t kMapCost = 30;
// How much a value of any kind counts in memory.
constexpr uint64_t kValueBytes = sizeof(Value);

struct LoopState {
  Value range;
  size_t at = 0;
};

class Machine {
 public:
  Machine(const Program& program, std::span<const Value> variables, uint64_t cost_limit)
      : program_(program),
        variables_(variables),
        budget_(cost_limit),
        locals_(program.locals),
        known_(program.locals, 0),
        loops_(program.loops.size()) {
    stack_.reserve(16);
  }

  Evaluation Run() {
    const auto end = static_cast<uint32_t>(program_.code.size());
    while (at_ < end && !failed_) {
      Step(program_.code[at_++]);
      if (budget_.exhausted()) Fail("operation cancelled: actual cost limit exceeded");
      if (budget_.out_of_memory()) Fail("operation cancelled: memory limit exceeded");
    }
    return {failed_ ? std::move(failure_) : Pop(), budget_.spent()};
  }

 private:
  Value Pop() {
    Value value = std::move(stack_.back());
    stack_.pop_back();
    return value;
  }
  Value& Top() { return stack_.back(); }
  void Drop(size_t count) {
    stack_.erase(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
  }
  void Spend(uint64_t cost) { budget_.Spend(cost); }
  // For good: no operator of the expression sees it.
  void Fail(std::string message) {
    if (!failed_) failure_ = Value::Error(std::move(message));
    failed_ = true;
  }

  static bool NothingToSelectFrom(const Value& value) {
    return value.IsError() || value.chain() == Value::kEnded;
  }

  void Step(const Instruction& step) {
    switch (step.op) {
      case Op::kConstant:
        stack_.push_back(program_.constants[step.a]);
        return;
      case Op::kVariable:
        stack_.push_back(variables_[step.a]);
        return;
      case Op::kLocal:
        stack_.push_back(locals_[step.a]);
        return;
      case Op::kTakeLocal:
        stack_.push_back(std::move(locals_[step.a]));
        return;
      case Op::kLazyLocal:
      case Op::kForget:
      case Op::kReturnLocal:
        return StepLazy(step);
      case Op::kBeginChain:
      case Op::kSelect:
      case Op::kGuard:
      case Op::kIndex:
      case Op::kEndChain:
        return StepChain(step);
      case Op::kCall:
        return Call(program_.calls[step.a]);
      case Op::kStopOnError:
        if (Top().IsError()) {
          std::swap(Top(), stack_[stack_.size() - 1 - step.a]);
          Drop(step.a);
          at_ = step.b;
        }
        return;
      case Op::kEqual:
      case Op::kNotEqual:
        return Compare(step.op == Op::kNotEqual);
      case Op::kInSet:
        return FindInSet(program_.constants[step.a].map());
      case Op::kList:
        return MakeList(program_.literals[step.a]);
      case Op::kMap:
        return MakeMap(program_.literals[step.a]);
      case Op::kLoop:
      case Op::kNext:
      case Op::kContinue:
      case Op::kSetLocal:
      case Op::kEndLoop:
        return StepLoop(step);
      default:
        return StepLogic(step);
    }
  }

  void StepLazy(const Instruction& step) {
    switch (step.op) {
      case Op::kForget:
        known_[step.a] = 0;
        return;
      case Op::kLazyLocal:
        if (known_[step.a] != 0) {
          stack_.push_back(locals_[step.a]);
        } else {
          returns_.push_back(at_);
          at_ = step.b;
        }
        return;
      default:
        locals_[step.a] = Top();
        known_[step.a] = 1;
        at_ = returns_.back();
        returns_.pop_back();
    }
  }

  void StepChain(const Instruction& step) {
    switch (step.op) {
      case Op::kBeginChain:
        BeginChain(Top());
        return;
      case Op::kSelect:
        if (!NothingToSelectFrom(Top()))
          Spend(Select(Top(), program_.constants[step.a], (step.b & kOptionalKey) != 0,
                       (step.b & kPresence) != 0));
        return;
      case Op::kGuard:
        if (NothingToSelectFrom(Top())) at_ = step.a;
        return;
      case Op::kIndex: {
        const Value index = Pop();
        Spend(Select(Top(), index, (step.b & kOptionalKey) != 0, false));
        return;
      }
      default:
        Spend(step.a);
        if (step.b == kHasOfChoice) budget_.Refund(1);
        EndChain(Top(), step.b != 0);
    }
  }

  void StepLogic(const Instruction& step) {
    switch (step.op) {
      case Op::kJump:
        at_ = step.a;
        return;
      case Op::kAndShort:
        if (Top().IsBool(false)) at_ = step.a;
        return;
      case Op::kOrShort:
        if (Top().IsBool(true)) at_ = step.a;
        return;
      case Op::kAnd:
        return Merge(false);
      case Op::kOr:
        return Merge(true);
      case Op::kBranch:
        if (Top().kind() == Kind::kBool) {
          if (!Pop().boolean()) at_ = step.a;
        } else {
          Top() = OrNoSuchOverload(Top());
          at_ = step.b;
        }
        return;
      default:
        return First(step);
    }
  }

  // && and || of the top two, the first of which does not decide it.
  void Merge(bool decisive) {
    const Value right = Pop();
    if (right.IsBool(decisive)) {
      Top() = right;
    } else if (Top().kind() != Kind::kBool) {
      Top() = OrNoSuchOverload(Top());
    } else if (right.kind() != Kind::kBool) {
      Top() = OrNoSuchOverload(right);
    } else {
      Top() = Value::Bool(!decisive);
    }
  }

  void First(const Instruction& step) {
    Value& top = Top();
    if (top.kind() == Kind::kOptional && top.held() == nullptr) {
      stack_.pop_back();
      return;
    }
    at_ = step.a;
    if (top.kind() != Kind::kOptional) {
      top = OrNoSuchOverload(top);
    } else if (step.op == Op::kOrValue) {
      top = Value(*top.held());
    }
  }

  void Compare(bool negated) {
    const Value right = Pop();
    const Value left = Pop();
    Value result;
    if (left.IsError()) {
      result = left;
    } else if (right.IsError()) {
      result = right;
    } else {
      result = Equal(left, right, budget_.steps());
      if (negated) result = Value::Bool(!result.IsBool(true));
    }
    Spend(CostOfEquality(left, right, negated));
    stack_.push_back(std::move(result));
  }

  void FindInSet(const Map& set) {
    if (CanBeKey(Top()) && !Top().IsError()) Top() = Value::Bool(set.Contains(Top()));
  }

  // False, and the evaluation fails: Go has no hash of it.
  bool CanBeKey(const Value& value) {
    if (value.kind() != Kind::kBytes && value.kind() != Kind::kExtension) return true;
    const std::string name = ImplementationName(value);
    if (name != "types.Bytes" && name != "cel.Semver" && name != "cel.NamedFormat") return true;
    Fail("internal error: runtime error: hash of unhashable type " + name);
    return false;
  }

  // How Go words that a rule for costs finds no list, or no number, among the arguments.
  static std::string Uncountable(Cost rule, std::span<const Value> args) {
    if (rule == Cost::kFlatten)
      return "ref.Val is " + ImplementationName(args[1]) + ", not types.Int";
    const Value& bad = args[rule == Cost::kKeysCompare ? 1 : 0];
    const bool adds = bad.kind() != Kind::kBool && HasOrder(bad.kind());
    return ImplementationName(bad) + " is not traits.Lister: missing method " +
           (adds ? "Contains" : "Add");
  }

  void Call(const CallSite& site) {
    const std::span<Value> args(stack_.data() + (stack_.size() - site.count), site.count);
    Value result;
    const Value* error = nullptr;
    const bool strict = site.function->name != "@not_strictly_false";
    for (const Value& arg : args)
      if (strict && error == nullptr && arg.IsError()) error = &arg;
    if (error == nullptr && site.function->name == "@in" && args[1].kind() == Kind::kMap &&
        args[1].map().size() > 0 && !args[1].map().takes_any_key() && !CanBeKey(args[0]))
      return;
    result = error != nullptr ? *error : Invoke(site, budget_, args);
    const std::optional<uint64_t> cost = CostOf(site.cost, args, result, budget_.steps());
    if (cost) {
      Spend(*cost);
    } else {
      Fail("internal error: interface conversion: " + Uncountable(site.cost, args));
    }
    Drop(site.count);
    stack_.push_back(std::move(result));
  }

  // False: the value cannot be optional, and the top is an error.
  bool Unwrap(Value& value, const std::string& what) {
    if (value.kind() == Kind::kOptional) return true;
    value = Value::Error("cannot initialize optional " + what + " from non-optional value " +
                         DebugText(value));
    return false;
  }

  void MakeList(const Literal& literal) {
    Spend(kListCost);
    if (literal.count > 0 && Top().IsError()) return;
    budget_.Allocate(literal.count * kValueBytes);
    std::vector<Value> items;
    items.reserve(literal.count);
    const size_t begin = stack_.size() - literal.count;
    for (size_t i = 0; i < literal.count; ++i) {
      Value& value = stack_[begin + i];
      if (literal.optional.empty() || !literal.optional[i]) {
        items.push_back(std::move(value));
      } else if (!Unwrap(value, "list element")) {
        return Replace(literal.count, Value(value));
      } else if (value.held() != nullptr) {
        items.push_back(*value.held());
      }
    }
    Replace(literal.count, Value::ListOf(std::move(items)));
  }

  void MakeMap(const Literal& literal) {
    const size_t count = size_t{literal.count} * 2;
    const bool stopped = count > 0 && Top().IsError();
    for (size_t i = 0; i < literal.count && !stopped; ++i)
      if (!CanBeKey(stack_[stack_.size() - count + 2 * i])) return;
    Spend(kMapCost);
    if (stopped) return;
    budget_.Allocate(count * kValueBytes);
    auto map = std::make_shared<Map>();
    const size_t begin = stack_.size() - count;
    for (size_t i = 0; i < literal.count; ++i) {
      Value& key = stack_[begin + 2 * i];
      Value& value = stack_[begin + 2 * i + 1];
      if (!literal.optional.empty() && literal.optional[i]) {
        if (!Unwrap(value, "entry '" + DebugText(key) + "'")) return Replace(count, Value(value));
        if (value.held() == nullptr) continue;
        map->Put(key, *value.held());
      } else {
        map->Put(key, value);
      }
    }
    Replace(count, Value::Of(std::shared_ptr<const Map>(std::move(map))));
  }

  void Replace(size_t count, Value value) {
    Drop(count);
    stack_.push_back(std::move(value));
  }

  void StepLoop(const Instruction& step) {
    switch (step.op) {
      case Op::kLoop:
        return BeginLoop(step);
      case Op::kNext:
        return Next(step);
      case Op::kContinue: {
        const Value condition = Pop();
        if (condition.IsBool(false)) at_ = step.b;
        return;
      }
      case Op::kSetLocal:
        locals_[step.a] = Pop();
        return;
      default:
        loops_[step.a].range = Value();
    }
  }

  void BeginLoop(const Instruction& step) {
    if (Top().kind() == Kind::kList || Top().kind() == Kind::kMap) {
      loops_[step.a].range = Pop();
      loops_[step.a].at = 0;
      return;
    }
    if (!Top().IsError()) {
      const std::string type = ImplementationName(Top());
      Top() =
          Value::Error(program_.loops[step.a].two ? "unsupported comprehension range type: " + type
                                                  : "got '" + type + "', expected iterable type");
    }
    at_ = step.b;
  }

  void Next(const Instruction& step) {
    const Loop& loop = program_.loops[step.a];
    LoopState& state = loops_[step.a];
    const size_t i = state.at++;
    const bool is_list = state.range.kind() == Kind::kList;
    if (i >= (is_list ? state.range.list().items.size() : state.range.map().size())) {
      at_ = step.b;
      return;
    }
    if (is_list) {
      const Value& item = state.range.list().items[i];
      if (loop.two) locals_[loop.second] = item;
      locals_[loop.first] = loop.two ? Value::Int(static_cast<int64_t>(i)) : item;
    } else {
      const auto& [key, value] = state.range.map().entries()[i];
      locals_[loop.first] = key;
      if (loop.two) locals_[loop.second] = value;
    }
  }

  const Program& program_;
  const std::span<const Value> variables_;
  Budget budget_;
  std::vector<Value> stack_;
  std::vector<Value> locals_;
  std::vector<uint8_t> known_;
  std::vector<LoopState> loops_;
  std::vector<uint32_t> returns_;
  uint32_t at_ = 0;
  bool failed_ = false;
  Value failure_;
};

}  // namespace

Evaluation Run(const Program& program, std::span<const Value> variables, uint64_t cost_limit) {
  return Machine(program, variables, cost_limit).Run();
}

}  // namespace berth::cel
