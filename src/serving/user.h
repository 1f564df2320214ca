// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "berth/result.h"

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

using OnUser = std::function<void(Result<User>)>;

}  // namespace berth::serving
