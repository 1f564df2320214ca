// SPDX-License-Identifier: Apache-2.0
#include "src/cel/expression.h"

#include <utility>

#include "src/cel/phases.h"

namespace berth::cel {
namespace {

// Of an expression's text: to read and check, and what a program has for it.
constexpr uint64_t kStepsPerByte = 20;
constexpr uint64_t kBytesPerByte = 64;

}  // namespace

Expression::Expression(Program program)
    : program_(std::make_shared<const Program>(std::move(program))) {}

Result<Expression> Expression::Compile(std::string_view text, const Environment& environment,
                                       const TypeCheck& check_type, Work* work) {
  Patterns patterns(work == nullptr ? UINT64_MAX : work->max_steps);
  Result<Expression> compiled = Compile(text, environment, check_type, patterns);
  if (work != nullptr) {
    work->steps = patterns.steps() + text.size() * kStepsPerByte;
    work->bytes = patterns.bytes() + text.size() * kBytesPerByte;
    work->exhausted = patterns.exhausted();
  }
  return compiled;
}

Result<Expression> Expression::Compile(std::string_view text, const Environment& environment,
                                       const TypeCheck& check_type, Patterns& patterns) {
  Tree tree;
  TypeArena types;
  Issues issues(text);
  Expr* const root = Parse(text, tree, issues);
  if (issues.empty()) Check(root, environment, types, issues, patterns);
  if (!issues.empty()) return Fail("compilation failed: " + issues.ToString());
  if (check_type)
    if (Result<void> checked = check_type(ResultName(*root->type)); !checked)
      return Fail(checked.error());
  Result<Program> program = Plan(root, environment, patterns);
  if (!program) return Fail("program instantiation failed: " + program.error().message);
  return Expression(*std::move(program));
}

Evaluation Expression::Evaluate(std::span<const Value> variables, uint64_t cost_limit) const {
  return Run(*program_, variables, cost_limit);
}

std::vector<std::vector<std::string>> Expression::PathsInto(size_t variable) const {
  const std::vector<Instruction>& code = program_->code;
  std::vector<std::vector<std::string>> paths;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].op != Op::kVariable || code[i].a != variable) continue;
    std::vector<std::string>& path = paths.emplace_back();
    if (i + 1 == code.size() || code[i + 1].op != Op::kBeginChain) continue;
    for (size_t at = i + 2; at < code.size() && code[at].op == Op::kSelect; ++at) {
      const Value& key = program_->constants[code[at].a];
      if (key.kind() != Kind::kString) break;
      path.push_back(key.text());
    }
  }
  return paths;
}

}  // namespace berth::cel
