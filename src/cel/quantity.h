// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "berth/api/quantity.h"
#include "src/cel/value.h"

namespace berth::cel {

// An amount of a resource ("1Gi") as expressions see it.
class QuantityValue : public Extension {
 public:
  QuantityValue(api::Quantity::Nanos nanos, bool whole, bool computed)
      : nanos_(nanos), whole_(whole), computed_(computed) {}

  std::string_view type_name() const override { return "kubernetes.Quantity"; }
  // An error when the other is no quantity, or one that add() or sub() made.
  Value Equal(const Value& other) const override;

  api::Quantity::Nanos nanos() const { return nanos_; }
  // It has an integer form: a whole number, and not so many digits that Kubernetes leaves its fast
  // form for it.
  bool whole() const { return whole_; }

 private:
  api::Quantity::Nanos nanos_;  // sums may leave what a Quantity holds
  bool whole_;
  bool computed_;
};

// As the API server gave it.
Value QuantityOf(const api::Quantity& amount);

}  // namespace berth::cel
