// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "src/cel/environment.h"
#include "src/cel/go_text.h"
#include "src/cel/kubernetes_values.h"
#include "src/cel/net.h"
#include "src/cel/pattern.h"

namespace berth::cel {
namespace {

using Faults = std::vector<std::string>;

constexpr char kLabel[] = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr char kSubdomain[] = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
constexpr char kDns1035[] = "[a-z]([-a-z0-9]*[a-z0-9])?";
constexpr char kKey[] = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
constexpr char kLabelValue[] = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
constexpr char kUuid[] = "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}";
constexpr char kBase64[] =
    "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})";
constexpr char kDateTime[] =
    "^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$";
constexpr size_t kLabelSize = 63;
constexpr size_t kSubdomainSize = 253;

// Compiled once for each pattern.
template <const char* allowed>
bool IsAll(std::string_view text) {
  static const auto* const pattern =
      new std::shared_ptr<const Pattern>(*Pattern::Compile("^(?:" + std::string(allowed) + ")$"));
  return (*pattern)->Matches(text);
}

Faults One(std::string fault) {
  Faults faults;
  faults.push_back(std::move(fault));
  return faults;
}

void CheckSize(std::string_view text, size_t most, Faults& faults) {
  if (text.size() > most)
    faults.push_back("must be no more than " + std::to_string(most) + " characters");
}

std::string Expected(const std::string& rule, const std::string& examples, const char* regex) {
  return rule + " (e.g. " + examples + ", regex used for validation is '" + regex + "')";
}

Faults CheckSubdomain(std::string_view text) {
  Faults faults;
  CheckSize(text, kSubdomainSize, faults);
  if (!IsAll<kSubdomain>(text))
    faults.push_back(
        Expected("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                 "characters, '-' or '.', and must start and end with an alphanumeric character",
                 "'example.com'", kSubdomain));
  return faults;
}

Faults CheckLabel(std::string_view text) {
  Faults faults;
  CheckSize(text, kLabelSize, faults);
  if (IsAll<kLabel>(text)) return faults;
  faults.push_back(
      IsAll<kSubdomain>(text)
          ? "must not contain dots"
          : Expected("a lowercase RFC 1123 label must consist of lower case alphanumeric "
                     "characters or '-', and must start and end with an alphanumeric character",
                     "'my-name',  or '123-abc'", kLabel));
  return faults;
}

Faults CheckDns1035(std::string_view text) {
  Faults faults;
  CheckSize(text, kLabelSize, faults);
  if (!IsAll<kDns1035>(text))
    faults.push_back(
        Expected("a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
                 "start with an alphabetic character, and end with an alphanumeric character",
                 "'my-name',  or 'abc-123'", kDns1035));
  return faults;
}

// A prefix may end with '-', for a suffix follows.
template <Faults (*check)(std::string_view)>
Faults CheckPrefix(std::string_view text) {
  if (text.size() < 2 || text.back() != '-') return check(text);
  return check(std::string(text.substr(0, text.size() - 2)) + "a");
}

std::string KeyRule() {
  return Expected(
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and "
      "end with an alphanumeric character",
      "'MyName',  or 'my.name',  or '123-abc'", kKey);
}

Faults CheckQualifiedName(std::string_view text) {
  Faults faults;
  const size_t slash = text.find('/');
  if (slash != std::string_view::npos && text.find('/', slash + 1) != std::string_view::npos)
    return One("a valid label key " + KeyRule() +
               " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
  if (slash == 0) {
    faults.emplace_back("prefix part must be non-empty");
  } else if (slash != std::string_view::npos) {
    for (const std::string& fault : CheckSubdomain(text.substr(0, slash)))
      faults.push_back("prefix part " + fault);
  }
  const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
  if (name.empty()) {
    faults.emplace_back("name part must be non-empty");
  } else if (name.size() > kLabelSize) {
    faults.push_back("name part must be no more than " + std::to_string(kLabelSize) +
                     " characters");
  }
  if (!IsAll<kKey>(name)) faults.push_back("name part " + KeyRule());
  return faults;
}

Faults CheckLabelValue(std::string_view text) {
  Faults faults;
  CheckSize(text, kLabelSize, faults);
  if (!IsAll<kLabelValue>(text))
    faults.push_back(
        Expected("a valid label must be an empty string or consist of alphanumeric "
                 "characters, '-', '_' or '.', and must start and end with an "
                 "alphanumeric character",
                 "'MyValue',  or 'my_value',  or '12345'", kLabelValue));
  return faults;
}

Faults CheckUri(std::string_view text) {
  const Result<void> checked = CheckRequestUri(text);
  return checked ? Faults() : One(checked.error().message);
}

Faults CheckUuid(std::string_view text) {
  if (IsAll<kUuid>(text)) return {};
  return One("does not match the UUID format");
}

Faults CheckByte(std::string_view text) {
  if (IsAll<kBase64>(text)) return {};
  return One("invalid base64");
}

bool IsDate(std::string_view text) {
  std::string midnight(text);
  midnight += "T00:00:00Z";
  return text.size() == 10 && ParseTimestamp(midnight).has_value();
}

Faults CheckDate(std::string_view text) {
  if (IsDate(text)) return {};
  return One("invalid date");
}

// The numbers of the clock are within their ranges, whatever their zone.
bool IsDateTime(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  const size_t t = lower.find('t');
  if (lower.size() < 4 || t == std::string::npos || !IsDate(lower.substr(0, t))) return false;
  const size_t end = lower.find('t', t + 1);
  const std::string clock = lower.substr(t + 1, end == std::string::npos ? end : end - t - 1);
  if (!IsAll<kDateTime>(clock)) return false;
  return clock.substr(0, 2) <= "23" && clock.substr(3, 2) <= "59" && clock.substr(6, 2) <= "59";
}

Faults CheckDateTime(std::string_view text) {
  if (IsDateTime(text)) return {};
  return One("invalid datetime");
}

struct Row {
  const char* function;
  std::string_view name;
  FormatValue::Check check;
  uint64_t pattern_size;
};

constexpr Row kFormats[] = {
    {"dns1123Label", "DNS1123Label", CheckLabel, 30},
    {"dns1123Subdomain", "DNS1123Subdomain", CheckSubdomain, 60},
    {"dns1035Label", "DNS1035Label", CheckDns1035, 30},
    {"qualifiedName", "QualifiedName", CheckQualifiedName, 60},
    {"dns1123LabelPrefix", "DNS1123LabelPrefix", CheckPrefix<CheckLabel>, 30},
    {"dns1123SubdomainPrefix", "DNS1123SubdomainPrefix", CheckPrefix<CheckSubdomain>, 60},
    {"dns1035LabelPrefix", "DNS1035LabelPrefix", CheckPrefix<CheckDns1035>, 30},
    {"labelValue", "LabelValue", CheckLabelValue, 40},
    {"uri", "URI", CheckUri, 1103},
    {"uuid", "uuid", CheckUuid, 70},
    {"byte", "byte", CheckByte, 84},
    {"date", "date", CheckDate, sizeof(kDateTime) - 1},
    {"datetime", "datetime", CheckDateTime, sizeof(kDateTime) - 1},
};

Value FormatOf(const Row& row) {
  return Value::Of(std::shared_ptr<const Extension>(
      std::make_shared<FormatValue>(row.name, row.check, row.pattern_size)));
}

template <size_t row>
Value Constant(Budget&, std::span<Value>) {
  return FormatOf(kFormats[row]);
}

Value Named(Budget&, std::span<Value> args) {
  for (const Row& row : kFormats)
    if (args[0].text() == row.function) return Value::Some(FormatOf(row));
  return Value::None();
}

Value Validate(Budget&, std::span<Value> args) {
  Faults faults = As<FormatValue>(args[0])->Validate(args[1].text());
  if (faults.empty()) return Value::None();
  std::vector<Value> texts;
  for (std::string& fault : faults) texts.push_back(Value::String(std::move(fault)));
  return Value::Some(Value::ListOf(std::move(texts)));
}

template <size_t... rows>
void AddConstants(Environment& environment, std::index_sequence<rows...>) {
  const auto add = [&](size_t row, Implementation implement) {
    const std::string name = std::string("format.") + kFormats[row].function;
    const FunctionRow function = {name.c_str(), name.c_str(), "() kubernetes.NamedFormat",
                                  implement};
    environment.Add(std::span(&function, 1));
  };
  (add(rows, Constant<rows>), ...);
}

}  // namespace

Value FormatValue::Equal(const Value& other) const {
  const auto* const format = As<FormatValue>(other);
  return format == nullptr ? OrNoSuchOverload(other) : Value::Bool(format->name_ == name_);
}

void AddFormats(Environment& environment) {
  AddConstants(environment, std::make_index_sequence<std::size(kFormats)>());
  static constexpr FunctionRow kRows[] = {
      {"validate", "format-validate", "kubernetes.NamedFormat.(string) optional_type(list(string))",
       Validate, Cost::kFormat},
      {"format.named", "format-named", "(string) optional_type(kubernetes.NamedFormat)", Named},
  };
  environment.Add(kRows);
}

}  // namespace berth::cel
