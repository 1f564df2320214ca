// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "berth/result.h"
#include "berth/time.h"

struct ssl_st;

namespace berth::serving {

// The TLS flags.
struct TlsOptions {
  struct SniFiles {
    std::string certificate_file{};
    std::string key_file{};
    std::vector<std::string> names{};  // "*.example.org", too; empty: those in the certificate
  };

  std::string certificate_file{};  // "" for both: a certificate of our own making
  std::string key_file{};
  std::string own_certificate_folder{};  // where that is kept; "": in memory only
  std::string own_address{};             // what it is for besides localhost; "": nothing
  std::vector<SniFiles> sni{};
  std::string min_version{};                 // "VersionTLS13"; "" means VersionTLS12
  std::vector<std::string> cipher_suites{};  // Go's names, up to TLS 1.2; empty: Go's default
  std::vector<int32_t> curves{};             // TLS numbers, by preference; empty: Go's default
};

// The daemon's end of TLS. Client certificates are asked for and not demanded; their
// signatures are not checked here. Sessions are not resumed, so that each connection shows its own.
//
// Thread safety: one thread at a time.
class TlsContext {
 public:
  // Errors: files that cannot be read or do not fit together, with their names; unknown versions,
  // suites or curves.
  static Result<std::unique_ptr<TlsContext>> Make(TlsOptions options, Time now);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // The server's end of a new connection, with the present certificates; the caller frees it.
  ssl_st* NewSession(int fd) const;

  // Reads the files again. Pairs that do not fit together (a rotation under way) leave the old
  // certificate in use; the error says so. True: something changed.
  Result<bool> Reload();

 private:
  struct Impl;
  explicit TlsContext(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// What is shown to whom.
struct CertifiedKeyPem {
  std::string certificate_pem{};
  std::string key_pem{};
};
// Signed by itself, for localhost, 127.0.0.1 and the IP address, valid for a year from `now`.
// `address` may be "", or stand for all addresses: then it is for none more.
Result<CertifiedKeyPem> MakeOwnCertificate(Time now, const std::string& address);

}  // namespace berth::serving
