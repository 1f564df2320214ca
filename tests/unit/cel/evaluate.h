// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>

#include "src/cel/expression.h"

namespace berth::cel {

// With every library, and no variables.
inline std::unique_ptr<Environment> TestEnvironment() {
  auto environment = std::make_unique<Environment>();
  AddRegex(*environment);
  AddQuantity(*environment);
  AddStrings(*environment);
  AddSets(*environment);
  AddTransforms(*environment);
  AddSemver(*environment);
  AddLists(*environment);
  AddKubernetesLists(*environment);
  AddAddresses(*environment);
  AddUrls(*environment);
  AddFormats(*environment);
  AddAuthorizer(*environment);
  return environment;
}

// The value as messages show it, or "error: ...".
inline std::string Evaluated(const std::string& text) {
  const auto environment = TestEnvironment();
  const Result<Expression> expression = Expression::Compile(text, *environment);
  if (!expression) return "error: " + expression.error().message;
  const Evaluation evaluation = expression->Evaluate({}, 1'000'000);
  return (evaluation.value.IsError() ? "error: " : "") + DebugText(evaluation.value);
}

struct Case {
  const char* text;
  const char* result;
};

inline void ExpectAll(std::initializer_list<Case> cases) {
  for (const Case& one : cases) EXPECT_EQ(Evaluated(one.text), one.result) << one.text;
}

inline uint64_t CostOfText(const std::string& text) {
  const auto environment = TestEnvironment();
  const Result<Expression> expression = Expression::Compile(text, *environment);
  return expression ? expression->Evaluate({}, 1'000'000).cost : ~uint64_t{0};
}

}  // namespace berth::cel
