// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>

#include "src/base/text.h"
#include "src/packing/figures.h"
#include "src/plan/plan.h"

namespace berth::plan {
namespace {

using api::Quantity;

// Without the zeros at the end.
std::string Decimals(double value, int most) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", most, value);
  std::string short_text = text;
  short_text.erase(short_text.find_last_not_of('0') + 1);
  if (short_text.ends_with('.')) short_text.pop_back();
  return short_text;
}

double ByMove(const Gain& gain) {
  constexpr double kNanos = 1e9;
  return static_cast<double>(gain.all.nanos()) / kNanos / static_cast<double>(gain.moves);
}

Quantity InUnit(const std::string& resource, int64_t amount) {
  return resource == "cpu" ? Quantity::FromMilli(amount) : Quantity::FromUnits(amount);
}

}  // namespace

std::string Gain::Text() const {
  const bool in_bytes = packing::IsInBytes(unit);
  return in_bytes ? packing::AmountText(unit, all.Value() / static_cast<int64_t>(moves))
                  : Decimals(ByMove(*this), 2);
}

std::string Gain::JsonText() const { return Decimals(ByMove(*this), 3); }

bool Gain::IsBelow(const Quantity& least) const {
  return all.nanos() < least.nanos() * static_cast<Quantity::Nanos>(moves);
}

std::optional<Gain> GainOf(const Plan& plan) {
  const size_t moves = plan.evictions();
  if (moves == 0) return std::nullopt;
  const auto fell_by = plan.before - plan.after;
  switch (plan.goal.kind) {
    case Goal::Kind::kEmpty:
      return Gain{Quantity::FromUnits(1), moves, "nodes"};
    case Goal::Kind::kSkew:
      return Gain{Quantity::FromUnits(fell_by), moves, "pods of skew"};
    case Goal::Kind::kStranded:
      return Gain{InUnit(plan.goal.name, fell_by), moves, plan.goal.name};
    case Goal::Kind::kFit:
    case Goal::Kind::kPending:
      break;
  }
  return Gain{Quantity::FromUnits(static_cast<int64_t>(plan.helped)), moves, "pods"};
}

void RefuseBelow(const Quantity& least, Plan& plan) {
  if (plan.outcome != Plan::Outcome::kFound && plan.outcome != Plan::Outcome::kPartly) return;
  const auto gain = GainOf(plan);
  if (!gain || !gain->IsBelow(least)) return;
  plan.outcome = Plan::Outcome::kRefused;
  plan.why = base::Concat("a move gains ", gain->Text(), " ", gain->unit,
                          ", and --min-gain asks for ", least.ToCanonicalString());
}

}  // namespace berth::plan
