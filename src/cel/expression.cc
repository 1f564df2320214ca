// SPDX-License-Identifier: Apache-2.0
#include "src/cel/expression.h"

#include <utility>

#include "src/cel/checker.h"
#include "src/cel/parser.h"
#include "src/cel/planner.h"

namespace berth::cel {

Expression::Expression(Program program)
    : program_(std::make_shared<const Program>(std::move(program))) {}

Result<Expression> Expression::Compile(std::string_view text, const Environment& environment,
                                       const TypeCheck& check_type) {
  Tree tree;
  TypeArena types;
  Issues issues(text);
  Expr* const root = Parse(text, tree, issues);
  if (issues.empty()) Check(root, environment, types, issues);
  if (!issues.empty()) return Fail("compilation failed: " + issues.ToString());
  if (check_type)
    if (Result<void> checked = check_type(ResultName(*root->type)); !checked)
      return Fail(checked.error());
  Result<Program> program = Plan(root, environment);
  if (!program) return Fail("program instantiation failed: " + program.error().message);
  return Expression(*std::move(program));
}

Evaluation Expression::Evaluate(std::span<const Value> variables, uint64_t cost_limit) const {
  return Run(*program_, variables, cost_limit);
}

}  // namespace berth::cel
