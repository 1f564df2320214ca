// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

// What a plugin answers; the values are kube-scheduler's.
enum class Code : uint8_t {
  kSuccess = 0,
  // Internal failure: the pod is retried after the error backoff.
  kError = 1,
  // Not here, not now; evicting pods may help.
  kUnschedulable = 2,
  // Not here, and evicting pods cannot help.
  kUnschedulableAndUnresolvable = 3,
  // Permit only: the pod waits for an approval.
  kWait = 4,
  // The plugin has nothing to do for this pod: PreFilter, PreScore, Bind, PreBindPreFlight.
  kSkip = 5,
  // Rejected, waiting for something outside: the event that helps skips the backoff.
  kPending = 6,
};

// "Success", "Error", "Unschedulable", ... as metrics and documents print them.
std::string_view CodeName(Code code);

// The reasons of one verdict, in the plugin's order. Interned: equal lists share one object.
using ReasonSet = std::vector<std::string>;

// A verdict: a code and an interned list of reasons. Two words, trivially copyable: saying yes, or
// no for a reason known before, allocates nothing.
//
// `reasons` is owned by the ReasonTable that interned it and lives as long as that table.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, const ReasonSet* reasons) : code_(code), reasons_(reasons) {}
  explicit Status(Code code) : code_(code) {}

  static Status Success() { return Status(); }
  static Status Skip() { return Status(Code::kSkip); }

  Code code() const { return code_; }
  bool ok() const { return code_ == Code::kSuccess; }
  bool skip() const { return code_ == Code::kSkip; }
  bool wait() const { return code_ == Code::kWait; }
  // Unschedulable, UnschedulableAndUnresolvable or Pending.
  bool rejected() const {
    return code_ == Code::kUnschedulable || code_ == Code::kUnschedulableAndUnresolvable ||
           code_ == Code::kPending;
  }

  const ReasonSet& reasons() const;
  // The reasons joined by ", ".
  std::string message() const;

  // Same code and same interned reasons.
  friend bool operator==(const Status&, const Status&) = default;

 private:
  Code code_ = Code::kSuccess;
  const ReasonSet* reasons_ = nullptr;
};

// Interns reason lists, so that a Status carries a pointer.
//
// Two lifetimes: a plugin interns its constant reasons once, in the table of its Handle; text made
// up in a cycle (a claim's name) goes to the cycle's own table, CycleState::reasons().
//
// Thread safety: one owner.
class ReasonTable {
 public:
  ReasonTable();
  ~ReasonTable();
  ReasonTable(const ReasonTable&) = delete;
  ReasonTable& operator=(const ReasonTable&) = delete;

  const ReasonSet* Intern(const ReasonSet& reasons);
  const ReasonSet* Intern(std::string_view reason);

  Status Make(Code code, std::string_view reason) { return Status(code, Intern(reason)); }
  Status Make(Code code, const ReasonSet& reasons) { return Status(code, Intern(reasons)); }
  Status Error(std::string_view text) { return Make(Code::kError, text); }

 private:
  struct Impl;
  Impl* impl_ = nullptr;  // Made at the first Intern: most cycles need no table of their own.
};

}  // namespace berth
