// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "src/cel/environment.h"
#include "src/cel/machine.h"

// The Common Expression Language (cel.dev): an expression is parsed and type-checked once, compiled
// to a flat program, and evaluated as often as asked.
//
// Results, errors and costs are those of cel-go with Kubernetes' settings: one-typed lists and
// maps, numbers compared across their types, constants folded, has() without cost.
//
// Thread safety: any thread; an Expression never changes, and may be evaluated on several at once.
namespace berth::cel {

class Expression {
 public:
  // `environment` outlives the expression.
  //
  // Errors: "compilation failed: " and every fault with its position and line; "program
  // instantiation failed: " and the constant that cannot be computed.
  static Result<Expression> Compile(std::string_view text, const Environment& environment);

  // `variables`: as the environment numbers them. The cost counts up to where an evaluation that
  // would cost more than `cost_limit` was cut short.
  Evaluation Evaluate(std::span<const Value> variables, uint64_t cost_limit) const;

  // "bool", "list(dyn)", ...: what the type checker knows of the result.
  const std::string& result_type() const { return result_type_; }

 private:
  Expression(Program program, std::string result_type);

  std::shared_ptr<const Program> program_;
  std::string result_type_;
};

}  // namespace berth::cel
