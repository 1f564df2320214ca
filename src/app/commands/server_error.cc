// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/server_error.h"

#include <algorithm>

#include "src/base/text.h"
#include "src/informers/kinds.h"

namespace berth::app {
namespace {

constexpr std::string_view kOpenings[] = {
    "Error from server", "The connection to the server ",
    "Unable to connect to the server: ", "You must be logged in to the server "};

// "127.0.0.1:6443" of "https://127.0.0.1:6443/prefix".
std::string_view HostOf(std::string_view server) {
  const size_t scheme = server.find("://");
  if (scheme != std::string_view::npos) server.remove_prefix(scheme + 3);
  return server.substr(0, server.find('/'));
}

}  // namespace

std::string InKubectlsWords(const client::ApiError& error, std::string_view server) {
  if (error.code == 401) return "You must be logged in to the server (Unauthorized)";
  if (error.code != 0) {
    return base::Concat("Error from server", error.reason.empty() ? "" : " (", error.reason,
                        error.reason.empty() ? "" : ")", ": ", error.message);
  }
  if (error.message.find("Connection refused") != std::string::npos) {
    return base::Concat("The connection to the server ", HostOf(server),
                        " was refused - did you specify the right host or port?");
  }
  return "Unable to connect to the server: " + error.message;
}

bool IsInKubectlsWords(std::string_view message) {
  return std::ranges::any_of(kOpenings,
                             [&](std::string_view words) { return message.starts_with(words); });
}

bool IsFinal(const client::ApiError& error) {
  if (error.code == 401 || error.code == 403) return true;
  return error.code == 0 &&
         (error.reason == client::kReasonUnreachable || error.reason == client::kReasonCredentials);
}

std::string RightsToList(const std::vector<informers::Kind>& kinds) {
  std::string rights;
  for (const informers::Kind kind : kinds) {
    const informers::KindInfo& info = informers::InfoOf(kind);
    rights += base::Concat(rights.empty() ? "" : ", ", "list ", info.resource,
                           info.custom || info.group().empty() ? "" : ".",
                           info.custom ? "" : info.group());
  }
  return rights;
}

}  // namespace berth::app
