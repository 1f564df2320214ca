// SPDX-License-Identifier: Apache-2.0
#include "berth/status.h"

#include <span>
#include <unordered_set>

namespace berth {
namespace {

std::string_view View(const std::string& reason) { return reason; }
std::string_view View(std::string_view reason) { return reason; }

// Lets a set of reason lists be searched without making a list first.
struct ReasonsHash {
  using is_transparent = void;
  template <typename Reasons>
  size_t operator()(const Reasons& reasons) const {
    size_t hash = 0;
    for (const auto& reason : reasons) {
      hash = hash * 1099511628211u + std::hash<std::string_view>{}(View(reason));
    }
    return hash;
  }
};

struct ReasonsEqual {
  using is_transparent = void;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (View(a[i]) != View(b[i])) return false;
    }
    return true;
  }
};

}  // namespace

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kSuccess:
      return "Success";
    case Code::kError:
      return "Error";
    case Code::kUnschedulable:
      return "Unschedulable";
    case Code::kUnschedulableAndUnresolvable:
      return "UnschedulableAndUnresolvable";
    case Code::kWait:
      return "Wait";
    case Code::kSkip:
      return "Skip";
    case Code::kPending:
      return "Pending";
  }
  return "Unknown";
}

const ReasonSet& Status::reasons() const {
  static const ReasonSet kNone;
  return reasons_ == nullptr ? kNone : *reasons_;
}

std::string Status::message() const {
  std::string text;
  for (const std::string& reason : reasons()) {
    if (!text.empty()) text += ", ";
    text += reason;
  }
  return text;
}

// A node-based set: the address of a list stays the same however many more come.
struct ReasonTable::Impl {
  std::unordered_set<ReasonSet, ReasonsHash, ReasonsEqual> sets;
};

ReasonTable::ReasonTable() = default;
ReasonTable::~ReasonTable() { delete impl_; }

const ReasonSet* ReasonTable::Intern(const ReasonSet& reasons) {
  if (impl_ == nullptr) impl_ = new Impl;
  return &*impl_->sets.insert(reasons).first;
}

const ReasonSet* ReasonTable::Intern(std::string_view reason) {
  if (impl_ == nullptr) impl_ = new Impl;
  const auto found = impl_->sets.find(std::span<const std::string_view>(&reason, 1));
  if (found != impl_->sets.end()) return &*found;
  return &*impl_->sets.insert(ReasonSet{std::string(reason)}).first;
}

}  // namespace berth
