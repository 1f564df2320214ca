// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <optional>
#include <string>
#include <string_view>

#include "berth/check.h"
#include "src/client/http2_session.h"
#include "src/client/transport.h"

namespace berth::client {

// One request under way. With a libcurl easy handle it is kept for the next one, since the options
// are many; those made for a session have none.
class Transport::Attempt final : public Http2Listener {
 public:
  // kCut: its connection is closed, and its listener does not know yet.
  enum class Place { kIdle, kCurl, kWaiting, kSession, kCut };

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

  Transport* owner = nullptr;
  Place place = Place::kIdle;
  CURL* easy = nullptr;
  Http2Session* session = nullptr;
  void* stream = nullptr;               // of the session
  AttemptListener* listener = nullptr;  // nullptr when idle
  AttemptRequest request;
  Time deadline{};                             // zero: none
  base::Executor::TimerId deadline_timer = 0;  // while it waits
  std::string url;
  bool negotiated_http2 = false;  // of a connection that is opened for a session
  bool for_session = false;       // libcurl was kept from sending it
  bool head_reported = false;
  AttemptResult result;
  char error_text[CURL_ERROR_SIZE] = {};
};

// `speaks_http2` is set at the end of each handshake that the handle makes; it must outlive the
// connections.
void SetTlsCallback(void* easy, bool* speaks_http2);

}  // namespace berth::client
