// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace berth::serving {

// Who makes a request, in the words of the API server.
struct User {
  std::string name{};
  std::string uid{};
  std::vector<std::string> groups{};
  std::vector<std::pair<std::string, std::vector<std::string>>> extra{};
};

inline constexpr const char* kAnonymousUser = "system:anonymous";
inline constexpr const char* kUnauthenticatedGroup = "system:unauthenticated";
inline constexpr const char* kAuthenticatedGroup = "system:authenticated";
inline constexpr const char* kMastersGroup = "system:masters";

// Why it is not known who makes a request, or whether they may.
struct NoAnswer {
  std::string message{};    // tells no secret
  bool overloaded = false;  // too much is being asked; a later try may succeed
};
template <typename T>
using Answer = tl::expected<T, NoAnswer>;

using OnUser = std::function<void(Answer<User>)>;

}  // namespace berth::serving
