// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/cel/machine.h"
#include "src/cel/phases.h"
#include "src/cel/value_ops.h"

namespace berth::cel {
namespace {

bool IsConstant(const Expr* expr) { return expr->kind == Expr::Kind::kConstant; }

bool IsConversion(const Expr& expr) {
  constexpr std::array<std::string_view, 10> kNames = {
      "bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"};
  return expr.kind == Expr::Kind::kCall && expr.args.size() == 1 &&
         std::find(kNames.begin(), kNames.end(), expr.name) != kNames.end();
}

bool IsPlainAggregate(const Expr& expr) {
  const bool aggregate = expr.kind == Expr::Kind::kList || expr.kind == Expr::Kind::kMap;
  return aggregate &&
         std::none_of(expr.optional.begin(), expr.optional.end(), [](bool is) { return is; });
}

void Become(Expr* expr, Value value) {
  expr->kind = Expr::Kind::kConstant;
  expr->constant = std::move(value);
  expr->args.clear();
}

bool IsSearchInNothing(const Expr& expr) {
  return expr.kind == Expr::Kind::kCall && expr.name == "@in" && expr.overloads.size() == 1 &&
         expr.overloads.front()->id == "in_list" && IsConstant(expr.args[1]) &&
         SizeOf(expr.args[1]->constant) == 0;
}

// Of matches, find and findAll: the pattern is none.
Result<void> CheckPattern(const Expr& expr, Patterns& patterns) {
  const bool searches = expr.name == "matches" || expr.name == "find" || expr.name == "findAll";
  if (expr.kind != Expr::Kind::kCall || !searches || expr.args.size() < 2 ||
      !IsConstant(expr.args[1]) || expr.args[1]->constant.kind() != Kind::kString)
    return {};
  const Result<std::shared_ptr<const Pattern>> pattern =
      patterns.Compile(expr.args[1]->constant.text());
  if (!pattern) return Fail(pattern.error());
  return {};
}

// Of an index: it can be none.
Result<void> CheckIndex(const Expr& expr) {
  const bool indexes = expr.name == "_[_]" || expr.name == "_[?_]";
  if (expr.kind != Expr::Kind::kCall || !indexes || !IsConstant(expr.args[1]) ||
      IsKey(expr.args[1]->constant))
    return {};
  return Fail("invalid qualifier type: " + ImplementationName(expr.args[1]->constant));
}

Value MakeAggregate(const Expr& expr) {
  if (expr.kind == Expr::Kind::kList) {
    std::vector<Value> items;
    for (const Expr* const arg : expr.args) items.push_back(arg->constant);
    return Value::ListOf(std::move(items));
  }
  auto map = std::make_shared<Map>();
  for (size_t i = 0; i + 1 < expr.args.size(); i += 2)
    map->Put(expr.args[i]->constant, expr.args[i + 1]->constant);
  return Value::Of(std::shared_ptr<const Map>(std::move(map)));
}

Value Convert(const Expr& expr, const Environment& environment) {
  Budget budget(~uint64_t{0});
  CallSite site;
  site.function = environment.FindFunction(expr.name);
  site.overload = expr.overloads.size() == 1 ? expr.overloads.front() : nullptr;
  site.count = 1;
  Value argument = expr.args[0]->constant;
  return Invoke(site, budget, std::span(&argument, 1));
}

// Makes constants of lists and maps of constants, and of conversions of constants: they cost
// nothing at run time.
//
// Errors: a conversion that cannot succeed, a constant pattern that is none.
Result<void> FoldConstants(Expr* expr, const Environment& environment, Patterns& patterns) {
  for (Expr* const arg : expr->args)
    if (Result<void> folded = FoldConstants(arg, environment, patterns); !folded) return folded;
  if (expr->comprehension != nullptr) {
    const Comprehension& parts = *expr->comprehension;
    for (Expr* const part : {parts.init, parts.range, parts.condition, parts.step, parts.result})
      if (Result<void> folded = FoldConstants(part, environment, patterns); !folded) return folded;
    return {};
  }
  if (Result<void> checked = CheckPattern(*expr, patterns); !checked) return checked;
  if (Result<void> checked = CheckIndex(*expr); !checked) return checked;
  if (IsSearchInNothing(*expr)) Become(expr, Value::Bool(false));
  if (!std::all_of(expr->args.begin(), expr->args.end(), IsConstant)) return {};
  if (IsPlainAggregate(*expr)) {
    Become(expr, MakeAggregate(*expr));
  } else if (IsConversion(*expr)) {
    Value made = Convert(*expr, environment);
    if (made.IsError()) return Fail(made.text());
    Become(expr, std::move(made));
  }
  return {};
}

// The set that `x in list` may look in for a constant list; an error value when the list holds
// something that sets cannot.
Value SetOf(const List& list) {
  auto set = std::make_shared<Map>();
  const auto put = [&](Value value) { set->Put(std::move(value), Value::Bool(true)); };
  constexpr auto kMaxInt = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  for (const Value& item : list.items) {
    switch (item.kind()) {
      case Kind::kBool:
      case Kind::kString:
        break;
      // A number is found by those of other types that are as large. As in Go, a double is found,
      // too, where it is only the nearest one.
      case Kind::kInt:
        put(Value::Double(static_cast<double>(item.integer())));
        if (item.integer() >= 0) put(Value::Uint(static_cast<uint64_t>(item.integer())));
        break;
      case Kind::kUint:
        put(Value::Double(static_cast<double>(item.natural())));
        if (item.natural() <= kMaxInt) put(Value::Int(static_cast<int64_t>(item.natural())));
        break;
      case Kind::kDouble:
        if (const auto integer = ExactInt(item.real())) put(Value::Int(*integer));
        if (const auto natural = ExactUint(item.real())) put(Value::Uint(*natural));
        break;
      default:
        return NoSuchOverload();
    }
    put(item);
  }
  return Value::Of(std::shared_ptr<const Map>(std::move(set)));
}

bool IsCall(const Expr* expr, std::string_view name) {
  return expr->kind == Expr::Kind::kCall && expr->name == name;
}

bool IsIndex(const Expr* expr) {
  return IsCall(expr, "_[_]") || IsCall(expr, "_[?_]") || IsCall(expr, "_?._");
}

// What selections lengthen instead of starting again.
bool IsChain(const Expr* expr) {
  return expr->kind == Expr::Kind::kIdent || expr->kind == Expr::Kind::kSelect || IsIndex(expr) ||
         IsCall(expr, "_?_:_");
}

class Planner {
 public:
  Planner(const Environment& environment, Patterns& patterns)
      : environment_(environment), patterns_(patterns) {}

