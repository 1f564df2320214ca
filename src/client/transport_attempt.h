// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/check.h"
#include "src/client/http2_session.h"
#include "src/client/transport.h"

namespace berth::client {

// A libcurl easy handle with its listener; kept for the next attempt, since its options are many.
// Or, with `easy` null, a request on a session.
class Transport::Attempt final : public Http2Listener {
 public:
  Attempt() = default;
  explicit Attempt(CURL* handle) : easy(handle) { BERTH_CHECK(easy != nullptr, "out of memory"); }
  ~Attempt() override { curl_easy_cleanup(easy); }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  void OnHead(int code, std::string_view content_type,
              std::optional<Duration> retry_after) override {
    result.code = code;
    result.content_type = content_type;
    result.retry_after = retry_after;
    listener->OnHead(code, result.content_type);
  }
  bool OnBody(std::string_view data) override {
    if (listener->OnBody(data)) return true;
    result.stopped_by_listener = true;
    return false;
  }

  CURL* easy = nullptr;
  Http2Session* session = nullptr;
  void* stream = nullptr;               // of the session
  AttemptListener* listener = nullptr;  // nullptr when idle
  std::shared_ptr<const HeaderList> headers;
  std::string url;
  bool is_write = false;
  bool negotiated_http2 = false;  // of a connection that is opened for a session
  bool head_reported = false;
  AttemptResult result;
  char error_text[CURL_ERROR_SIZE] = {};
};

}  // namespace berth::client
