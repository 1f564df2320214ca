// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/api/resource_slice.h"
#include "plugins/dynamic_resources/allocator/expressions.h"

namespace berth::plugins::dra {

// An expression that claims or classes use, and how much is kept for it.
struct Expression {
  Expression(std::string its_text, std::shared_ptr<size_t> all_bytes)
      : text(std::move(its_text)), kept_bytes(std::move(all_bytes)) {}
  ~Expression() { Shrink(bytes); }
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;

  void Grow(size_t more) {
    bytes += more;
    *kept_bytes += more;
  }
  void Shrink(size_t less) {
    bytes -= less;
    *kept_bytes -= less;
  }

  const std::string text;
  const std::shared_ptr<size_t> kept_bytes;  // of all expressions
  size_t bytes = 0;                          // of this one
  uint64_t last_use = 0;
  bool forgotten = false;
};

// What one expression says of the devices of one slice.
class AnswerColumn {
 public:
  enum class Answer : uint8_t { kUnknown, kNo, kYes, kCompileError, kRuntimeError };

  AnswerColumn(std::shared_ptr<Expression> expression, size_t devices);
  ~AnswerColumn();
  AnswerColumn(const AnswerColumn&) = delete;
  AnswerColumn& operator=(const AnswerColumn&) = delete;

  bool is_forgotten() const { return expression_->forgotten; }
  Answer answer(size_t device) const { return answers_[device]; }
  // Of a device whose answer is an error.
  const std::string& error(size_t device) const {
    return errors_.at(static_cast<uint32_t>(device));
  }
  void Set(size_t device, SelectorAnswer answer);

  // What a derived attribute's expression makes of the device; nullptr: nothing yet. Its errors are
  // kept as answers.
  const DerivedAttribute* derived(size_t device) const;
  const DerivedAttribute& Set(size_t device, DerivedAttribute derived);

 private:
  void Grow(size_t bytes);

  const std::shared_ptr<Expression> expression_;
  std::vector<Answer> answers_;
  absl::flat_hash_map<uint32_t, std::string> errors_;
  absl::flat_hash_map<uint32_t, std::unique_ptr<DerivedAttribute>> derived_;
  size_t bytes_ = 0;
};

// The answers that are kept with a slice, by expression.
using AnswersOfSlice = absl::flat_hash_map<const Expression*, std::unique_ptr<AnswerColumn>>;

// The expressions in use. What is kept for them is limited in bytes: the expressions used longest
// ago are forgotten.
//
// Thread safety: the scheduling thread only.
class ExpressionTable {
 public:
  explicit ExpressionTable(size_t max_bytes) : max_bytes_(max_bytes) {}

  // The expression of that text, used now.
  std::shared_ptr<Expression> Use(std::string_view text);

  bool full() const { return *kept_bytes_ > max_bytes_; }
  // Forgets the expressions used longest ago, until half of what may be kept is left. The caller
  // drops their columns.
  void ForgetOldest();

  size_t size() const { return expressions_.size(); }
  size_t kept_bytes() const { return *kept_bytes_; }

 private:
  const size_t max_bytes_;
  const std::shared_ptr<size_t> kept_bytes_ = std::make_shared<size_t>(0);
  uint64_t uses_ = 0;
  absl::flat_hash_map<std::string, std::shared_ptr<Expression>> expressions_;
};

}  // namespace berth::plugins::dra
