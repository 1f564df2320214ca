// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/device_selector.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "src/cel/kubernetes_values.h"

namespace berth::plugins::dra {
namespace {

using cel::Value;

// CELSelectorExpressionMaxCost of resource.k8s.io/v1.
constexpr uint64_t kCostLimit = 1'000'000;

constexpr char kDevice[] = "kubernetes.DRADevice";

struct QualifiedName {
  std::string domain;
  std::string name;
};

QualifiedName Split(std::string_view name, std::string_view driver) {
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos) return {std::string(driver), std::string(name)};
  return {std::string(name.substr(0, slash)), std::string(name.substr(slash + 1))};
}

template <typename Range, typename Make>
Value ListOf(const Range& range, const Make& make) {
  std::vector<Value> items;
  for (const auto& item : range) items.push_back(make(item));
  return Value::ListOf(std::move(items));
}

Value AttributeValue(const api::DeviceAttribute& attribute) {
  if (!attribute.ints.empty()) return ListOf(attribute.ints, Value::Int);
  if (!attribute.bools.empty()) return ListOf(attribute.bools, Value::Bool);
  if (!attribute.strings.empty()) return ListOf(attribute.strings, Value::String);
  if (!attribute.versions.empty()) {
    std::vector<Value> versions;
    for (const std::string& text : attribute.versions) {
      versions.push_back(cel::SemverOf(text));
      if (versions.back().IsError()) return versions.back();
    }
    return Value::ListOf(std::move(versions));
  }
  if (attribute.int_) return Value::Int(*attribute.int_);
  if (attribute.bool_) return Value::Bool(*attribute.bool_);
  if (attribute.string) return Value::String(*attribute.string);
  if (attribute.version) return cel::SemverOf(*attribute.version);
  return Value::Error("");
}

// Domain to name to value.
class ByDomain {
 public:
  void Put(QualifiedName name, Value value) {
    std::shared_ptr<cel::Map>& inner = Inner(name.domain);
    inner->Put(Value::String(std::move(name.name)), std::move(value));
  }

  Value Take() {
    auto outer = std::make_shared<cel::Map>();
    for (auto& [domain, inner] : domains_)
      outer->Put(Value::String(std::move(domain)),
                 Value::Of(std::shared_ptr<const cel::Map>(std::move(inner))));
    static const Value kEmpty = Value::Of(std::make_shared<const cel::Map>());
    outer->SetFallback(kEmpty);
    outer->TakeAnyKey();
    return Value::Of(std::shared_ptr<const cel::Map>(std::move(outer)));
  }

 private:
  std::shared_ptr<cel::Map>& Inner(const std::string& domain) {
    for (auto& [known, inner] : domains_)
      if (known == domain) return inner;
    std::shared_ptr<cel::Map>& made =
        domains_.emplace_back(domain, std::make_shared<cel::Map>()).second;
    made->TakeAnyKey();
    return made;
  }

