// SPDX-License-Identifier: Apache-2.0
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>

#include "src/client/openssl_ptr.h"
#include "src/serving/tls_context.h"

namespace berth::serving {
namespace {

using client::OpensslPtr;

std::string Text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

bool AddExtension(X509* certificate, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const OpensslPtr<X509_EXTENSION> extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool SetSerial(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return false;
  bytes[0] &= 0x7f;
  const OpensslPtr<BIGNUM> number(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
  return number != nullptr &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

}  // namespace

Result<CertifiedKeyPem> MakeOwnCertificate(Time now, const std::string& address) {
  constexpr std::time_t kHour = 3600;
  const std::time_t start =
      std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  const OpensslPtr<EVP_PKEY> key(EVP_EC_gen("P-256"));
  const OpensslPtr<X509> certificate(X509_new());
  X509* made = certificate.get();
  const std::string name = "localhost@" + std::to_string(start);
  std::string names = "DNS:localhost,IP:127.0.0.1";
  const bool all = address.empty() || address == "0.0.0.0" || address == "::";
  if (!all && address != "127.0.0.1") names += ",IP:" + address;
  const bool ok = key != nullptr && made != nullptr && X509_set_version(made, 2) == 1 &&
                  SetSerial(made) &&
                  ASN1_TIME_set(X509_getm_notBefore(made), start - kHour) != nullptr &&
                  ASN1_TIME_set(X509_getm_notAfter(made), start + 365 * 24 * kHour) != nullptr &&
                  X509_set_pubkey(made, key.get()) == 1 &&
                  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8,
                                             reinterpret_cast<const unsigned char*>(name.c_str()),
                                             -1, -1, 0) == 1 &&
                  X509_set_issuer_name(made, X509_get_subject_name(made)) == 1 &&
                  AddExtension(made, NID_basic_constraints, "critical,CA:TRUE") &&
                  AddExtension(made, NID_key_usage, "critical,digitalSignature,keyCertSign") &&
                  AddExtension(made, NID_ext_key_usage, "serverAuth") &&
                  AddExtension(made, NID_subject_alt_name, names.c_str()) &&
                  X509_sign(made, key.get(), EVP_sha256()) != 0;
  if (!ok) return Fail("a certificate of our own cannot be made");
  const OpensslPtr<BIO> certificate_bio(BIO_new(BIO_s_mem()));
  const OpensslPtr<BIO> key_bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(certificate_bio.get(), made);
  PEM_write_bio_PrivateKey(key_bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return CertifiedKeyPem{Text(certificate_bio.get()), Text(key_bio.get())};
}

}  // namespace berth::serving
