// SPDX-License-Identifier: Apache-2.0
#include "src/serving/request_log.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <string_view>
#include <utility>

#include "berth/config_value.h"
#include "src/base/logging.h"

namespace berth::serving {
namespace {

constexpr int kRequestVerbosity = 3;

std::string HeaderOrNothing(const Request& request, std::string_view name) {
  const std::string* value = request.FindHeader(name);
  return value == nullptr ? "" : *value;
}

}  // namespace

bool RequestLog::Wanted() { return base::LogVerbosity() >= kRequestVerbosity; }

RequestLog::RequestLog(const Request& request, std::string remote, Time begun)
    : verb_(request.method),
      uri_(request.target),
      user_agent_(HeaderOrNothing(request, "user-agent")),
      content_type_(HeaderOrNothing(request, "content-type")),
      remote_(std::move(remote)),
      begun_(begun) {}

void RequestLog::Answered(int code, Time now) const {
  base::LogV(kRequestVerbosity, "HTTP",
             {{"verb", verb_},
              {"URI", uri_},
              {"latency", FormatGoDuration(now - begun_)},
              {"userAgent", user_agent_},
              {"contentType", content_type_},
              {"audit-ID", ""},
              {"srcIP", remote_},
              {"resp", code}});
}

std::string RemoteOf(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "";
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto v4 = [&text](const void* bytes, in_port_t port) {
    inet_ntop(AF_INET, bytes, text.data(), text.size());
    return std::string(text.data()) + ":" + std::to_string(ntohs(port));
  };
  if (address.ss_family == AF_INET) {
    const auto* at = reinterpret_cast<const sockaddr_in*>(&address);
    return v4(&at->sin_addr, at->sin_port);
  }
  if (address.ss_family != AF_INET6) return "";
  const auto* at = reinterpret_cast<const sockaddr_in6*>(&address);
  // An IPv4 client of a socket for both.
  if (IN6_IS_ADDR_V4MAPPED(&at->sin6_addr) != 0)
    return v4(&at->sin6_addr.s6_addr[12], at->sin6_port);
  inet_ntop(AF_INET6, &at->sin6_addr, text.data(), text.size());
  return "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(at->sin6_port));
}

}  // namespace berth::serving
