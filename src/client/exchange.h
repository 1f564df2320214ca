// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/time.h"
#include "src/base/executor.h"
#include "src/client/api_client.h"
#include "src/client/credentials.h"
#include "src/client/transport.h"

namespace berth::client {

// The error that an answer with `code` (not 2xx) means. Reason, message and
// details.retryAfterSeconds come from the body where it is a meta/v1 Status in the encoding that
// `content_type` names; else the reason is derived from the code and the message is the body's
// first line. `retry_after`, from the header, goes first.
ApiError ErrorFromResponse(int code, std::string_view content_type, std::string_view body,
                           std::optional<Duration> retry_after);

// One call of Send() or Stream(), from its beginning to its end, over all its attempts. It gathers
// the answer, judges it, and calls back; when to try again is the client's to decide.
//
// Thread safety: made anywhere, then the I/O thread.
class Exchange final : public AttemptListener {
 public:
  using OnAnswered = std::function<void(const Exchange&, int code)>;
  using OnAttemptDone = std::function<void(Exchange&, const AttemptResult&)>;

  // `answered` is called when the head of an attempt's answer has come, `attempt_done` at the end
  // of each attempt; `clock` outlives the exchange.
  Exchange(uint64_t call_id, Request call, OnResponse on_response, const Clock& clock);
  Exchange(uint64_t call_id, Request call, Duration silence_limit,
           std::shared_ptr<StreamHandler> stream_handler, const Clock& clock);

  // Forgets the answer of the attempt before.
  void BeginAttempt();
  // What the attempt's end means; nullopt where the answer was 2xx and complete.
  std::optional<ApiError> ErrorOf(const AttemptResult& result) const;
  // Calls back, for the last time.
  void Succeed(const AttemptResult& result);
  void Fail(ApiError error);

  void OnHead(int code, std::string_view content_type) override;
  bool OnBody(std::string_view data) override;
  void OnDone(const AttemptResult& result) override { attempt_done(*this, result); }

  bool is_stream() const { return handler_ != nullptr; }
  const char* method() const;

  const uint64_t id;
  const Request request;
  const std::string_view owner;  // the namespace that it is about
  const Duration silence{};      // zero: no limit
  OnAnswered answered;
  OnAttemptDone attempt_done;

  // What the client notes about the call. While it waits:
  Time submitted{};
  int attempts = 0;
  int retries = 0;
  bool reauthorized = false;
  bool in_line = false;  // in the RequestQueue
  Time in_line_since{};
  bool holds_slot = false;
  Time first_turn{};  // zero: it has had none
  bool told_late = false;
  base::Executor::TimerId retry_timer = 0;
  // While an attempt is under way:
  Transport* transport = nullptr;
  Transport::Attempt* attempt = nullptr;
  IdentityPtr identity;
  base::Executor::TimerId silence_timer = 0;
  Time attempt_began{};
  Time head_came{};  // zero: not yet
  Time last_data{};
  size_t received = 0;
  bool was_read = false;  // the answer, to its end

 private:
  OnResponse done_;
  std::shared_ptr<StreamHandler> handler_;
  const Clock& clock_;
  bool stream_started_ = false;
  int code_ = 0;            // of the answer under way
  bool too_large_ = false;  // its body, of a Send
  std::string body_;        // of a Send, or of a stream's error
};

}  // namespace berth::client