  std::vector<std::pair<std::string, std::shared_ptr<cel::Map>>> domains_;
};

// How Go's side words that a result is no bool.
std::string NotABool(const Value& value) {
  const std::string type(TypeNameOf(value));
  switch (value.kind()) {
    case cel::Kind::kString:
      return "unsupported native conversion from string to 'bool'";
    case cel::Kind::kInt:
    case cel::Kind::kUint:
      return "unsupported type conversion from '" + type + "' to bool";
    case cel::Kind::kDouble:
      return "type conversion error from Double to 'bool'";
    case cel::Kind::kBytes:
      return "type conversion error from Bytes to 'bool'";
    case cel::Kind::kList:
    case cel::Kind::kMap:
      return "type conversion error from " + type + " to 'bool'";
    case cel::Kind::kType:
      return "type conversion not supported for 'type'";
    case cel::Kind::kOptional:
      return value.held() == nullptr ? "optional.none() dereference" : NotABool(*value.held());
    default:
      return "type conversion error from '" + type.substr(type.rfind('.') + 1) + "' to 'bool'";
  }
}

// The result of a selector, which must be a bool.
SelectorAnswer AnswerOf(const cel::Evaluation& evaluation) {
  const Value* held = &evaluation.value;
  while (held->kind() == cel::Kind::kOptional && held->held() != nullptr) held = held->held();
  const Value& value = evaluation.value;
  if (held->kind() == cel::Kind::kBool)
    return {held->boolean() ? SelectorAnswer::Kind::kYes : SelectorAnswer::Kind::kNo,
            {},
            evaluation.cost};
  std::string error;
  if (value.IsError()) {
    error = value.text();
  } else {
    error = "CEL result of type " + std::string(TypeNameOf(value)) +
            " could not be converted to bool: " + NotABool(value);
  }
  if (error.find("no such key:") != std::string::npos)
    error +=
        ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check "
        "with has() for optional fields";
  return {SelectorAnswer::Kind::kRuntimeError, std::move(error), evaluation.cost};
}

const cel::SemverValue* Version(const Value& value) { return cel::As<cel::SemverValue>(value); }

// The Go type of what the value holds.
std::string GoType(const Value& value) {
  switch (value.kind()) {
    case cel::Kind::kBool:
    case cel::Kind::kString:
      return std::string(TypeNameOf(value));
    case cel::Kind::kType:
      return "string";
    case cel::Kind::kNull:
      return "structpb.NullValue";
    case cel::Kind::kInt:
      return "int64";
    case cel::Kind::kUint:
      return "uint64";
    case cel::Kind::kDouble:
      return "float64";
    case cel::Kind::kBytes:
      return "[]uint8";
    case cel::Kind::kList:
      return "[]ref.Val";
    case cel::Kind::kMap:
      return "map[ref.Val]ref.Val";
    case cel::Kind::kDuration:
      return "time.Duration";
    case cel::Kind::kTimestamp:
      return "time.Time";
    case cel::Kind::kOptional:
      return value.held() == nullptr ? "<nil>" : GoType(*value.held());
    default:
      break;
  }
  constexpr std::pair<std::string_view, const char*> kTypes[] = {
      {"kubernetes.Semver", "semver.Version"},
      {"kubernetes.Quantity", "*resource.Quantity"},
      {"kubernetes.URL", "*url.URL"},
      {"kubernetes.NamedFormat", "cel.Format"},
      {"net.IP", "netip.Addr"},
      {"net.CIDR", "netip.Prefix"}};
  for (const auto& [name, type] : kTypes)
    if (TypeNameOf(value) == name) return type;
  return "";
}

bool IsScalar(const Value& value) {
  return value.kind() == cel::Kind::kBool || value.kind() == cel::Kind::kInt ||
         value.kind() == cel::Kind::kString || Version(value) != nullptr;
}

// A list of one scalar type; an empty one counts as strings.
Result<api::DeviceAttribute> ListAttribute(const std::vector<Value>& items) {
  api::DeviceAttribute attribute;
  for (size_t i = 0; i < items.size(); ++i) {
    const Value& item = items[i];
    const cel::SemverValue* const version = Version(item);
    if (TypeNameOf(item) != TypeNameOf(items.front()) && IsScalar(items.front()))
      return Fail(
          "expected list element at index " + std::to_string(i) + " to be " +
          (Version(items.front()) != nullptr ? "semver" : std::string(TypeNameOf(items.front()))) +
          ", got " + GoType(item));
    if (item.kind() == cel::Kind::kBool) {
      attribute.bools.push_back(item.boolean());
    } else if (item.kind() == cel::Kind::kInt) {
      attribute.ints.push_back(item.integer());
    } else if (item.kind() == cel::Kind::kString) {
      attribute.strings.push_back(item.text());
    } else if (version != nullptr) {
      attribute.versions.push_back(version->ToString());
    } else {
      return Fail("unsupported list element type: " + GoType(item));
    }
  }
  return attribute;
}

Result<api::DeviceAttribute> AttributeOf(const Value& value) {
  api::DeviceAttribute attribute;
  switch (value.kind()) {
    case cel::Kind::kBool:
      attribute.bool_ = value.boolean();
      return attribute;
    case cel::Kind::kInt:
      attribute.int_ = value.integer();
      return attribute;
    case cel::Kind::kString:
      attribute.string = value.text();
      return attribute;
    case cel::Kind::kType:
      attribute.string = value.text();
      return attribute;
    case cel::Kind::kList:
      return ListAttribute(value.list().items);
    case cel::Kind::kOptional:
      if (value.held() != nullptr && value.held()->kind() != cel::Kind::kList)
        return AttributeOf(*value.held());
      return Fail("unsupported CEL return type: " + GoType(value));
    default:
      if (const cel::SemverValue* const version = Version(value)) {
        attribute.version = version->ToString();
        return attribute;
      }
      return Fail("unsupported CEL return type: " + GoType(value));
  }
}

// Whether a result of this type may become an attribute.
bool IsAttributeType(std::string_view type) {
  for (const std::string_view scalar : {"bool", "int", "string", "dyn", "kubernetes.Semver"})
    if (type == scalar || type == "list(" + std::string(scalar) + ")") return true;
  return false;
}

Result<void> CheckSelectorType(const std::string& type) {
  if (type == "bool" || type == "dyn") return {};
  return Fail("must evaluate to bool or the unknown type, not " + type);
}

Result<void> CheckAttributeType(const std::string& type) {
  if (IsAttributeType(type)) return {};
  return Fail(
      "must evaluate to a primitive scalar (string, integer, boolean, semver) or a list of these "
      "scalars, not " +
      type);
}

}  // namespace

