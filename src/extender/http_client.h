// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "berth/result.h"
#include "berth/time.h"
#include "src/client/api_client.h"

namespace berth::extender {

// How an extender is reached.
struct HttpOptions {
  // http:// or https://, with or without a path. A user in it is shown to the server, with the
  // password; then no redirect is followed.
  std::string url{};
  // Without a byte for this long a call is dead. The caller limits the whole.
  Duration silence = std::chrono::seconds(5);
  bool verify_server = true;
  std::string server_name{};  // that the server's certificate is for; "": the host of the URL
  std::string ca_pem{};       // who may have signed it; "": whom the system trusts
  std::string cert_pem{};     // shown to the server, with its key; both or none
  std::string key_pem{};
};

// A request. `url` is below the client's, with the same scheme, host and port.
struct HttpPost {
  std::string url{};
  std::string body{};  // JSON
  // Longer answers are refused.
  size_t max_answer_bytes = size_t{1} << 20;
  // Sent once at most, over a connection of its own. Others go over kept connections, and again
  // where the server closed one without an answer.
  bool once = false;
};

struct HttpAnswer {
  int code = 0;
  std::string body;
};

struct HttpFailure {
  std::string message;      // the transport's own text
  bool never_sent = false;  // the server cannot have the whole request
};

// A request under way.
//
// Thread safety: any thread.
class HttpCall : public client::Call {
 public:
  // Whether the head of the answer has come.
  virtual bool has_head() const = 0;
};

// Posts JSON to one server over kept-alive connections. The requests of all clients share two
// threads, which are started with the first client.
//
// Thread safety: any thread.
class HttpClient {
 public:
  using Done = std::function<void(tl::expected<HttpAnswer, HttpFailure>)>;

  // Errors: a URL or a certificate that cannot be used.
  static Result<std::unique_ptr<HttpClient>> Make(HttpOptions options);
  ~HttpClient();

  // Calls `done` exactly once, on one of the two threads or inside the call: it must not wait for
  // anything.
  std::shared_ptr<HttpCall> Post(HttpPost post, Done done);

 private:
  struct Impl;
  explicit HttpClient(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::extender
