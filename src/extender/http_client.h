// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "berth/time.h"

namespace berth::extender {

// How an extender is reached.
struct HttpOptions {
  std::string url{};  // http:// or https://, with or without a path
  // Without a byte for this long a call is dead. Whoever waits sees to the length of the whole.
  Duration silence = std::chrono::seconds(5);
  bool verify_server = true;
  std::string server_name{};  // that the server's certificate is for; "": the host of the URL
  std::string ca_pem{};       // who may have signed it; "": whom the system trusts
  std::string cert_pem{};     // shown to the server, with its key; both or none
  std::string key_pem{};
  // Longer answers are refused.
  size_t max_answer_bytes = size_t{256} << 20;
};

struct HttpAnswer {
  int code = 0;
  std::string body;
};

// A request under way; destroying it changes nothing.
class HttpCall {
 public:
  virtual ~HttpCall() = default;
  // Ends it with an error if it has not ended yet. Any thread.
  virtual void Cancel() = 0;
};

// Posts JSON to one server over kept-alive connections. The requests of all clients share two
// threads, which are started with the first client.
//
// Thread safety: any thread.
class HttpClient {
 public:
  using Done = std::function<void(Result<HttpAnswer>)>;

  // Errors: a URL or a certificate that cannot be used.
  static Result<std::unique_ptr<HttpClient>> Make(HttpOptions options);
  ~HttpClient();

  // `url` is below the client's, with the same scheme, host and port. Calls `done` exactly once, on
  // one of the two threads or inside the call: it must not wait for anything. An error is the
  // transport's own text.
  std::shared_ptr<HttpCall> Post(const std::string& url, std::string body, Done done);

 private:
  struct Impl;
  explicit HttpClient(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::extender
