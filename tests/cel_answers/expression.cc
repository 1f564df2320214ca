// SPDX-License-Identifier: Apache-2.0
#include "src/cel/expression.h"

#include <memory>
#include <string>
#include <vector>

#include "plugins/dynamic_resources/device_selector.h"
#include "tests/cel_answers/answers.h"
#include "tests/cel_answers/values.h"

namespace berth::cel_answers {

Json AnswerExpression(const Json& question) {
  const std::unique_ptr<cel::Environment> environment = plugins::dra::MakeDeviceEnvironment();
  const api::Device device;
  std::vector<cel::Value> values = {*plugins::dra::DeviceValue({"driver.example.com", device})};
  for (const Json& variable : question.at("variables")) {
    environment->AddVariable(variable.at("name"), variable.at("type").get<std::string>());
    values.push_back(FromJson(variable.at("value")));
  }
  std::string type;
  const Result<cel::Expression> expression =
      cel::Expression::Compile(question.at("expression").get<std::string>(), *environment,
                               [&](const std::string& name) -> Result<void> {
                                 type = name;
                                 return {};
                               });
  if (!expression) return {{"kind", "compile error"}, {"error", ToHex(expression.error().message)}};
  const cel::Evaluation evaluation = expression->Evaluate(values, 1'000'000);
  Json answer = {{"type", type}, {"cost", evaluation.cost}};
  if (evaluation.value.IsError()) {
    answer["kind"] = "runtime error";
    answer["error"] = ToHex(evaluation.value.text());
  } else {
    answer["kind"] = "value";
    answer["value"] = ToJson(evaluation.value);
  }
  return answer;
}

}  // namespace berth::cel_answers
