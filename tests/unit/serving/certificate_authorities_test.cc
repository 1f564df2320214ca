// SPDX-License-Identifier: Apache-2.0
#include "src/serving/certificate_authorities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/clock.h"
#include "tests/support/test_certificates.h"
#include "tests/unit/serving/der.h"

namespace berth::serving {
namespace {

using test::Der;
using test::TestAuthority;
using testing::ElementsAre;
using testing::HasSubstr;

Result<CertificateSubject> Verify(const std::string& bundle, const std::string& certificate) {
  const auto authorities = CertificateAuthorities::FromPem(bundle);
  if (!authorities) return Fail(authorities.error());
  return (*authorities)->Verify({Der(certificate)}, base::RealClock().Now());
}

TEST(CertificateAuthoritiesTest, ASubjectIsReadFromACertificateThatTheySigned) {
  const TestAuthority authority;
  const auto subject =
      Verify(authority.certificate_pem(),
             authority.Issue("jane", {}, {{"ops", "dev"}, "clientAuth"}).certificate_pem);
  ASSERT_TRUE(subject.has_value()) << subject.error().message;
  EXPECT_EQ(subject->common_name, "jane");
  EXPECT_THAT(subject->organizations, ElementsAre("ops", "dev"));
  EXPECT_EQ(subject->uid, "");
  EXPECT_THAT(subject->sha256_fingerprint, testing::MatchesRegex("[0-9a-f]{64}"));
}

TEST(CertificateAuthoritiesTest, ABundleMayHoldSeveral) {
  const TestAuthority one("one");
  const TestAuthority two("two");
  const std::string bundle = one.certificate_pem() + two.certificate_pem();
  EXPECT_TRUE(Verify(bundle, one.Issue("jane", {}).certificate_pem).has_value());
  EXPECT_TRUE(Verify(bundle, two.Issue("jane", {}).certificate_pem).has_value());
}

TEST(CertificateAuthoritiesTest, OtherCertificatesAreRefused) {
  const TestAuthority authority;
  // Of the same name, with another key.
  const TestAuthority impostor;
  const struct {
    const char* name;
    std::string certificate;
    const char* problem;
  } cases[] = {
      {"signed by another authority", impostor.Issue("jane", {}).certificate_pem, "signature"},
      {"signed by itself", impostor.certificate_pem(), "self"},
      {"out of date", authority.Issue("jane", {}, {.expired = true}).certificate_pem, "expired"},
      {"meant for servers",
       authority.Issue("jane", {}, {.extended_key_usage = "serverAuth"}).certificate_pem,
       "purpose"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto subject = Verify(authority.certificate_pem(), c.certificate);
    ASSERT_FALSE(subject.has_value());
    EXPECT_THAT(subject.error().message, HasSubstr(c.problem));
  }
}

TEST(CertificateAuthoritiesTest, ABundleMustHoldCertificatesOnly) {
  const TestAuthority authority;
  EXPECT_FALSE(CertificateAuthorities::FromPem("").has_value());
  EXPECT_FALSE(CertificateAuthorities::FromPem("hello").has_value());
  std::string broken = authority.certificate_pem();
  broken.replace(60, 4, "****");
  EXPECT_FALSE(CertificateAuthorities::FromPem(broken).has_value());
  EXPECT_FALSE(CertificateAuthorities::FromPem(authority.certificate_pem() + broken).has_value());
}

TEST(CertificateAuthoritiesTest, WhatIsNoCertificateIsRefused) {
  const TestAuthority authority;
  const auto authorities = CertificateAuthorities::FromPem(authority.certificate_pem());
  ASSERT_TRUE(authorities.has_value());
  EXPECT_FALSE((*authorities)->Verify({}, Time()).has_value());
  EXPECT_FALSE((*authorities)->Verify({"junk"}, Time()).has_value());
}

}  // namespace
}  // namespace berth::serving