  Result<Program> Run(const Expr* root) {
    Emit(root);
    if (!error_.empty()) return Fail(error_);
    return std::move(program_);
  }

 private:
  struct Local {
    std::string name;
    uint32_t slot = 0;
    bool lazy = false;
    uint32_t code = 0;
  };

  uint32_t Here() const { return static_cast<uint32_t>(program_.code.size()); }
  // Where the instruction stands; Aim() sets later where it goes.
  uint32_t Put(Op op, uint32_t a = 0, uint32_t b = 0) {
    program_.code.push_back({op, a, b});
    return Here() - 1;
  }
  void Aim(uint32_t instruction) { program_.code[instruction].a = Here(); }
  void AimB(uint32_t instruction) { program_.code[instruction].b = Here(); }

  uint32_t Constant(const Value& value) {
    program_.constants.push_back(value);
    return static_cast<uint32_t>(program_.constants.size() - 1);
  }

  uint32_t NewLocal() { return program_.locals++; }

  void Emit(const Expr* expr) {
    switch (expr->kind) {
      case Expr::Kind::kConstant:
        Put(Op::kConstant, Constant(expr->constant));
        return;
      case Expr::Kind::kIdent:
      case Expr::Kind::kSelect:
        return EmitChain(expr);
      case Expr::Kind::kCall:
        return EmitCall(expr);
      case Expr::Kind::kList:
      case Expr::Kind::kMap:
        return EmitLiteral(expr);
      case Expr::Kind::kComprehension:
        return EmitComprehension(*expr->comprehension);
      default:
        error_ = "unsupported expression";
    }
  }

  // A choice costs nothing itself, nor does has().
  void EmitChain(const Expr* expr) {
    EmitLink(expr, false);
    const Expr* root = expr;
    while (root->kind == Expr::Kind::kSelect || IsIndex(root)) root = root->args[0];
    const bool choice = IsCall(root, "_?_:_");
    Put(Op::kEndChain, expr->test_only || choice ? 0 : 1,
        !expr->test_only ? 0
        : choice         ? kHasOfChoice
                         : kHas);
  }

  // `selected_from`: something is selected from its value.
  void EmitLink(const Expr* expr, bool selected_from) {
    if (!IsChain(expr)) {
      Emit(expr);
      if (selected_from) Put(Op::kBeginChain);
    } else if (expr->kind == Expr::Kind::kIdent) {
      EmitIdent(expr);
      if (selected_from) Put(Op::kBeginChain);
    } else if (expr->kind == Expr::Kind::kSelect) {
      EmitLink(expr->args[0], true);
      Put(Op::kSelect, Constant(Value::String(expr->name)), expr->test_only ? kPresence : 0);
    } else if (IsIndex(expr)) {
      EmitIndex(expr);
    } else {
      EmitChoice(expr, selected_from);
    }
  }

