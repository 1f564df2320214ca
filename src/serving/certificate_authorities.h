// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "berth/time.h"

namespace berth::serving {

// What a client's certificate says about its holder.
struct CertificateSubject {
  std::string common_name;
  std::vector<std::string> organizations;
  std::string uid;                 // Kubernetes' attribute 1.3.6.1.4.1.57683.2; "" for none
  std::string sha256_fingerprint;  // hexadecimal
};

// A bundle of authorities that sign client certificates. Each certificate of the bundle is trusted
// by itself, as in Go, whether or not it signed itself.
//
// Thread safety: immutable; any thread.
class CertificateAuthorities {
 public:
  // Errors: no certificate, or one that cannot be read.
  static Result<std::shared_ptr<const CertificateAuthorities>> FromPem(std::string_view pem);
  ~CertificateAuthorities();
  CertificateAuthorities(const CertificateAuthorities&) = delete;
  CertificateAuthorities& operator=(const CertificateAuthorities&) = delete;

  // `chain` is DER, the client's own certificate first, then what may lead to an authority. Errors:
  // it leads to none, is out of date at `now`, or is not meant for clients.
  Result<CertificateSubject> Verify(const std::vector<std::string>& chain, Time now) const;

 private:
  struct Impl;
  explicit CertificateAuthorities(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};
using AuthoritiesPtr = std::shared_ptr<const CertificateAuthorities>;

}  // namespace berth::serving
