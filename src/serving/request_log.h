// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/time.h"
#include "src/serving/http.h"

namespace berth::serving {

// The line of the log about a request, as kube-scheduler writes it with -v=3.
//
// Thread safety: one owner.
class RequestLog {
 public:
  // Whether any such line is written; without it nothing has to be kept.
  static bool Wanted();

  // `remote` is the client's address with its port, `begun` when the request was there.
  RequestLog(const Request& request, std::string remote, Time begun);

  // Writes the line.
  void Answered(int code, Time now) const;

 private:
  const std::string verb_;
  const std::string uri_;
  const std::string user_agent_;
  const std::string content_type_;
  const std::string remote_;
  const Time begun_;
};

// The address and the port of the client at the other end, "127.0.0.1:4711" or "[::1]:4711"; ""
// where there is none.
std::string RemoteOf(int fd);

}  // namespace berth::serving
