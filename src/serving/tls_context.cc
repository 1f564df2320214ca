// SPDX-License-Identifier: Apache-2.0
#include "src/serving/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <filesystem>
#include <system_error>

#include "src/base/file.h"
#include "src/client/openssl_ptr.h"
#include "src/serving/tls_settings.h"

namespace berth::serving {
namespace {

using client::OpensslPtr;

// Client certificates with their chains beyond this are refused.
constexpr long kMaxClientChain = 32 * 1024;

struct Settings {
  int min_version = TLS1_2_VERSION;
  std::string ciphers;
  std::string groups;
};

Error OpensslError(const std::string& what) {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return Error{reason == nullptr ? what : what + ": " + reason};
}

// Signatures are checked by TLS itself; whose certificate it is matters to authentication only.
int AcceptAnyCertificate(X509_STORE_CTX* /*context*/, void* /*unused*/) { return 1; }

int SelectProtocol(SSL* /*session*/, const unsigned char** chosen, unsigned char* chosen_size,
                   const unsigned char* offered, unsigned int offered_size, void* /*unused*/) {
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, chosen_size, kHttp11, sizeof(kHttp11) - 1, offered,
                            offered_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

OpensslPtr<BIO> Memory(const std::string& text) {
  return OpensslPtr<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// The certificates of the file, first its own and then those that signed it, and the key.
Result<void> UsePair(SSL_CTX* context, const CertifiedKeyPem& pair) {
  const OpensslPtr<BIO> bio = Memory(pair.certificate_pem);
  const OpensslPtr<X509> own(PEM_read_bio_X509_AUX(bio.get(), nullptr, nullptr, nullptr));
  if (own == nullptr || SSL_CTX_use_certificate(context, own.get()) != 1) {
    return Fail(OpensslError("the certificate cannot be used"));
  }
  while (true) {
    const OpensslPtr<X509> next(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (next == nullptr) break;
    SSL_CTX_add1_chain_cert(context, next.get());
  }
  ERR_clear_error();
  const OpensslPtr<BIO> key_bio = Memory(pair.key_pem);
  const auto no_password = [](char*, int, int, void*) { return 0; };
  const OpensslPtr<EVP_PKEY> key(
      PEM_read_bio_PrivateKey(key_bio.get(), nullptr, no_password, nullptr));
  if (key == nullptr || SSL_CTX_use_PrivateKey(context, key.get()) != 1 ||
      SSL_CTX_check_private_key(context) != 1) {
    return Fail(OpensslError("the key cannot be used with the certificate"));
  }
  return {};
}

Result<OpensslPtr<SSL_CTX>> MakeContext(const CertifiedKeyPem& pair, const Settings& settings) {
  OpensslPtr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return Fail(OpensslError("TLS cannot be set up"));
  SSL_CTX* made = context.get();
  SSL_CTX_set_min_proto_version(made, settings.min_version);
  SSL_CTX_set_options(made, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION |
                                SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                SSL_OP_PRIORITIZE_CHACHA);
  // A record that holds no data ends the call that read it, so that others have their turn.
  SSL_CTX_clear_mode(made, SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_mode(made, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                             SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(made, 0);
  SSL_CTX_set_verify(made, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(made, AcceptAnyCertificate, nullptr);
  SSL_CTX_set_max_cert_list(made, kMaxClientChain);
  SSL_CTX_set_alpn_select_cb(made, SelectProtocol, nullptr);
  // As in Go, naming suites of TLS 1.3 only gives nothing older.
  if (settings.ciphers.empty()) SSL_CTX_set_min_proto_version(made, TLS1_3_VERSION);
  if ((!settings.ciphers.empty() && SSL_CTX_set_cipher_list(made, settings.ciphers.c_str()) != 1) ||
      SSL_CTX_set_ciphersuites(made, kTls13CipherSuites) != 1) {
    return Fail(OpensslError("the cipher suites cannot be used"));
  }
  if (SSL_CTX_set1_groups_list(made, settings.groups.c_str()) != 1) {
    return Fail(OpensslError("the curves cannot be used"));
  }
  if (auto used = UsePair(made, pair); !used) return Fail(used.error());
  return context;
}

Result<CertifiedKeyPem> ReadPair(const std::string& certificate_file, const std::string& key_file) {
  auto certificate = base::ReadFile(certificate_file);
  if (!certificate) return Fail(certificate.error());
  auto key = base::ReadFile(key_file);
  if (!key) return Fail(key.error());
  return CertifiedKeyPem{std::move(*certificate), std::move(*key)};
}

// Where the own certificate is kept, as kube-scheduler names the files; made if it is not there.
Result<void> KeepOwnCertificate(TlsOptions& options, Time now) {
  const std::string base = options.own_certificate_folder + "/kube-scheduler";
  options.certificate_file = base + ".crt";
  options.key_file = base + ".key";
  std::error_code problem;
  if (std::filesystem::exists(options.certificate_file, problem) &&
      std::filesystem::exists(options.key_file, problem)) {
    return {};
  }
  std::filesystem::create_directories(options.own_certificate_folder, problem);
  if (problem) return Fail(options.own_certificate_folder + ": " + problem.message());
  const auto pair = MakeOwnCertificate(now, options.own_address);
  if (!pair) return Fail(pair.error());
  if (auto written = base::WritePrivateFile(options.key_file, pair->key_pem); !written) {
    return written;
  }
  return base::WritePrivateFile(options.certificate_file, pair->certificate_pem);
}

}  // namespace

// One certificate and the files that it is read from; "" for none.
struct TlsContext::Impl {
  struct Entry {
    std::string certificate_file;
    std::string key_file;
    std::vector<std::string> names;
    CertifiedKeyPem pair;
    OpensslPtr<SSL_CTX> context;

    Result<bool> Load(const Settings& from) {
      if (certificate_file.empty() && context != nullptr) return false;
      if (!certificate_file.empty()) {
        auto read = ReadPair(certificate_file, key_file);
        if (!read) return Fail(read.error());
        if (context != nullptr && read->certificate_pem == pair.certificate_pem &&
            read->key_pem == pair.key_pem) {
          return false;
        }
        auto made = MakeContext(*read, from);
        if (!made) return Fail(made.error().Within(certificate_file));
        pair = std::move(*read);
        context = std::move(*made);
        return true;
      }
      auto made = MakeContext(pair, from);
      if (!made) return Fail(made.error());
      context = std::move(*made);
      return true;
    }

    bool Matches(const std::string& name) const {
      for (const std::string& pattern : names) {
        if (pattern == name) return true;
        const size_t dot = name.find('.');
        if (pattern.starts_with("*.") && dot != std::string::npos &&
            name.substr(dot) == pattern.substr(1)) {
          return true;
        }
      }
      if (!names.empty()) return false;
      const X509* own = SSL_CTX_get0_certificate(context.get());
      return X509_check_host(const_cast<X509*>(own), name.c_str(), name.size(), 0, nullptr) == 1;
    }
  };

  // Puts the certificate for the name that the client asks for in the place of the first.
  static int ChooseByName(SSL* session, int* /*alert*/, void* self) {
    const char* name = SSL_get_servername(session, TLSEXT_NAMETYPE_host_name);
    if (name == nullptr) return SSL_TLSEXT_ERR_OK;
    const auto& entries = static_cast<const Impl*>(self)->entries;
    for (size_t i = 1; i < entries.size(); ++i) {
      if (!entries[i].Matches(name)) continue;
      SSL_set_SSL_CTX(session, entries[i].context.get());
      break;
    }
    return SSL_TLSEXT_ERR_OK;
  }

  // Reads on after a pair that cannot be used; the error is the first one's.
  Result<bool> LoadAll() {
    Result<bool> result = false;
    for (Entry& entry : entries) {
      auto loaded = entry.Load(settings);
      if (result && (!loaded || *loaded)) result = std::move(loaded);
    }
    if (entries.front().context == nullptr) return result;
    SSL_CTX_set_tlsext_servername_callback(entries.front().context.get(), ChooseByName);
    SSL_CTX_set_tlsext_servername_arg(entries.front().context.get(), this);
    return result;
  }

  Settings settings;
  std::vector<Entry> entries;  // the first is for all names that no other is for
};

TlsContext::TlsContext(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsContext::~TlsContext() = default;

Result<std::unique_ptr<TlsContext>> TlsContext::Make(TlsOptions options, Time now) {
  auto impl = std::make_unique<Impl>();
  auto version = ParseTlsVersion(options.min_version);
  if (!version) return Fail(version.error().Within("--tls-min-version"));
  auto ciphers = ParseCipherSuites(options.cipher_suites);
  if (!ciphers) return Fail(ciphers.error().Within("--tls-cipher-suites"));
  auto groups = ParseCurves(options.curves);
  if (!groups) return Fail(groups.error().Within("--tls-curve-preferences"));
  impl->settings = Settings{*version, std::move(*ciphers), std::move(*groups)};

  if (options.certificate_file.empty() != options.key_file.empty()) {
    return Fail("--tls-cert-file and --tls-private-key-file go together");
  }
  Impl::Entry first;
  if (options.certificate_file.empty() && !options.own_certificate_folder.empty()) {
    if (auto kept = KeepOwnCertificate(options, now); !kept) {
      return Fail(kept.error().Within("--cert-dir"));
    }
  }
  if (options.certificate_file.empty()) {
    auto own = MakeOwnCertificate(now, options.own_address);
    if (!own) return Fail(own.error());
    first.pair = std::move(*own);
  }
  first.certificate_file = options.certificate_file;
  first.key_file = options.key_file;
  impl->entries.push_back(std::move(first));
  for (const TlsOptions::SniFiles& files : options.sni) {
    Impl::Entry entry;
    entry.certificate_file = files.certificate_file;
    entry.key_file = files.key_file;
    entry.names = files.names;
    impl->entries.push_back(std::move(entry));
  }
  if (auto loaded = impl->LoadAll(); !loaded) return Fail(loaded.error());
  return std::unique_ptr<TlsContext>(new TlsContext(std::move(impl)));
}

ssl_st* TlsContext::NewSession(int fd) const {
  SSL* session = SSL_new(impl_->entries.front().context.get());
  if (session == nullptr) return nullptr;
  if (SSL_set_fd(session, fd) != 1) {
    SSL_free(session);
    return nullptr;
  }
  SSL_set_accept_state(session);
  return session;
}

Result<bool> TlsContext::Reload() { return impl_->LoadAll(); }

}  // namespace berth::serving
