// SPDX-License-Identifier: Apache-2.0
// Answers questions, one JSON document a line from standard input to standard output: Berth's side
// of the comparisons of expressions in tests/oracle. A question is about an expression and a device
// (tests/oracle/expressions), or one of those in answers.h.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "berth/check.h"
#include "plugins/dynamic_resources/device_selector.h"
#include "tests/cel_answers/answers.h"

namespace berth::plugins::dra {
namespace {

using Json = nlohmann::json;

template <typename T>
void Read(const Json& json, const char* name, std::optional<T>& value) {
  if (const auto found = json.find(name); found != json.end()) value = found->get<T>();
}

template <typename T>
void Read(const Json& json, const char* name, std::vector<T>& values) {
  if (const auto found = json.find(name); found != json.end())
    values = found->get<std::vector<T>>();
}

api::DeviceAttribute ReadAttribute(const Json& json) {
  api::DeviceAttribute attribute;
  Read(json, "int", attribute.int_);
  Read(json, "bool", attribute.bool_);
  Read(json, "string", attribute.string);
  Read(json, "version", attribute.version);
  Read(json, "ints", attribute.ints);
  Read(json, "bools", attribute.bools);
  Read(json, "strings", attribute.strings);
  Read(json, "versions", attribute.versions);
  return attribute;
}

api::Device ReadDevice(const Json& json) {
  api::Device device;
  Read(json, "allowMultipleAllocations", device.allow_multiple_allocations);
  for (const auto& [name, attribute] : json.at("attributes").items())
    device.attributes.emplace_back(name, ReadAttribute(attribute));
  for (const auto& [name, amount] : json.at("capacity").items()) {
    const Result<api::Quantity> quantity = api::Quantity::Parse(amount.get<std::string>());
    BERTH_CHECK(quantity.has_value(), "a capacity is no quantity");
    device.capacity.emplace_back(name, api::DeviceCapacity{*quantity, {}});
  }
  return device;
}

template <typename T, typename ToText>
std::string ListText(const char* name, const std::vector<T>& values, const ToText& text) {
  std::string all = name;
  all += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) all += ' ';
    all += text(values[i]);
  }
  return all + "]";
}

std::string AttributeText(const api::DeviceAttribute& attribute) {
  const auto integer = [](int64_t value) { return std::to_string(value); };
  const auto boolean = [](bool value) { return std::string(value ? "true" : "false"); };
  const auto same = [](const std::string& text) { return text; };
  if (attribute.int_) return "int " + integer(*attribute.int_);
  if (attribute.bool_) return "bool " + boolean(*attribute.bool_);
  if (attribute.string) return "string " + *attribute.string;
  if (attribute.version) return "version " + *attribute.version;
  if (!attribute.ints.empty()) return ListText("int", attribute.ints, integer);
  if (!attribute.bools.empty()) return ListText("bool", attribute.bools, boolean);
  if (!attribute.versions.empty()) return ListText("version", attribute.versions, same);
  return ListText("string", attribute.strings, same);
}

Json Document(const char* kind, const std::string& text, uint64_t cost) {
  return {{"kind", kind}, {"text", text}, {"cost", cost}};
}

Json Answer(DeviceSelectors& selectors, const Json& question) {
  const std::string expression = question.at("expression");
  const Json& json = question.at("device");
  const std::string driver = json.at("driver");
  const api::Device device = ReadDevice(json);
  const DeviceOfDriver asked{driver, device};
  if (question.value("derived", false)) {
    const DerivedAttribute answer = selectors.Derive(expression, asked);
    if (answer.kind == DerivedAttribute::Kind::kCompileError)
      return Document("compile error", answer.error, 0);
    if (answer.kind == DerivedAttribute::Kind::kRuntimeError)
      return Document("runtime error", answer.error, answer.cost);
    return Document("value", AttributeText(*answer.value), answer.cost);
  }
  const SelectorAnswer answer = selectors.Matches(expression, asked);
  constexpr const char* kKinds[] = {"no", "yes", "compile error", "runtime error"};
  return Document(kKinds[static_cast<size_t>(answer.kind)], answer.error, answer.cost);
}

Json AnswerAny(DeviceSelectors& selectors, const Json& question) {
  if (question.contains("pattern")) return cel_answers::AnswerPattern(question);
  if (question.contains("variables")) return cel_answers::AnswerExpression(question);
  return Answer(selectors, question);
}

void AnswerAll() {
  DeviceSelectors selectors;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << AnswerAny(selectors, Json::parse(line))
                     .dump(-1, ' ', false, Json::error_handler_t::replace)
              << '\n';
}

}  // namespace
}  // namespace berth::plugins::dra

int main() { berth::plugins::dra::AnswerAll(); }
