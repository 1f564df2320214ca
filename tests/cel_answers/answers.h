// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

// Berth's answers to questions that are JSON documents. Bytes are in hexadecimal digits, as they
// need not be UTF-8.
//
// Thread safety: one thread.
namespace berth::cel_answers {

using Json = nlohmann::json;

// {"pattern": bytes, "texts": [bytes...]}: what the pattern finds in each text, and the steps and
// instructions that compiling took; or the error.
Json AnswerPattern(const Json& question);

// {"expression": text, "variables": [{"name", "type", "value"}...]}: the result's type and value,
// or the error, in the environment of devices with variables of its own. values.h says how values
// are written.
Json AnswerExpression(const Json& question);

}  // namespace berth::cel_answers
