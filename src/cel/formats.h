// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "src/cel/value.h"

namespace berth::cel {

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
