// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/serving/departure.h"

// Requests and responses of the endpoints, as values that know no library and no socket.

namespace berth::serving {

using Fields = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method{};  // "GET"
  std::string path{};    // decoded, without the query: "/readyz"
  std::string target{};  // path and query as they came
  Fields query{};        // decoded, in order
  Fields headers{};      // names in lower case, in order
  std::string body{};
  std::string peer{};  // whose address it came from; see PeerOf()
  // What the client showed in the TLS handshake, each as DER, its own certificate first. That it
  // holds the key is proven; who signed it has not been looked at.
  std::vector<std::string> client_chain{};
  // Announced when the client waits no longer.
  std::shared_ptr<Departure> departure = std::make_shared<Departure>();

  // The first of that name, or nullptr. `name` is in lower case.
  const std::string* FindHeader(std::string_view name) const;
  const std::string* FindQuery(std::string_view name) const;
};
using RequestPtr = std::shared_ptr<const Request>;

inline constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
inline constexpr std::string_view kJson = "application/json";

struct Response {
  int code = 200;
  std::string content_type = std::string(kPlainText);
  std::string body{};
  Fields headers{};
  // In place of `body`, where it is set: bytes that several responses share.
  std::shared_ptr<const std::string> shared_body{};
};

// Takes the one answer to a request; from any thread, also from inside the handler.
using Respond = std::function<void(Response)>;
// Takes the decision on a request, once: nullopt lets it go on, a response refuses it. From any
// thread, now or later; not at all once the client has gone.
using Decide = std::function<void(std::optional<Response>)>;
// Decides by a request's head whether its body may come. As a handler, on the server's thread.
using Admit = std::function<void(const RequestPtr& head, Decide)>;
// Called on the server's thread and must not wait there.
using Handler = std::function<void(const RequestPtr&, Respond)>;

// "Not Found", or "" for a code that is never sent here.
std::string_view StatusText(int code);
// A line of text as an answer that is no success.
Response ErrorText(int code, std::string_view line);

}  // namespace berth::serving
