// SPDX-License-Identifier: Apache-2.0
#include "src/cel/pattern.h"

#include <string>

#include "src/cel/go_pattern.h"
#include "tests/cel_answers/answers.h"
#include "tests/cel_answers/values.h"

namespace berth::cel_answers {

Json AnswerPattern(const Json& question) {
  uint64_t steps = UINT64_MAX;
  const std::string text = FromHex(question.at("pattern"));
  const Result<std::shared_ptr<const cel::Pattern>> pattern = cel::Pattern::Compile(text, &steps);
  Json answer = {{"steps", UINT64_MAX - steps}};
  if (!pattern) {
    answer["error"] = ToHex(pattern.error().message);
    return answer;
  }
  answer["estimate"] = cel::GoPattern::Read(text)->instructions;
  answer["instructions"] = (*pattern)->instructions();
  Json& found = answer["found"] = Json::array();
  for (const Json& hex : question.at("texts")) {
    const std::string in = FromHex(hex);
    Json parts = Json::array();
    for (const std::string& part : (*pattern)->FindAll(in, -1)) parts.push_back(ToHex(part));
    found.push_back({{"matches", (*pattern)->Matches(in)},
                     {"first", ToHex((*pattern)->Find(in))},
                     {"parts", std::move(parts)}});
  }
  return answer;
}

}  // namespace berth::cel_answers
