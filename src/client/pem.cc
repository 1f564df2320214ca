// SPDX-License-Identifier: Apache-2.0
#include "src/client/pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <utility>

#include "src/base/text.h"
#include "src/client/openssl_ptr.h"

namespace berth::client {
namespace {

using Bio = OpensslPtr<BIO>;
using Certificate = OpensslPtr<X509>;
using Key = OpensslPtr<EVP_PKEY>;

Bio BioOf(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

bool IsCertificate(std::string_view name) {
  return name == PEM_STRING_X509 || name == PEM_STRING_X509_OLD || name == PEM_STRING_X509_TRUSTED;
}

// Whether there is nothing but `blocks` whole blocks, each with four rows of dashes; one more may
// be cut in its first line.
bool IsWhole(std::string_view text, size_t blocks) {
  constexpr std::string_view kDashes = "-----";
  size_t rows = 0;
  for (size_t at = text.find(kDashes); at != std::string_view::npos; at = text.find(kDashes)) {
    ++rows;
    text.remove_prefix(at + kDashes.size());
  }
  return rows == 4 * blocks && !base::Trim(text).starts_with('-');
}

// The first certificate, if the text is whole; else null.
Certificate FirstCertificate(std::string_view pem) {
  Certificate first;
  const Bio bio = BioOf(pem);
  size_t blocks = 0;
  for (;;) {
    char* name = nullptr;
    char* header = nullptr;
    unsigned char* data = nullptr;
    long size = 0;
    if (PEM_read_bio(bio.get(), &name, &header, &data, &size) != 1) break;
    ++blocks;
    bool readable = true;
    if (IsCertificate(name)) {
      const unsigned char* at = data;
      Certificate read(d2i_X509(nullptr, &at, size));
      readable = read != nullptr;
      if (first == nullptr) first = std::move(read);
    }
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
    if (!readable) {
      ERR_clear_error();
      return nullptr;
    }
  }
  ERR_clear_error();
  if (!IsWhole(pem, blocks)) first.reset();
  return first;
}

int NoPassword(char*, int, int, void*) { return -1; }

}  // namespace

bool HoldsCertificates(std::string_view pem) { return FirstCertificate(pem) != nullptr; }

bool IsPair(std::string_view certificate_pem, std::string_view key_pem) {
  const Certificate certificate = FirstCertificate(certificate_pem);
  if (certificate == nullptr) return false;
  const Key key(PEM_read_bio_PrivateKey(BioOf(key_pem).get(), nullptr, &NoPassword, nullptr));
  const bool pair = key != nullptr && X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return pair;
}

}  // namespace berth::client
