// SPDX-License-Identifier: Apache-2.0
#include "src/client/curl_client.h"

#include <utility>

#include "src/base/text.h"
#include "src/client/client_core.h"

namespace berth::client {

std::string UserAgent(std::string_view version, std::string_view kubernetes_version,
                      std::string_view component) {
#if defined(__x86_64__)
  constexpr std::string_view kMachine = "amd64";
#elif defined(__aarch64__)
  constexpr std::string_view kMachine = "arm64";
#else
  constexpr std::string_view kMachine = "unknown";
#endif
  return base::Concat("berth/", version, " (linux/", kMachine, ") kubernetes/", kubernetes_version,
                      "/", component);
}

namespace {

class CurlCall final : public Call {
 public:
  explicit CurlCall(std::function<void()> cancel) : cancel_(std::move(cancel)) {}
  void Cancel() override { cancel_(); }

 private:
  const std::function<void()> cancel_;
};

}  // namespace

Result<std::unique_ptr<CurlClient>> CurlClient::Make(ClientOptions options, const Clock& clock) {
  const ServerConfig& server = options.server;
  const bool tls = !server.cluster.ca_data.empty() || !server.cluster.ca_file.empty() ||
                   server.cluster.insecure_skip_tls_verify ||
                   !server.user.client_certificate_data.empty() ||
                   !server.user.client_certificate_file.empty();
  auto address = ParseServerAddress(server.cluster.server, tls);
  if (!address) return Fail(address.error());
  return std::unique_ptr<CurlClient>(
      new CurlClient(std::make_shared<Core>(std::move(options), std::move(*address), clock)));
}

CurlClient::CurlClient(std::shared_ptr<Core> core)
    : core_(std::move(core)), thread_("berth-io", [loop = &core_->loop()] { loop->Run(); }) {}

CurlClient::~CurlClient() {
  Close();
  core_->loop().Post([core = core_.get()] { core->TearDown(); });
  core_->loop().Stop();
  thread_.Join();
}

std::shared_ptr<Call> CurlClient::Send(Request request, OnResponse done) {
  const uint64_t id = core_->NextId();
  core_->Submit(
      std::make_shared<Exchange>(id, std::move(request), std::move(done), core_->clock()));
  return MakeCall(id);
}

std::shared_ptr<Call> CurlClient::Stream(Request request, Duration silence,
                                         std::shared_ptr<StreamHandler> handler) {
  const uint64_t id = core_->NextId();
  core_->Submit(std::make_shared<Exchange>(id, std::move(request), silence, std::move(handler),
                                           core_->clock()));
  return MakeCall(id);
}

std::shared_ptr<Call> CurlClient::MakeCall(uint64_t id) {
  return std::make_shared<CurlCall>([weak = std::weak_ptr<Core>(core_), id] {
    if (const auto core = weak.lock()) core->Cancel(id);
  });
}

bool CurlClient::MayWrite() const { return core_->MayWrite(); }

bool CurlClient::ReadsProtobuf() const { return core_->ReadsProtobuf(); }

base::Executor& CurlClient::executor() { return core_->loop(); }

void CurlClient::Close() { core_->Close(); }

}  // namespace berth::client
