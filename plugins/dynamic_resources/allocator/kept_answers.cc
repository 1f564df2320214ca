// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator/kept_answers.h"

#include <algorithm>

#include "absl/strings/string_view.h"

namespace berth::plugins::dra {
namespace {

// What a map takes for an entry, about.
constexpr size_t kEntryBytes = 64;

}  // namespace

AnswerColumn::AnswerColumn(std::shared_ptr<Expression> expression, size_t devices)
    : expression_(std::move(expression)), answers_(devices, Answer::kUnknown) {
  Grow(sizeof(AnswerColumn) + kEntryBytes + devices);
}

AnswerColumn::~AnswerColumn() { expression_->Shrink(bytes_); }

void AnswerColumn::Grow(size_t bytes) {
  bytes_ += bytes;
  expression_->Grow(bytes);
}

void AnswerColumn::Set(size_t device, SelectorAnswer answer) {
  switch (answer.kind) {
    case SelectorAnswer::Kind::kNo:
      answers_[device] = Answer::kNo;
      return;
    case SelectorAnswer::Kind::kYes:
      answers_[device] = Answer::kYes;
      return;
    case SelectorAnswer::Kind::kOutOfBudget:
      return;
    case SelectorAnswer::Kind::kCompileError:
      answers_[device] = Answer::kCompileError;
      break;
    case SelectorAnswer::Kind::kRuntimeError:
      answers_[device] = Answer::kRuntimeError;
      break;
  }
  Grow(kEntryBytes + answer.error.size());
  errors_.insert_or_assign(static_cast<uint32_t>(device), std::move(answer.error));
}

const DerivedAttribute* AnswerColumn::derived(size_t device) const {
  const auto found = derived_.find(static_cast<uint32_t>(device));
  return found == derived_.end() ? nullptr : found->second.get();
}

const DerivedAttribute& AnswerColumn::Set(size_t device, DerivedAttribute derived) {
  Grow(kEntryBytes + sizeof(DerivedAttribute) + derived.error.size());
  auto& kept = derived_[static_cast<uint32_t>(device)];
  kept = std::make_unique<DerivedAttribute>(std::move(derived));
  return *kept;
}

std::shared_ptr<Expression> ExpressionTable::Use(std::string_view text) {
  auto known = expressions_.find(absl::string_view(text.data(), text.size()));
  if (known == expressions_.end()) {
    auto made = std::make_shared<Expression>(std::string(text), kept_bytes_);
    made->Grow(sizeof(Expression) + kEntryBytes + 2 * text.size());
    known = expressions_.emplace(std::string(text), std::move(made)).first;
  }
  known->second->last_use = ++uses_;
  return known->second;
}

void ExpressionTable::ForgetOldest() {
  std::vector<std::shared_ptr<Expression>> by_use;
  for (const auto& [text, expression] : expressions_) by_use.push_back(expression);
  std::sort(by_use.begin(), by_use.end(),
            [](const auto& a, const auto& b) { return a->last_use < b->last_use; });
  size_t kept = *kept_bytes_;
  for (const auto& expression : by_use) {
    if (kept <= max_bytes_ / 2) break;
    kept -= expression->bytes;
    expression->forgotten = true;
    expressions_.erase(expression->text);
  }
}

}  // namespace berth::plugins::dra
