// SPDX-License-Identifier: Apache-2.0
#include "src/extender/http_client.h"

#include <cpprest/containerstream.h>
#include <cpprest/http_client.h>
#include <pplx/threadpool.h>

#include <atomic>
#include <exception>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"

namespace berth::extender {
namespace {

namespace http = web::http;
namespace ssl = boost::asio::ssl;

constexpr size_t kThreads = 2;

// The library starts forty threads unless their number is set before its first use.
void StartThreads() {
  static const bool started = [] {
    crossplat::threadpool::initialize_with_threads(kThreads);
    return true;
  }();
  static_cast<void>(started);
}

boost::asio::const_buffer BufferOf(const std::string& text) {
  return boost::asio::buffer(text.data(), text.size());
}

// Throws what the certificates are to blame for.
void SetUpTls(const HttpOptions& options, ssl::context& context) {
  context.set_options(ssl::context::no_sslv2 | ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                      ssl::context::no_tlsv1_1);
  if (!options.ca_pem.empty()) {
    // In place of the system's authorities, not beside them.
    SSL_CTX_set_cert_store(context.native_handle(), X509_STORE_new());
    context.add_certificate_authority(BufferOf(options.ca_pem));
  }
  if (!options.cert_pem.empty()) {
    context.use_certificate_chain(BufferOf(options.cert_pem));
    context.use_private_key(BufferOf(options.key_pem), ssl::context::pem);
  }
}

// The header that shows the URL's user; "" where it has none.
std::string AuthorizationOf(const web::uri& url) {
  const std::string& user_info = url.user_info();
  if (user_info.empty()) return "";
  const size_t colon = user_info.find(':');
  std::string shown = web::uri::decode(user_info.substr(0, colon)) + ":";
  if (colon != std::string::npos) shown += web::uri::decode(user_info.substr(colon + 1));
  return "Basic " + absl::Base64Escape(shown);
}

// One request and the answer as it grows.
class Transfer final : public HttpCall, public std::enable_shared_from_this<Transfer> {
 public:
  Transfer(const HttpPost& post, HttpClient::Done done)
      : max_bytes_(post.max_answer_bytes), body_bytes_(post.body.size()), done_(std::move(done)) {}

  void Cancel() override { source_.cancel(); }
  bool has_head() const override { return code_ != 0; }

  // `client` is kept until the end.
  void Start(std::shared_ptr<http::client::http_client> client, http::http_request request) {
    client_ = std::move(client);
    request.set_response_stream(body_.create_ostream());
    request.set_progress_handler(
        [weak = weak_from_this()](http::message_direction::direction direction, auto so_far) {
          if (const auto self = weak.lock()) self->OnProgress(direction, so_far);
        });
    const auto self = shared_from_this();
    client_->request(request, source_.get_token())
        .then([self](const http::http_response& response) {
          self->code_ = response.status_code();
          return response.content_ready();
        })
        .then([self](const pplx::task<http::http_response>& task) {
          try {
            task.get();
          } catch (const std::exception& e) {
            self->Fail(e.what());
            return;
          } catch (...) {
            self->Fail("unknown error");
            return;
          }
          if (self->too_long_) {
            self->Fail("");
          } else {
            const std::vector<uint8_t>& body = self->body_.collection();
            self->Finish(HttpAnswer{self->code_, std::string(body.begin(), body.end())});
          }
        });
  }

  void Fail(const std::string& error) {
    if (too_long_) {
      Finish(tl::unexpected(HttpFailure{
          "the answer is longer than " + std::to_string(max_bytes_) + " bytes", false}));
    } else {
      Finish(tl::unexpected(HttpFailure{error, !sent_}));
    }
  }

 private:
  // Its receiver may hold this transfer, so it is let go.
  void Finish(const tl::expected<HttpAnswer, HttpFailure>& answer) {
    const HttpClient::Done done = std::exchange(done_, nullptr);
    done(answer);
  }

  void OnProgress(http::message_direction::direction direction, uint64_t so_far) {
    if (direction == http::message_direction::upload) {
      if (so_far >= body_bytes_) sent_ = true;
    } else if (so_far > max_bytes_) {
      too_long_ = true;
      source_.cancel();
    }
  }

  const size_t max_bytes_;
  const size_t body_bytes_;
  HttpClient::Done done_;
  std::shared_ptr<http::client::http_client> client_;
  pplx::cancellation_token_source source_;
  concurrency::streams::container_buffer<std::vector<uint8_t>> body_;
  std::atomic<bool> sent_ = false;
  std::atomic<bool> too_long_ = false;
  std::atomic<int> code_ = 0;  // 0 before the head has come
};

}  // namespace

struct HttpClient::Impl {
  Impl(HttpOptions the_options, web::uri the_server, std::string the_authorization,
       http::client::http_client_config the_config)
      : options(std::move(the_options)),
        server(std::move(the_server)),
        authorization(std::move(the_authorization)),
        config(std::move(the_config)),
        shared(MakeClient()) {}

  // One with connections of its own.
  std::shared_ptr<http::client::http_client> MakeClient() const {
    return std::make_shared<http::client::http_client>(server, config);
  }

  const HttpOptions options;
  const web::uri server;
  const std::string authorization;
  const http::client::http_client_config config;
  const std::shared_ptr<http::client::http_client> shared;
};

HttpClient::HttpClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpClient::~HttpClient() = default;

Result<std::unique_ptr<HttpClient>> HttpClient::Make(HttpOptions options) {
  StartThreads();
  try {
    if (options.url.find("://") == std::string::npos) {
      return Fail("the URL has no scheme; it must begin with http:// or https://");
    }
    const web::uri url(options.url);
    const web::uri server = web::uri_builder()
                                .set_scheme(url.scheme())
                                .set_host(url.host())
                                .set_port(url.port())
                                .to_uri();
    ssl::context probe(ssl::context::sslv23);
    SetUpTls(options, probe);

    std::string authorization = AuthorizationOf(url);

    http::client::http_client_config config;
    // The library would take the header along, to whatever server.
    if (!authorization.empty()) config.set_max_redirects(0);
    config.set_timeout(std::chrono::duration_cast<std::chrono::microseconds>(options.silence));
    config.set_validate_certificates(options.verify_server);
    config.set_ssl_context_callback(
        [options](ssl::context& context) { SetUpTls(options, context); });
    return std::unique_ptr<HttpClient>(new HttpClient(
        std::make_unique<Impl>(std::move(options), server, std::move(authorization), config)));
  } catch (const std::exception& e) {
    return Fail(e.what());
  }
}

std::shared_ptr<HttpCall> HttpClient::Post(HttpPost post, Done done) {
  auto transfer = std::make_shared<Transfer>(post, std::move(done));
  try {
    http::http_request request(http::methods::POST);
    request.set_request_uri(web::uri(post.url).resource());
    // The library takes the name to ask TLS for, and to check, from this header.
    if (!impl_->options.server_name.empty()) {
      request.headers().add(http::header_names::host, impl_->options.server_name);
    }
    if (!impl_->authorization.empty()) {
      request.headers().add(http::header_names::authorization, impl_->authorization);
    }
    request.set_body(std::move(post.body), "application/json");
    // The library sends a request again only where a kept connection turns out to be closed.
    transfer->Start(post.once ? impl_->MakeClient() : impl_->shared, request);
  } catch (const std::exception& e) {
    transfer->Fail(e.what());
  }
  return transfer;
}

}  // namespace berth::extender