  void EmitIdent(const Expr* expr) {
    if (expr->outermost) {
      Put(Op::kVariable, static_cast<uint32_t>(environment_.FindVariable(expr->name)->index));
      return;
    }
    for (size_t i = locals_.size(); i-- > 0;) {
      const Local& local = locals_[i];
      if (local.name != expr->name) continue;
      if (local.lazy) {
        Put(Op::kLazyLocal, local.slot, local.code);
      } else {
        Put(expr == taken_ || expr == also_taken_ ? Op::kTakeLocal : Op::kLocal, local.slot);
      }
      return;
    }
    error_ = "no such attribute(s): " + expr->name;
  }

  void EmitIndex(const Expr* expr) {
    EmitLink(expr->args[0], true);
    const uint32_t bits = expr->name == "_[_]" ? 0 : kOptionalKey;
    const Expr* const index = expr->args[1];
    if (index->kind == Expr::Kind::kConstant && IsKey(index->constant)) {
      Put(Op::kSelect, Constant(index->constant), bits);
      return;
    }
    const uint32_t guard = Put(Op::kGuard);
    if (IsChain(index)) {
      EmitLink(index, false);
      Put(Op::kEndChain, 0);
    } else {
      Emit(index);
    }
    Put(Op::kIndex, 0, bits);
    Aim(guard);
  }

  void EmitChoice(const Expr* expr, bool selected_from) {
    Emit(expr->args[0]);
    const uint32_t branch = Put(Op::kBranch);
    EmitLink(expr->args[1], selected_from);
    const uint32_t jump = Put(Op::kJump);
    Aim(branch);
    EmitLink(expr->args[2], selected_from);
    Aim(jump);
    AimB(branch);
  }

  void EmitCall(const Expr* expr) {
    const std::string& name = expr->name;
    if (IsChain(expr)) return EmitChain(expr);
    if (name == "_&&_") return EmitLogic(expr, Op::kAndShort, Op::kAnd);
    if (name == "_||_") return EmitLogic(expr, Op::kOrShort, Op::kOr);
    if (name == "or") return EmitFirst(expr, Op::kOrOptional);
    if (name == "orValue") return EmitFirst(expr, Op::kOrValue);
    if (name == "_==_" || name == "_!=_") {
      Emit(expr->args[0]);
      Emit(expr->args[1]);
      Put(name == "_==_" ? Op::kEqual : Op::kNotEqual);
      return;
    }
    if (name == "@in" && EmitSetMembership(expr)) return;
    EmitFunction(expr);
  }

  void EmitLogic(const Expr* expr, Op shortcut, Op op) {
    Emit(expr->args[0]);
    const uint32_t jump = Put(shortcut);
    Emit(expr->args[1]);
    Put(op);
    Aim(jump);
  }

  void EmitFirst(const Expr* expr, Op op) {
    Emit(expr->args[0]);
    const uint32_t jump = Put(op);
    Emit(expr->args[1]);
    Aim(jump);
  }

  bool EmitSetMembership(const Expr* expr) {
    const Expr* const list = expr->args[1];
    if (expr->overloads.size() != 1 || expr->overloads.front()->id != "in_list" ||
        list->kind != Expr::Kind::kConstant || list->constant.kind() != Kind::kList)
      return false;
    const Value set = SetOf(list->constant.list());
    if (set.IsError()) return false;
    Emit(expr->args[0]);
    Put(Op::kInSet, Constant(set));
    return true;
  }

  void EmitFunction(const Expr* expr) {
    CallSite site;
    site.function = environment_.FindFunction(expr->name);
    site.overload = expr->overloads.size() == 1 ? expr->overloads.front() : nullptr;
    site.count = static_cast<uint32_t>(expr->args.size());
    site.cost = CostRule(site);
    ReadPattern(expr, site);
    const bool found_at_run_time =
        site.overload == nullptr && site.function->dispatch == Dispatch::kGuarded;
    // These look at no further argument once one is an error; the others evaluate all first.
    const bool stops = site.count > 2 || found_at_run_time || site.pattern != nullptr ||
                       site.function->name == "format";
    std::vector<uint32_t> stop;
    for (uint32_t i = 0; i < site.count; ++i) {
      Emit(expr->args[i]);
      // Not after the last: once all are there, the call costs what it costs.
      if (stops && i + 1 < site.count) stop.push_back(Put(Op::kStopOnError, i));
    }
    program_.calls.push_back(std::move(site));
    Put(Op::kCall, static_cast<uint32_t>(program_.calls.size() - 1));
    for (const uint32_t instruction : stop) AimB(instruction);
  }

  static Cost CostRule(const CallSite& site) {
    if (site.overload != nullptr && site.overload->cost != Cost::kDefault)
      return site.overload->cost;
    return site.function->cost == Cost::kDefault ? Cost::kOne : site.function->cost;
  }

