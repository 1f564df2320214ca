// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/pem.h>
#include <openssl/x509.h>

#include <string>

namespace berth::test {

// The first certificate of a PEM text as DER.
inline std::string Der(const std::string& pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  unsigned char* data = nullptr;
  const int size = i2d_X509(certificate, &data);
  std::string der(reinterpret_cast<char*>(data), static_cast<size_t>(size));
  OPENSSL_free(data);
  X509_free(certificate);
  BIO_free(bio);
  return der;
}

}  // namespace berth::test