std::unique_ptr<cel::Environment> MakeDeviceEnvironment() {
  auto environment = std::make_unique<cel::Environment>();
  cel::AddUrls(*environment);
  cel::AddRegex(*environment);
  cel::AddQuantity(*environment);
  cel::AddStrings(*environment);
  cel::AddSets(*environment);
  cel::AddAddresses(*environment);
  cel::AddFormats(*environment);
  cel::AddAuthorizer(*environment);
  cel::AddTransforms(*environment);
  cel::AddSemver(*environment);
  cel::AddLists(*environment);
  cel::AddKubernetesLists(*environment);
  environment->AddVariable("device", kDevice);
  environment->AddField(kDevice, "driver", "string");
  environment->AddField(kDevice, "allowMultipleAllocations", "bool");
  environment->AddField(kDevice, "attributes", "map(string, map(string, dyn))");
  environment->AddField(kDevice, "capacity", "map(string, map(string, kubernetes.Quantity))");
  return environment;
}

Result<Value> DeviceValue(const DeviceOfDriver& device) {
  ByDomain attributes;
  for (const auto& [name, attribute] : device.device.attributes) {
    Value value = AttributeValue(attribute);
    if (value.IsError())
      return Fail("attribute " + name + ": " +
                  (value.text().empty() ? "unsupported attribute value"
                                        : "parse semantic version: " + value.text()));
    attributes.Put(Split(name, device.driver), std::move(value));
  }
  ByDomain capacity;
  for (const auto& [name, amount] : device.device.capacity)
    capacity.Put(Split(name, device.driver), cel::QuantityOf(amount.value));
  auto fields = std::make_shared<cel::Map>();
  fields->Put(Value::String("driver"), Value::String(std::string(device.driver)));
  fields->Put(Value::String("allowMultipleAllocations"),
              Value::Bool(device.shows_sharing &&
                          device.device.allow_multiple_allocations.value_or(false)));
  fields->Put(Value::String("attributes"), attributes.Take());
  fields->Put(Value::String("capacity"), capacity.Take());
  return Value::Of(std::shared_ptr<const cel::Map>(std::move(fields)));
}

DeviceSelectors::DeviceSelectors(size_t most, size_t max_bytes, size_t most_shapes)
    : most_(most),
      max_bytes_(max_bytes),
      most_shapes_(most_shapes),
      environment_(MakeDeviceEnvironment()) {}

DeviceSelectors::Compiled* DeviceSelectors::Compile(std::string_view text, bool derived) {
  if (budget_ != nullptr && budget_->spent()) return nullptr;
  const uint64_t left = budget_ == nullptr ? UINT64_MAX : budget_->steps_left();
  const uint64_t max_steps = std::min(left, kMostSteps);
  std::string key = (derived ? "derived:" : "selector:") + std::string(text);
  const auto found = by_key_.find(key);
  const bool is_new = found == by_key_.end();
  if (!is_new) {
    compiled_.splice(compiled_.begin(), compiled_, found->second);
  } else {
    compiled_.push_front({std::move(key), Fail("")});
    by_key_.emplace(compiled_.front().key, compiled_.begin());
  }
  Compiled& compiled = compiled_.front();
  // What took too much before is not tried again with no more.
  if (is_new || (compiled.too_few_steps > 0 && compiled.too_few_steps < max_steps)) {
    Compile(text, derived, max_steps, compiled);
  }
  if (compiled.too_few_steps == 0) return &compiled;
  if (budget_ != nullptr) budget_->Spend(UINT64_MAX);
  return nullptr;
}

