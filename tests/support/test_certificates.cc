// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_certificates.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <memory>

#include "berth/check.h"

namespace berth::test {
namespace {

using KeyPtr = std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)>;
using CertificatePtr = std::unique_ptr<X509, void (*)(X509*)>;
using BioPtr = std::unique_ptr<BIO, int (*)(BIO*)>;

std::string Text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

std::string Pem(X509* certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio_X509(bio.get(), certificate);
  return Text(bio.get());
}

std::string Pem(EVP_PKEY* key) {
  const BioPtr bio(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return Text(bio.get());
}

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  BERTH_CHECK(extension != nullptr, "bad certificate extension");
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// Signed by `issuer`, or by itself when that is nullptr.
CertifiedKey Make(const std::string& common_name, const std::vector<std::string>& names,
                  X509* issuer, EVP_PKEY* issuer_key, const CertificateExtras& extras) {
  static std::atomic<long> serial = 1;
  const KeyPtr key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const CertificatePtr certificate(X509_new(), X509_free);
  X509* made = certificate.get();
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), serial++);
  X509_gmtime_adj(X509_getm_notBefore(made), -7200);
  X509_gmtime_adj(X509_getm_notAfter(made), extras.expired ? -3600 : 86400);
  X509_set_pubkey(made, key.get());
  const auto add_to_subject = [made](const char* attribute, const std::string& value) {
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made), attribute, MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0);
  };
  for (const std::string& name : extras.organizations) add_to_subject("O", name);
  add_to_subject("CN", common_name);
  const bool is_authority = issuer == nullptr;
  X509_set_issuer_name(made, X509_get_subject_name(is_authority ? made : issuer));
  AddExtension(made, is_authority ? made : issuer, NID_basic_constraints,
               is_authority ? "critical,CA:TRUE" : "CA:FALSE");
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ",") + name;
  if (!joined.empty()) AddExtension(made, issuer, NID_subject_alt_name, joined);
  if (!extras.extended_key_usage.empty()) {
    AddExtension(made, issuer, NID_ext_key_usage, extras.extended_key_usage);
  }
  BERTH_CHECK(X509_sign(made, is_authority ? key.get() : issuer_key, EVP_sha256()) != 0,
              "signing failed");
  return {Pem(made), Pem(key.get())};
}

}  // namespace

TestAuthority::TestAuthority(const std::string& common_name)
    : own_(Make(common_name, {}, nullptr, nullptr, {})) {}

CertifiedKey TestAuthority::Issue(const std::string& common_name,
                                  const std::vector<std::string>& names,
                                  const CertificateExtras& extras) const {
  const BioPtr certificate_bio(BIO_new_mem_buf(own_.certificate_pem.data(), -1), BIO_free);
  const BioPtr key_bio(BIO_new_mem_buf(own_.key_pem.data(), -1), BIO_free);
  const CertificatePtr certificate(
      PEM_read_bio_X509(certificate_bio.get(), nullptr, nullptr, nullptr), X509_free);
  const KeyPtr key(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, nullptr, nullptr),
                   EVP_PKEY_free);
  return Make(common_name, names, certificate.get(), key.get(), extras);
}

}  // namespace berth::test
