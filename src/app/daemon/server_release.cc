// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/server_release.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "src/app/version.h"
#include "src/base/logging.h"
#include "src/documents/parse.h"

namespace berth::app {
namespace {

struct ServerRelease {
  std::string version;  // "v1.36.3", or what the provider calls it
  int minor = 0;
};

std::optional<ServerRelease> ReadServerRelease(std::string_view body) {
  const auto document = documents::ParseJson(body, "/version");
  if (!document || document->map() == nullptr) return std::nullopt;
  const auto text = [&](std::string_view key) -> std::string {
    const ConfigValue* value = document->Find(key);
    return value != nullptr && value->string() != nullptr ? *value->string() : "";
  };
  ServerRelease release{text("gitVersion"), 0};
  // Providers put something behind the number: "36+".
  const std::string minor = text("minor");
  const auto read = std::from_chars(minor.data(), minor.data() + minor.size(), release.minor);
  if (text("major") != "1" || read.ec != std::errc()) return std::nullopt;
  return release;
}

void TellRelease(const ServerRelease& release) {
  if (release.minor == kKubernetesMinor) return;
  if (release.minor > kKubernetesMinor) {
    base::LogInfo("The API server is of a newer release than the contract that is kept",
                  {{"server", release.version}, {"contract", kKubernetesVersion}});
    return;
  }
  base::LogWarning(
      "The API server is of an older release than the contract that is kept: kinds that it does "
      "not serve count as empty, fields that it does not know are not set, and gates of what it "
      "does not have do nothing",
      {{"server", release.version},
       {"contract", kKubernetesVersion},
       {"gatesOfItsRelease", "--emulated-version=1." + std::to_string(release.minor)}});
}

}  // namespace

void TellServerRelease(client::ApiClient& api) {
  client::Request request;
  request.path = "/version";
  api.Send(std::move(request), [](const client::ResponseResult& result) {
    if (!result) {
      base::LogV(2, "The API server does not say which release it is of",
                 {{"err", result.error().ToString()}});
      return;
    }
    if (const auto release = ReadServerRelease(result->body)) {
      TellRelease(*release);
    } else {
      base::LogV(2, "What the API server says of its release cannot be read");
    }
  });
}

}  // namespace berth::app
