// SPDX-License-Identifier: Apache-2.0
#include "src/cel/macros.h"

#include <algorithm>
#include <utility>

namespace berth::cel {
namespace {

constexpr char kUnused[] = "#unused";
constexpr char kSortInput[] = "@__sortBy_input__";

class Expander {
 public:
  Expander(const MacroCall& call, Tree& tree, Issues& issues)
      : call_(call), tree_(tree), issues_(issues) {}

  Expr* Run() {
    const std::string& name = call_.function;
    const size_t count = call_.args.size();
    if (call_.target == nullptr) return name == "has" && count == 1 ? Has() : nullptr;
    if (name == "all" || name == "exists" || name == "exists_one")
      return count == 2 || count == 3 ? Quantifier() : nullptr;
    if (name == "existsOne" && count == 3) return Quantifier();
    if (name == "map" && (count == 2 || count == 3)) return MapList();
    if (name == "filter" && count == 2) return Filter();
    if (name == "transformList" && (count == 3 || count == 4)) return Transform(Kind::kList);
    if (name == "transformMap" && (count == 3 || count == 4)) return Transform(Kind::kMap);
    if (name == "transformMapEntry" && (count == 3 || count == 4))
      return Transform(Kind::kMapEntry);
    if (name == "bind" && count == 3) return Bind();
    if ((name == "optMap" || name == "optFlatMap") && count == 2) return OptionalMap();
    if (name == "sortBy" && count == 2) return SortBy();
    return nullptr;
  }

 private:
  enum class Kind : uint8_t { kList, kMap, kMapEntry };

  Expr* Fault(const Expr* at, std::string message) {
    issues_.Report(at->offset, std::move(message));
    return nullptr;
  }

  Expr* New(Expr::Kind kind) { return tree_.New(kind, call_.offset); }

  Expr* Ident(std::string name) {
    Expr* const ident = New(Expr::Kind::kIdent);
    ident->name = std::move(name);
    return ident;
  }
  Expr* Collected() { return Ident(kAccumulator); }

  Expr* Constant(Value value) {
    Expr* const constant = New(Expr::Kind::kConstant);
    constant->constant = std::move(value);
    return constant;
  }

  Expr* ListOf(std::vector<Expr*> items) {
    Expr* const list = New(Expr::Kind::kList);
    list->optional.assign(items.size(), false);
    list->args = std::move(items);
    return Raised(list);
  }

  Expr* Call(std::string function, std::vector<Expr*> args, bool member = false) {
    Expr* const call = New(Expr::Kind::kCall);
    call->name = std::move(function);
    call->args = std::move(args);
    call->member = member;
    return Raised(call);
  }

  static Expr* Raised(Expr* node) {
    for (const Expr* const arg : node->args) node->height = std::max(node->height, arg->height);
    return node;
  }

  Expr* Fold(Comprehension parts) {
    Expr* const fold = New(Expr::Kind::kComprehension);
    for (const Expr* const part :
         {parts.range, parts.init, parts.condition, parts.step, parts.result})
      fold->height = std::max(fold->height, part->height);
    fold->comprehension = std::make_unique<Comprehension>(std::move(parts));
    ++fold->height;
    return fold;
  }

  // `name` has the value `init` within `result`.
  Expr* Let(const std::string& name, Expr* init, Expr* result) {
    return Fold(
        {ListOf({}), kUnused, "", name, init, Constant(Value::Bool(false)), Ident(name), result});
  }

  // A copy with nodes of its own.
  Expr* Copy(const Expr* original) {
    Expr* const copy = tree_.New(original->kind, original->offset);
    copy->constant = original->constant;
    copy->name = original->name;
    copy->optional = original->optional;
    copy->colons = original->colons;
    copy->member = original->member;
    copy->test_only = original->test_only;
    copy->height = original->height;
    for (const Expr* const arg : original->args) copy->args.push_back(Copy(arg));
    if (original->comprehension != nullptr) {
      const Comprehension& from = *original->comprehension;
      copy->comprehension = std::make_unique<Comprehension>(
          Comprehension{Copy(from.range), from.variable, from.second_variable, from.accumulator,
                        Copy(from.init), Copy(from.condition), Copy(from.step), Copy(from.result)});
    }
    return copy;
  }

  Expr* Has() {
    Expr* const arg = call_.args[0];
    if (arg->kind != Expr::Kind::kSelect) return Fault(arg, "invalid argument to has() macro");
    Expr* const test = New(Expr::Kind::kSelect);
    test->name = arg->name;
    test->args = arg->args;
    test->test_only = true;
    test->height = arg->height;
    return test;
  }

  // The loop's variables, from the first arguments.
  struct Variables {
    std::string first;
    std::string second;
  };
  bool ReadVariables(bool two, const char* not_a_name, Variables& variables) {
    for (size_t i = 0; i < (two ? 2 : 1); ++i) {
      const Expr* const arg = call_.args[i];
      if (arg->kind != Expr::Kind::kIdent) return Fault(arg, not_a_name) != nullptr;
      (i == 0 ? variables.first : variables.second) = arg->name;
    }
    if (two && variables.first == variables.second)
      return Fault(call_.args[1], "duplicate variable name: " + variables.first) != nullptr;
    for (size_t i = 0; i < (two ? 2 : 1); ++i) {
      const std::string& name = call_.args[i]->name;
      if (name == kAccumulator || name == "__result__")
        return Fault(call_.args[i], "iteration variable overwrites accumulator variable") !=
               nullptr;
    }
    return true;
  }

