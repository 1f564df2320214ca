// SPDX-License-Identifier: Apache-2.0
#include "src/ui/page_server.h"

#include <utility>

#include "src/ui/page.h"

namespace berth::ui {
namespace {

using serving::Request;
using serving::RequestPtr;
using serving::Respond;
using serving::Response;

constexpr std::string_view kApi = "/api/";

serving::ServerLimits Limits() {
  serving::ServerLimits limits;
  limits.connections = 64;
  // A question may hold objects to add.
  limits.body_bytes = size_t{4} << 20;
  // A question about a large cluster is answered by scheduling it.
  limits.answer = std::chrono::minutes(10);
  return limits;
}

void AddHeaders(Response& response) {
  static constexpr std::pair<const char*, const char*> kHeaders[] = {
      {"Cache-Control", "no-store"},
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
       "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Referrer-Policy", "no-referrer"},
  };
  for (const auto& [name, value] : kHeaders) response.headers.emplace_back(name, value);
  if (response.code == 200) response.headers.emplace_back("X-Content-Type-Options", "nosniff");
}

}  // namespace

PageServer::PageServer(const Clock& clock, const serving::Router& api) : loop_(clock), api_(api) {
  for (const PageFile& file : PageFiles()) {
    const auto answer = [&file](const Request& /*request*/) {
      return Response{.content_type = std::string(file.type), .body = std::string(file.text)};
    };
    files_.Answer(std::string(file.path), answer);
    if (file.path == "/index.html") files_.Answer("/", answer);
  }
}

Result<std::unique_ptr<PageServer>> PageServer::Start(int port, const Clock& clock,
                                                      const serving::Router& api) {
  std::unique_ptr<PageServer> server(new PageServer(clock, api));
  auto token = serving::MakeToken();
  if (!token) return Fail("the operating system has no randomness for a token");
  auto http = serving::HttpServer::Listen(
      {.address = "127.0.0.1", .port = port}, Limits(), nullptr, server->loop_,
      [server = server.get()](const RequestPtr& request, const Respond& respond) {
        server->Serve(request, respond);
      });
  if (!http) return Fail(http.error());
  server->http_ = std::move(*http);
  const int bound = server->port();
  server->address_ = "http://127.0.0.1:" + std::to_string(bound) + "/?token=" + *token;
  server->guard_ = std::make_unique<serving::LoopbackGuard>(bound, std::move(*token));
  server->thread_ =
      base::NamedThread("berth-page", [server = server.get()] { server->loop_.Run(); });
  server->loop_.Post([server = server.get()] { server->http_->Start(); });
  return server;
}

PageServer::~PageServer() {
  loop_.Post([this] { http_.reset(); });
  loop_.Stop();
  thread_.Join();
}

void PageServer::Serve(const RequestPtr& request, const Respond& respond) const {
  const auto answer = [respond](Response response) {
    AddHeaders(response);
    respond(std::move(response));
  };
  const bool of_api = request->path.starts_with(kApi);
  // The files are the same for all, and tell nothing of a cluster.
  if (auto refused = guard_->Refuse(*request, of_api)) return answer(std::move(*refused));
  (of_api ? api_ : files_).Serve(request, answer);
}

}  // namespace berth::ui
