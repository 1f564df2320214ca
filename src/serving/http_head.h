// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "src/serving/http.h"

// HTTP/1.1 as bytes (RFC 9112).
//
// Thread safety: any thread.
namespace berth::serving {

// What stands before a request's body.
struct RequestHead {
  Request request;
  size_t content_length = 0;
  bool keep_alive = true;
};

// Reads a request's head, from its first byte to the empty line that ends it, both included. An
// error is the status to refuse the request with. Strict: a body comes with Content-Length or not
// at all, no header may be folded over lines, and a target begins with '/' and is no longer than
// 2 KiB. There are at most 100 headers, and as many pairs in the query.
tl::expected<RequestHead, int> ParseRequestHead(std::string_view text);

// What of a response is sent: without its body where the request was HEAD.
enum class Parts { kHeadAndBody, kHead };
enum class Persistence { kKeepAlive, kClose };

std::string Serialize(const Response& response, Parts parts, Persistence persistence);

}  // namespace berth::serving
