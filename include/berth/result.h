// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace berth {

// Why something failed, in words an operator can act on: what, where (file, line, field), why.
struct Error {
  std::string message;

  // "`prefix`: `message`".
  Error Within(std::string_view prefix) const {
    return Error{std::string(prefix) + ": " + message};
  }
  friend bool operator==(const Error&, const Error&) = default;
};

// The value, or the failure that kept it from being made. A plugin's verdict is a Status instead.
template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> Fail(std::string message) {
  return tl::unexpected<Error>(Error{std::move(message)});
}
inline tl::unexpected<Error> Fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace berth
