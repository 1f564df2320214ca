// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "berth/check.h"
#include "src/cel/expression.h"

namespace {

// With every library, and a variable that may be anything.
const berth::cel::Environment& TestEnvironment() {
  static const auto* const environment = [] {
    auto* made = new berth::cel::Environment();
    berth::cel::AddRegex(*made);
    berth::cel::AddQuantity(*made);
    berth::cel::AddStrings(*made);
    berth::cel::AddSets(*made);
    berth::cel::AddTransforms(*made);
    berth::cel::AddSemver(*made);
    berth::cel::AddLists(*made);
    berth::cel::AddKubernetesLists(*made);
    berth::cel::AddAddresses(*made);
    berth::cel::AddUrls(*made);
    berth::cel::AddFormats(*made);
    berth::cel::AddAuthorizer(*made);
    made->AddVariable("x", "dyn");
    return made;
  }();
  return *environment;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::cel::Value;
  constexpr uint64_t kCostLimit = 10'000;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto expression = berth::cel::Expression::Compile(text, TestEnvironment());
  if (!expression) return 0;
  for (const Value& x : {Value::Int(3), Value::String("a"), Value::ListOf({Value::Int(1)})}) {
    const auto evaluation = expression->Evaluate(std::span(&x, 1), kCostLimit);
    BERTH_CHECK(evaluation.cost <= kCostLimit || evaluation.value.IsError(),
                "an evaluation costs more than it may");
    const auto again = expression->Evaluate(std::span(&x, 1), kCostLimit);
    BERTH_CHECK(again.cost == evaluation.cost && again.value.kind() == evaluation.value.kind(),
                "the same evaluation went another way");
  }
  return 0;
}