  Expr* Loop(const Variables& variables, Expr* init, Expr* condition, Expr* step, Expr* result) {
    return Fold({call_.target, variables.first, variables.second, kAccumulator, init, condition,
                 step, result});
  }

  Expr* Quantifier() {
    const bool two = call_.args.size() == 3;
    Variables variables;
    if (!ReadVariables(two, "argument must be a simple name", variables)) return nullptr;
    Expr* const predicate = call_.args.back();
    if (call_.function == "all")
      return Loop(variables, Constant(Value::Bool(true)),
                  Call("@not_strictly_false", {Collected()}),
                  Call("_&&_", {Collected(), predicate}), Collected());
    if (call_.function == "exists")
      return Loop(variables, Constant(Value::Bool(false)),
                  Call("@not_strictly_false", {Call("!_", {Collected()})}),
                  Call("_||_", {Collected(), predicate}), Collected());
    Expr* const one_more = Call("_+_", {Collected(), Constant(Value::Int(1))});
    return Loop(variables, Constant(Value::Int(0)), Constant(Value::Bool(true)),
                Call("_?_:_", {predicate, one_more, Collected()}),
                Call("_==_", {Collected(), Constant(Value::Int(1))}));
  }

  // The step itself, or only where the filter says so.
  Expr* Filtered(Expr* filter, Expr* step) {
    return filter == nullptr ? step : Call("_?_:_", {filter, step, Collected()});
  }

  Expr* MapList() {
    Variables variables;
    if (!ReadVariables(false, "argument is not an identifier", variables)) return nullptr;
    Expr* const filter = call_.args.size() == 3 ? call_.args[1] : nullptr;
    Expr* const step = Call("_+_", {Collected(), ListOf({call_.args.back()})});
    return Loop(variables, ListOf({}), Constant(Value::Bool(true)), Filtered(filter, step),
                Collected());
  }

  Expr* Filter() {
    Variables variables;
    if (!ReadVariables(false, "argument is not an identifier", variables)) return nullptr;
    Expr* const step = Call("_+_", {Collected(), ListOf({call_.args[0]})});
    return Loop(variables, ListOf({}), Constant(Value::Bool(true)), Filtered(call_.args[1], step),
                Collected());
  }

  Expr* Transform(Kind kind) {
    Variables variables;
    if (!ReadVariables(true, "argument must be a simple name", variables)) return nullptr;
    Expr* const filter = call_.args.size() == 4 ? call_.args[2] : nullptr;
    Expr* const made = call_.args.back();
    Expr* step = nullptr;
    if (kind == Kind::kList) {
      step = Call("_+_", {Collected(), ListOf({made})});
    } else if (kind == Kind::kMap) {
      step = Call("cel.@mapInsert", {Collected(), Ident(variables.first), made});
    } else {
      step = Call("cel.@mapInsert", {Collected(), made});
    }
    Expr* const init = kind == Kind::kList ? ListOf({}) : New(Expr::Kind::kMap);
    return Loop(variables, init, Constant(Value::Bool(true)), Filtered(filter, step), Collected());
  }

  Expr* Bind() {
    if (call_.target->kind != Expr::Kind::kIdent || call_.target->name != "cel") return nullptr;
    const Expr* const name = call_.args[0];
    if (name->kind != Expr::Kind::kIdent)
      return Fault(name, "cel.bind() variable names must be simple identifiers");
    return Let(name->name, call_.args[1], call_.args[2]);
  }

  Expr* OptionalMap() {
    const Expr* const name = call_.args[0];
    if (name->kind != Expr::Kind::kIdent)
      return Fault(name, call_.function + "() variable name must be a simple identifier");
    // Chained, the copies would double with each link.
    if (tree_.size() > kMostNodes) return Fault(name, call_.function + "() is nested too often");
    Expr* const value = Call("value", {Copy(call_.target)}, true);
    Expr* made = Let(name->name, value, call_.args[1]);
    if (call_.function == "optMap") made = Call("optional.of", {made});
    return Call("_?_:_", {Call("hasValue", {call_.target}, true), made, Call("optional.none", {})});
  }

  Expr* SortBy() {
    const Expr::Kind kind = call_.target->kind;
    if (kind == Expr::Kind::kConstant || kind == Expr::Kind::kMap)
      return Fault(call_.target,
                   "sortBy can only be applied to a list, identifier, comprehension, call or "
                   "select expression");
    MacroCall keys = call_;
    keys.function = "map";
    keys.target = Ident(kSortInput);
    Expr* const made = ExpandMacro(keys, tree_, issues_);
    if (made == nullptr) return nullptr;
    return Let(kSortInput, call_.target,
               Call("@sortByAssociatedKeys", {Ident(kSortInput), made}, true));
  }

  static constexpr size_t kMostNodes = 200'000;

  const MacroCall& call_;
  Tree& tree_;
  Issues& issues_;
};

}  // namespace

Expr* ExpandMacro(const MacroCall& call, Tree& tree, Issues& issues) {
  return Expander(call, tree, issues).Run();
}

}  // namespace berth::cel
