// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "berth/loadable/abi.h"

// Not berth::in_tree, where the plugins that are built together with Berth have theirs. Hidden:
// libraries of different versions of these headers live in one process.
#define BERTH_NAMESPACE_BEGIN \
  namespace berth {           \
  inline namespace loadable __attribute__((visibility("hidden"))) {
#define BERTH_NAMESPACE_END \
  }                         \
  }

BERTH_NAMESPACE_BEGIN

using Duration = std::chrono::nanoseconds;
using Time = std::chrono::time_point<std::chrono::system_clock, Duration>;

namespace internal {
// What Berth offers; set once, before anything else is called.
inline const berth_host* host = nullptr;

inline berth_string C(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view Cpp(berth_string text) {
  return text.data == nullptr ? std::string_view() : std::string_view(text.data, text.size);
}
inline Time ToTime(int64_t nanos) { return Time(Duration(nanos)); }
}  // namespace internal

enum class Code : berth_code {
  kSuccess = BERTH_SUCCESS,
  kError = BERTH_ERROR,
  kUnschedulable = BERTH_UNSCHEDULABLE,
  kUnschedulableAndUnresolvable = BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE,
  kWait = BERTH_WAIT,
  kSkip = BERTH_SKIP,
  kPending = BERTH_PENDING,
};

// A verdict, with a reason for people where it is no success. For what each code means and where it
// is allowed see berth_code.
class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(Code code, std::string reason = "") : code_(code), reason_(std::move(reason)) {}

  static Status Success() { return Status(); }
  static Status Skip() { return Status(Code::kSkip); }
  static Status Error(std::string reason) { return Status(Code::kError, std::move(reason)); }
  static Status Unschedulable(std::string reason) {
    return Status(Code::kUnschedulable, std::move(reason));
  }
  static Status UnschedulableAndUnresolvable(std::string reason) {
    return Status(Code::kUnschedulableAndUnresolvable, std::move(reason));
  }
  static Status Pending(std::string reason) { return Status(Code::kPending, std::move(reason)); }

  Code code() const { return code_; }
  bool ok() const { return code_ == Code::kSuccess; }
  const std::string& reason() const { return reason_; }

 private:
  Code code_ = Code::kSuccess;
  std::string reason_;
};

BERTH_NAMESPACE_END
