// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace berth::test {

struct CertifiedKey {
  std::string certificate_pem;
  std::string key_pem;
};

struct CertificateExtras {
  std::vector<std::string> organizations{};
  std::string extended_key_usage{};  // "clientAuth" in OpenSSL's words; "" for any use
  bool expired = false;
};

// A certificate authority of one test, with P-256 keys.
class TestAuthority {
 public:
  explicit TestAuthority(const std::string& common_name = "test authority");

  const std::string& certificate_pem() const { return own_.certificate_pem; }
  // `names` are subject alternative names in OpenSSL's form: "IP:127.0.0.1", "DNS:apiserver".
  CertifiedKey Issue(const std::string& common_name, const std::vector<std::string>& names,
                     const CertificateExtras& extras = {}) const;

 private:
  CertifiedKey own_;
};

}  // namespace berth::test
