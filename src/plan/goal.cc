// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <initializer_list>
#include <string>
#include <system_error>

#include "berth/field_errors.h"
#include "src/base/suggestion.h"
#include "src/plan/plan.h"

namespace berth::plan {

Result<Goal> Goal::Parse(std::string_view text) {
  constexpr std::string_view kForms =
      "; a goal is fit=NAMESPACE/NAME, pending, pending=PRIORITY or empty=NODE";
  const size_t equals = text.find('=');
  const std::string_view kind = text.substr(0, equals);
  const bool alone = equals == std::string_view::npos;
  const std::string_view name = alone ? std::string_view() : text.substr(equals + 1);
  if (kind == "pending") {
    if (alone) return Goal{.kind = Kind::kPending};
    int32_t priority = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), priority);
    if (error == std::errc() && end == name.data() + name.size()) {
      return Goal{.kind = Kind::kPending, .priority = priority};
    }
    return Fail(Quoted(name) + " is no priority" + std::string(kForms));
  }
  if (kind != "fit" && kind != "empty") {
    base::Suggestion meant(kind);
    meant.TryAll(std::initializer_list<std::string_view>{"fit", "pending", "empty"});
    return Fail(Quoted(kind) + " is no goal" +
                (meant.word().empty() ? std::string(kForms) : meant.ToString()));
  }
  const bool of_pod = kind == "fit";
  if (name.empty() || (name.find('/') != std::string_view::npos) != of_pod) {
    return Fail(Quoted(text) + (of_pod ? " names no pod" : " names no node") + std::string(kForms));
  }
  return Goal{.kind = of_pod ? Kind::kFit : Kind::kEmpty, .name = std::string(name)};
}

std::string Goal::ToString() const {
  switch (kind) {
    case Kind::kFit:
      return "fit=" + name;
    case Kind::kEmpty:
      return "empty=" + name;
    case Kind::kPending:
      break;
  }
  return priority == INT32_MIN ? "pending" : "pending=" + std::to_string(priority);
}

}  // namespace berth::plan