void DeviceSelectors::Compile(std::string_view text, bool derived, uint64_t max_steps,
                              Compiled& into) {
  cel::Expression::Work work{.max_steps = max_steps};
  into.expression = cel::Expression::Compile(
      text, *environment_, derived ? CheckAttributeType : CheckSelectorType, &work);
  into.too_few_steps = work.exhausted ? max_steps : 0;
  if (work.exhausted) into.expression = Fail("");
  if (into.expression && !derived) into.reads.emplace(*into.expression);
  kept_bytes_ -= into.bytes;
  into.bytes = sizeof(Compiled) + 2 * into.key.size() + (into.expression ? work.bytes : 0);
  kept_bytes_ += into.bytes;
  if (budget_ != nullptr) budget_->Spend(work.steps, work.bytes);
  Evict();
}

void DeviceSelectors::Evict() {
  while (compiled_.size() > 1 && (compiled_.size() > most_ || kept_bytes_ > max_bytes_)) {
    kept_bytes_ -= compiled_.back().bytes;
    by_key_.erase(compiled_.back().key);
    compiled_.pop_back();
  }
}

SelectorAnswer DeviceSelectors::Matches(std::string_view expression, const DeviceOfDriver& device) {
  Compiled* known = Compile(expression, false);
  if (known == nullptr) return {.kind = SelectorAnswer::Kind::kOutOfBudget};
  if (!known->expression)
    return {SelectorAnswer::Kind::kCompileError, known->expression.error().message, 0};
  const bool keeps = most_shapes_ > 0 && known->reads->WriteShape(device, shape_);
  if (!keeps) return Evaluate(*known->expression, device);
  if (const auto found = known->by_shape.find(shape_); found != known->by_shape.end())
    return found->second;
  SelectorAnswer answer = Evaluate(*known->expression, device);
  KeepAnswer(answer, *known);
  return answer;
}

SelectorAnswer DeviceSelectors::Evaluate(const cel::Expression& expression,
                                         const DeviceOfDriver& device) {
  ++num_evaluations_;
  const Result<Value> value = DeviceValue(device);
  if (!value) return {SelectorAnswer::Kind::kRuntimeError, value.error().message, 0};
  return AnswerOf(expression.Evaluate(std::span(&*value, 1), kCostLimit));
}

void DeviceSelectors::KeepAnswer(const SelectorAnswer& answer, Compiled& compiled) {
  // What a map takes for an entry, about.
  constexpr size_t kShapeEntryBytes = 64;
  if (compiled.by_shape.size() >= most_shapes_) {
    compiled.by_shape.clear();
    compiled.bytes -= compiled.answer_bytes;
    kept_bytes_ -= std::exchange(compiled.answer_bytes, 0);
  }
  const size_t bytes =
      kShapeEntryBytes + sizeof(SelectorAnswer) + shape_.size() + answer.error.size();
  compiled.by_shape.emplace(shape_, answer);
  compiled.answer_bytes += bytes;
  compiled.bytes += bytes;
  kept_bytes_ += bytes;
  Evict();
}

DerivedAttribute DeviceSelectors::Derive(std::string_view expression,
                                         const DeviceOfDriver& device) {
  const Compiled* known = Compile(expression, true);
  if (known == nullptr) return {.kind = DerivedAttribute::Kind::kOutOfBudget};
  const Result<cel::Expression>& compiled = known->expression;
  if (!compiled)
    return {DerivedAttribute::Kind::kCompileError, std::nullopt, compiled.error().message, 0};
  const Result<Value> value = DeviceValue(device);
  if (!value)
    return {DerivedAttribute::Kind::kRuntimeError, std::nullopt, value.error().message, 0};
  const cel::Evaluation evaluation = compiled->Evaluate(std::span(&*value, 1), kCostLimit);
  Result<api::DeviceAttribute> attribute =
      evaluation.value.IsError() ? Fail(evaluation.value.text()) : AttributeOf(evaluation.value);
  if (!attribute)
    return {DerivedAttribute::Kind::kRuntimeError, std::nullopt, attribute.error().message,
            evaluation.cost};
  return {DerivedAttribute::Kind::kValue, *std::move(attribute), {}, evaluation.cost};
}

}  // namespace berth::plugins::dra
