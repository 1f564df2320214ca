// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "src/cel/value.h"

namespace berth::cel {

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

}  // namespace berth::cel
