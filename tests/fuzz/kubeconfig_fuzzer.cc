// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/check.h"
#include "src/client/kubeconfig.h"

// No kubeconfig may crash its reader; an error says of which file it is, and a file that a server
// was read from names files by absolute paths only.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace berth::client;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto server = ParseKubeconfig(text, {.path = "/fuzz/config", .context = "", .master = ""});
  if (!server) {
    BERTH_CHECK(server.error().message.find("/fuzz/config") != std::string::npos,
                "an error without its file");
    return 0;
  }
  for (const std::string* path : {&server->cluster.ca_file, &server->user.client_certificate_file,
                                  &server->user.client_key_file, &server->user.token_file}) {
    BERTH_CHECK(path->empty() || path->starts_with('/'), "a relative path");
  }
  (void)ParseServerAddress(server->cluster.server, true);
  return 0;
}
