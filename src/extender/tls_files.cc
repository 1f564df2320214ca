// SPDX-License-Identifier: Apache-2.0
#include "src/extender/tls_files.h"

#include <string>

#include "src/base/file.h"

namespace berth::extender {
namespace {

// `data` if there is any, else what is in the file, else nothing.
Result<std::string> DataOrFile(const std::string& data, const std::string& path) {
  if (!data.empty() || path.empty()) return data;
  return base::ReadFile(path);
}

}  // namespace

Result<void> LoadTls(const config::Extender& extender, HttpOptions& options) {
  const config::ExtenderTlsConfig tls = extender.tls_config.value_or(config::ExtenderTlsConfig());
  const bool has_ca = !tls.ca_data.empty() || !tls.ca_file.empty();
  const bool insecure = tls.insecure || (extender.enable_https && !has_ca);
  if (has_ca && insecure) {
    return Fail("specifying a root certificates file with the insecure flag is not allowed");
  }
  options.verify_server = !insecure;
  options.server_name = tls.server_name;

  const auto ca = DataOrFile(tls.ca_data, tls.ca_file);
  if (!ca) return Fail(ca.error());
  const auto cert = DataOrFile(tls.cert_data, tls.cert_file);
  if (!cert) return Fail(cert.error());
  const auto key = DataOrFile(tls.key_data, tls.key_file);
  if (!key) return Fail(key.error());
  options.ca_pem = *ca;
  // One without the other is of no use, and passed over by kube-scheduler.
  if (!cert->empty() && !key->empty()) {
    options.cert_pem = *cert;
    options.key_pem = *key;
  }
  return {};
}

}  // namespace berth::extender
