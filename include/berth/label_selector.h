// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/meta.h"
#include "berth/result.h"

namespace berth {

// A label selector (meta/v1), checked once and then matched often.
//
// Thread safety: immutable but for Require().
class LabelSelectorMatcher {
 public:
  enum class Operator : uint8_t { kIn, kNotIn, kExists, kDoesNotExist };
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;  // sorted, unique

    friend auto operator<=>(const Requirement&, const Requirement&) = default;
  };

  // Selects nothing.
  LabelSelectorMatcher() = default;
  static LabelSelectorMatcher Everything();
  // nullopt selects nothing, an empty selector everything. Errors: an unknown operator, a bad key
  // or value, values that do not go with the operator; in kube-scheduler's words.
  static Result<LabelSelectorMatcher> Make(const std::optional<api::LabelSelector>& selector);
  // Every pair must be there; an empty map selects everything.
  static LabelSelectorMatcher OfLabels(const api::StringMap& labels);

  // Also demands that the label `key` is `value`. What selects nothing goes on doing so.
  void Require(std::string_view key, std::string_view value);
  // Also demands all that `other` demands.
  void Require(const LabelSelectorMatcher& other);

  bool Matches(const api::StringMap& labels) const;
  bool nothing() const { return nothing_; }
  bool everything() const { return !nothing_ && requirements_.empty(); }
  // Sorted, unique; all of them must hold.
  std::span<const Requirement> requirements() const { return requirements_; }

  // Appends a text that is the same for selectors with the same requirements, and only for them.
  void AppendIdentity(std::string& text) const;
  friend bool operator==(const LabelSelectorMatcher&, const LabelSelectorMatcher&) = default;

 private:
  bool nothing_ = true;
  std::vector<Requirement> requirements_;
};

}  // namespace berth
