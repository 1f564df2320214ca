// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "src/cel/type.h"
#include "src/cel/value.h"

// The tree of a parsed expression: no macros are left in it.
//
// Thread safety: one thread.
namespace berth::cel {

struct Comprehension;
struct Overload;

struct Expr {
  enum class Kind : uint8_t {
    kError,  // stands for what could not be parsed
    kConstant,
    kIdent,   // name
    kSelect,  // args[0].name
    kCall,    // name(args); a member call's target is args[0]
    kList,    // args
    kMap,     // args: key, value, key, value, ...
    kStruct,  // name{}
    kComprehension,
  };

  Kind kind = Kind::kError;
  size_t offset = 0;  // of the byte that messages point at
  Value constant;
  std::string name;
  std::vector<Expr*> args;
  // Of a list its elements, of a map its entries: written with a '?'.
  std::vector<bool> optional;
  // Of a map: where the colons stand.
  std::vector<size_t> colons;
  bool member = false;     // a call with a target
  bool test_only = false;  // a select inside has()
  std::unique_ptr<Comprehension> comprehension;
  // How many nested operators, selections and calls the longest way down passes.
  int height = 0;

  // What the checker finds.
  const Type* type = nullptr;
  std::vector<const Overload*> overloads;  // of a call, in the order of their declaration
  bool outermost = false;                  // an ident that names a variable of the environment
};

struct Comprehension {
  Expr* range = nullptr;
  std::string variable;
  std::string second_variable;  // empty: only one
  std::string accumulator;
  Expr* init = nullptr;
  Expr* condition = nullptr;
  Expr* step = nullptr;
  Expr* result = nullptr;
};

// Owns the nodes.
class Tree {
 public:
  Tree() = default;
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  Expr* New(Expr::Kind kind, size_t offset) {
    Expr& expr = nodes_.emplace_back();
    expr.kind = kind;
    expr.offset = offset;
    return &expr;
  }
  size_t size() const { return nodes_.size(); }

 private:
  std::deque<Expr> nodes_;
};

}  // namespace berth::cel
