// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  // What a caller says of the type of a result ("bool", "list(dyn)", ...).
  using TypeCheck = std::function<Result<void>(const std::string& type)>;

  // `environment` outlives the expression. `check_type` may refuse the type of the result, if any
  // is given.
  //
  // What compiling may take, and took, in steps of 10 to 100 ns; the program's bytes, about.
  struct Work {
    uint64_t max_steps = UINT64_MAX;
    uint64_t steps = 0;
    uint64_t bytes = 0;
    // It was to take more steps than it may: the error means nothing else.
    bool exhausted = false;
  };

  // Errors: "compilation failed: " and every fault with its position and line; "program
  // instantiation failed: " and the constant that cannot be computed; or what `check_type` says.
  static Result<Expression> Compile(std::string_view text, const Environment& environment,
                                    const TypeCheck& check_type = nullptr, Work* work = nullptr);

  // `variables`: as the environment numbers them. An evaluation that costs more than `cost_limit`
  // is cut short; its cost counts what went beyond.
  Evaluation Evaluate(std::span<const Value> variables, uint64_t cost_limit) const;

  // By which constant keys the expression goes into a variable, for each place that names it: of
  // `x.a["b"].c + x.d` {a, b, c} and {d}; of `size(x)` {}. What is not at or below the end of one
  // of the paths is not looked at.
  std::vector<std::vector<std::string>> PathsInto(size_t variable) const;

 private:
  static Result<Expression> Compile(std::string_view text, const Environment& environment,
                                    const TypeCheck& check_type, Patterns& patterns);

  explicit Expression(Program program);

  std::shared_ptr<const Program> program_;
};

}  // namespace berth::cel
