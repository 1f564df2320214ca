// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <initializer_list>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "berth/field_errors.h"
#include "src/base/suggestion.h"
#include "src/plan/measure.h"
#include "src/plan/plan.h"
#include "src/simulator/workload.h"

namespace berth::plan {
namespace {

constexpr std::string_view kForms =
    "; a goal is fit=NAMESPACE/NAME, pending, pending=PRIORITY, empty=NODE, "
    "skew=[NAMESPACE/]KIND/NAME:MAX[@KEY] or stranded=RESOURCE:AMOUNT";

tl::unexpected<Error> NoGoal(std::string_view text, std::string_view why) {
  return Fail(Quoted(text) + std::string(why) + std::string(kForms));
}

// nullopt: the text is not such a number, or more than that.
template <typename Number>
std::optional<Number> ReadNumber(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "shop/deploy/web:1", "shop/deploy/web:1@kubernetes.io/hostname".
Result<Goal> ParseSkew(std::string_view text) {
  const size_t at = text.find('@');
  const std::string_view spread = text.substr(0, at);
  Goal goal{.kind = Goal::Kind::kSkew};
  goal.topology_key = at == std::string_view::npos ? kDefaultTopologyKey : text.substr(at + 1);
  if (goal.topology_key.empty()) return NoGoal(text, " names no topology key after its @");
  const size_t colon = spread.rfind(':');
  auto workload = simulator::Workload::Parse(spread.substr(0, colon));
  if (!workload) return NoGoal(text, " names no workload");
  goal.workload = *std::move(workload);
  const auto max_skew = colon == std::string_view::npos
                            ? std::nullopt
                            : ReadNumber<int32_t>(spread.substr(colon + 1));
  if (!max_skew || *max_skew < 1) return NoGoal(text, " has no skew, a number from 1, after a :");
  goal.max_skew = *max_skew;
  return goal;
}

// "nvidia.com/gpu:4".
Result<Goal> ParseStranded(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0)
    return NoGoal(text, " names no amount after a :");
  const auto amount = api::Quantity::Parse(text.substr(colon + 1));
  if (!amount || *amount <= api::Quantity()) {
    return NoGoal(text, " has no amount, a quantity above 0, after its :");
  }
  return Goal{
      .kind = Goal::Kind::kStranded, .name = std::string(text.substr(0, colon)), .amount = *amount};
}

}  // namespace

Result<Goal> Goal::Parse(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view kind = text.substr(0, equals);
  const bool alone = equals == std::string_view::npos;
  const std::string_view name = alone ? std::string_view() : text.substr(equals + 1);
  if (kind == "pending") {
    if (alone) return Goal{.kind = Kind::kPending};
    const auto priority = ReadNumber<int32_t>(name);
    if (!priority) return NoGoal(name, " is no priority");
    return Goal{.kind = Kind::kPending, .priority = *priority};
  }
  if (kind == "skew") return ParseSkew(name);
  if (kind == "stranded") return ParseStranded(name);
  if (kind != "fit" && kind != "empty") {
    base::Suggestion meant(kind);
    meant.TryAll(
        std::initializer_list<std::string_view>{"fit", "pending", "empty", "skew", "stranded"});
    return Fail(Quoted(kind) + " is no goal" +
                (meant.word().empty() ? std::string(kForms) : meant.ToString()));
  }
  const bool of_pod = kind == "fit";
  const std::string_view bare = of_pod ? name : simulator::NodeNameIn(name);
  if (bare.empty() || (bare.find('/') != std::string_view::npos) != of_pod) {
    return NoGoal(text, of_pod ? " names no pod" : " names no node");
  }
  return Goal{.kind = of_pod ? Kind::kFit : Kind::kEmpty, .name = std::string(bare)};
}

std::string Goal::ToString() const {
  switch (kind) {
    case Kind::kFit:
      return "fit=" + name;
    case Kind::kEmpty:
      return "empty=" + name;
    case Kind::kSkew: {
      const std::string whose =
          workload.namespace_.empty() ? workload.kind + "/" + workload.name : workload.ToString();
      const std::string key = topology_key == kDefaultTopologyKey ? "" : "@" + topology_key;
      return "skew=" + whose + ":" + std::to_string(max_skew) + key;
    }
    case Kind::kStranded:
      return "stranded=" + name + ":" + amount.ToCanonicalString();
    case Kind::kPending:
      break;
  }
  return priority == INT32_MIN ? "pending" : "pending=" + std::to_string(priority);
}

}  // namespace berth::plan
