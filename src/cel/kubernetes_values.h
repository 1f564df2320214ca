// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/quantity.h"
#include "berth/result.h"
#include "src/cel/value.h"

// The types that Kubernetes adds to the language.
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

// A version of Semantic Versioning 2.0: "1.2.3-rc.1+build".
class SemverValue : public Extension {
 public:
  struct Version {
    uint64_t major = 0;
    uint64_t minor = 0;
    uint64_t patch = 0;
    std::vector<std::string> pre_release;
    std::vector<std::string> build;
  };

  // Errors: text that is no version.
  static Result<Version> Parse(std::string_view text);
  // The order of versions; the build counts for nothing.
  static int Order(const Version& a, const Version& b);

  explicit SemverValue(Version version) : version_(std::move(version)) {}

  std::string_view type_name() const override { return "kubernetes.Semver"; }
  Value Equal(const Value& other) const override;

  const Version& version() const { return version_; }
  std::string ToString() const;

 private:
  Version version_;
};

// An error value when `text` is no version.
Value SemverOf(std::string_view text);

// One of Kubernetes' named formats: format.dns1123Label() and its like.
class FormatValue : public Extension {
 public:
  // What is wrong with a text; empty: nothing.
  using Check = std::vector<std::string> (*)(std::string_view text);

  FormatValue(std::string_view name, Check check, uint64_t pattern_size)
      : name_(name), check_(check), pattern_size_(pattern_size) {}

  std::string_view type_name() const override { return "kubernetes.NamedFormat"; }
  Value Equal(const Value& other) const override;

  std::vector<std::string> Validate(std::string_view text) const { return check_(text); }
  // What costs count for the pattern.
  uint64_t pattern_size() const { return pattern_size_; }

 private:
  std::string_view name_;
  Check check_;
  uint64_t pattern_size_;
};

}  // namespace berth::cel
