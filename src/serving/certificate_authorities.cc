// SPDX-License-Identifier: Apache-2.0
#include "src/serving/certificate_authorities.h"

#include <absl/strings/escaping.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <array>
#include <utility>

#include "src/client/openssl_ptr.h"

namespace berth::serving {
namespace {

using client::OpensslPtr;

constexpr const char* kUidAttribute = "1.3.6.1.4.1.57683.2";

std::string Text(const X509_NAME_ENTRY* entry) {
  unsigned char* utf8 = nullptr;
  const int size = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(entry));
  if (size < 0) return "";
  std::string text(reinterpret_cast<const char*>(utf8), static_cast<size_t>(size));
  OPENSSL_free(utf8);
  return text;
}

std::string Fingerprint(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) return "";
  return absl::BytesToHexString(std::string(reinterpret_cast<const char*>(digest.data()), size));
}

// Errors: an attribute that must be there once at most.
Result<CertificateSubject> SubjectOf(const X509* certificate) {
  CertificateSubject subject;
  const X509_NAME* name = X509_get_subject_name(certificate);
  int uids = 0;
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    const ASN1_OBJECT* type = X509_NAME_ENTRY_get_object(entry);
    std::array<char, 80> oid{};
    OBJ_obj2txt(oid.data(), static_cast<int>(oid.size()), type, 1);
    if (OBJ_obj2nid(type) == NID_commonName) subject.common_name = Text(entry);
    if (OBJ_obj2nid(type) == NID_organizationName) subject.organizations.push_back(Text(entry));
    if (std::string_view(oid.data()) != kUidAttribute) continue;
    subject.uid = Text(entry);
    if (++uids > 1) return Fail("expected 1 UID, but found several");
    if (subject.uid.empty()) return Fail("UID cannot be an empty string");
  }
  subject.sha256_fingerprint = Fingerprint(certificate);
  return subject;
}

OpensslPtr<X509> FromDer(const std::string& der) {
  const auto* data = reinterpret_cast<const unsigned char*>(der.data());
  return OpensslPtr<X509>(d2i_X509(nullptr, &data, static_cast<long>(der.size())));
}

}  // namespace

struct CertificateAuthorities::Impl {
  OpensslPtr<X509_STORE> store{X509_STORE_new()};
};

CertificateAuthorities::CertificateAuthorities(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
CertificateAuthorities::~CertificateAuthorities() = default;

Result<AuthoritiesPtr> CertificateAuthorities::FromPem(std::string_view pem) {
  auto impl = std::make_unique<Impl>();
  const OpensslPtr<BIO> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  int count = 0;
  while (true) {
    const OpensslPtr<X509> certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (certificate == nullptr) break;
    if (X509_STORE_add_cert(impl->store.get(), certificate.get()) == 1) ++count;
  }
  // Reading ends at the first thing that is no certificate: only "nothing more" is a good end.
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!at_end) return Fail("a certificate cannot be read");
  if (count == 0) return Fail("no certificate in PEM form");
  return AuthoritiesPtr(new CertificateAuthorities(std::move(impl)));
}

Result<CertificateSubject> CertificateAuthorities::Verify(const std::vector<std::string>& chain,
                                                          Time now) const {
  if (chain.empty()) return Fail("no certificate");
  std::vector<OpensslPtr<X509>> certificates;
  const OpensslPtr<STACK_OF(X509)> intermediates(sk_X509_new_null());
  for (const std::string& der : chain) {
    certificates.push_back(FromDer(der));
    if (certificates.back() == nullptr) {
      ERR_clear_error();
      return Fail("a certificate cannot be read");
    }
    if (certificates.size() > 1) sk_X509_push(intermediates.get(), certificates.back().get());
  }
  const OpensslPtr<X509_STORE_CTX> context(X509_STORE_CTX_new());
  if (X509_STORE_CTX_init(context.get(), impl_->store.get(), certificates.front().get(),
                          intermediates.get()) != 1) {
    ERR_clear_error();
    return Fail("the check of the certificate cannot be prepared");
  }
  X509_VERIFY_PARAM* param = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_purpose(param, X509_PURPOSE_SSL_CLIENT);
  X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_time(
      param, std::chrono::system_clock::to_time_t(
                 std::chrono::time_point_cast<std::chrono::system_clock::duration>(now)));
  const int verified = X509_verify_cert(context.get());
  const int problem = X509_STORE_CTX_get_error(context.get());
  ERR_clear_error();
  if (verified != 1) {
    return Fail(std::string("verifying the client's certificate failed: ") +
                X509_verify_cert_error_string(problem));
  }
  return SubjectOf(certificates.front().get());
}

}  // namespace berth::serving