  void ReadPattern(const Expr* expr, CallSite& site) {
    const std::string& name = site.function->name;
    if (name != "matches" && name != "find" && name != "findAll") return;
    if (expr->args.size() < 2 || expr->args[1]->kind != Expr::Kind::kConstant ||
        expr->args[1]->constant.kind() != Kind::kString)
      return;
    Result<std::shared_ptr<const Pattern>> pattern =
        patterns_.Compile(expr->args[1]->constant.text());
    if (pattern) {
      site.pattern = *std::move(pattern);
    } else {
      error_ = pattern.error().message;
    }
  }

  void EmitLiteral(const Expr* expr) {
    const bool is_list = expr->kind == Expr::Kind::kList;
    Literal literal;
    literal.count = static_cast<uint32_t>(is_list ? expr->args.size() : expr->args.size() / 2);
    for (const bool optional : expr->optional)
      if (optional) literal.optional = expr->optional;
    std::vector<uint32_t> stop;
    for (size_t i = 0; i < expr->args.size(); ++i) {
      Emit(expr->args[i]);
      stop.push_back(Put(Op::kStopOnError, static_cast<uint32_t>(i)));
    }
    program_.literals.push_back(std::move(literal));
    const auto index = static_cast<uint32_t>(program_.literals.size() - 1);
    // Even a literal that an error cut short costs what it would have.
    for (const uint32_t instruction : stop) AimB(instruction);
    Put(is_list ? Op::kList : Op::kMap, index);
  }

  void EmitComprehension(const Comprehension& parts) {
    if (parts.variable == "#unused") return EmitLet(parts);
    Emit(parts.range);
    Loop loop;
    loop.two = !parts.second_variable.empty();
    const uint32_t collected = NewLocal();
    loop.first = NewLocal();
    if (loop.two) loop.second = NewLocal();
    const auto index = static_cast<uint32_t>(program_.loops.size());
    program_.loops.push_back(loop);
    const uint32_t begin = Put(Op::kLoop, index);
    Emit(parts.init);
    Put(Op::kSetLocal, collected);
    const size_t outside = locals_.size();
    locals_.push_back({parts.accumulator, collected});
    locals_.push_back({parts.variable, loop.first});
    if (loop.two) locals_.push_back({parts.second_variable, loop.second});
    const uint32_t again = Put(Op::kNext, index);
    uint32_t stop = again;
    const bool always =
        parts.condition->kind == Expr::Kind::kConstant && parts.condition->constant.IsBool(true);
    if (!always) {
      Emit(parts.condition);
      stop = Put(Op::kContinue);
    }
    EmitStep(parts);
    Put(Op::kSetLocal, collected);
    Put(Op::kJump, again);
    AimB(again);
    AimB(stop);
    Put(Op::kEndLoop, index);
    locals_.resize(outside + 1);
    Emit(parts.result);
    locals_.resize(outside);
    AimB(begin);
  }

  // The step replaces what was collected, so it may take it instead of copying it.
  void EmitStep(const Comprehension& parts) {
    const Expr* const outer_taken = taken_;
    const Expr* const outer_also = also_taken_;
    const bool choice = IsCall(parts.step, "_?_:_");
    const Expr* const grown = choice ? parts.step->args[1] : parts.step;
    taken_ = IsCall(grown, "_+_") || IsCall(grown, "cel.@mapInsert") ? grown->args[0] : nullptr;
    also_taken_ =
        choice && parts.step->args[2]->kind == Expr::Kind::kIdent ? parts.step->args[2] : nullptr;
    for (const Expr** const taken : {&taken_, &also_taken_})
      if (*taken != nullptr &&
          ((*taken)->kind != Expr::Kind::kIdent || (*taken)->name != parts.accumulator))
        *taken = nullptr;
    Emit(parts.step);
    taken_ = outer_taken;
    also_taken_ = outer_also;
  }

  void EmitLet(const Comprehension& parts) {
    const uint32_t slot = NewLocal();
    Put(Op::kForget, slot);
    const uint32_t jump = Put(Op::kJump);
    const uint32_t code = Here();
    Emit(parts.init);
    Put(Op::kReturnLocal, slot);
    Aim(jump);
    locals_.push_back({parts.accumulator, slot, true, code});
    Emit(parts.result);
    locals_.pop_back();
  }

  const Environment& environment_;
  Patterns& patterns_;
  Program program_;
  std::vector<Local> locals_;
  const Expr* taken_ = nullptr;
  const Expr* also_taken_ = nullptr;
  std::string error_;
};

}  // namespace

Result<Program> Plan(Expr* root, const Environment& environment, Patterns& patterns) {
  if (Result<void> folded = FoldConstants(root, environment, patterns); !folded)
    return Fail(folded.error());
  return Planner(environment, patterns).Run(root);
}

}  // namespace berth::cel
