// SPDX-License-Identifier: Apache-2.0
#include "src/api/lease.h"

#include <gtest/gtest.h>

namespace berth::api {
namespace {

TEST(LeaseTest, ReadsWhatTheServerSends) {
  const auto lease = ReadLease(R"({"kind":"Lease","metadata":{"uid":"u","resourceVersion":"7"},
      "spec":{"holderIdentity":"a","leaseDurationSeconds":15,"leaseTransitions":2,
              "acquireTime":"2026-01-01T00:00:00.250000Z","renewTime":"2026-01-01T00:00:10.500000Z",
              "strategy":"OldestEmulationVersion"}})");
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->uid, "u");
  EXPECT_EQ(lease->resource_version, "7");
  LeaseRecord want;
  want.holder_identity = "a";
  want.lease_duration_seconds = 15;
  want.lease_transitions = 2;
  const Time day = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);
  want.acquire_time = day + std::chrono::milliseconds(250);
  want.renew_time = day + std::chrono::milliseconds(10'500);
  EXPECT_EQ(lease->record, want);
}

TEST(LeaseTest, AnEmptySpecIsALeaseThatNobodyHolds) {
  for (const char* text : {"{}", R"({"spec":{}})", R"({"metadata":null,"spec":null})",
                           R"({"spec":{"holderIdentity":null,"renewTime":null}})"}) {
    SCOPED_TRACE(text);
    const auto lease = ReadLease(text);
    ASSERT_TRUE(lease);
    EXPECT_EQ(lease->record, LeaseRecord());
  }
}

TEST(LeaseTest, WhatIsNoLeaseIsAnError) {
  for (const char* text :
       {"", "[]", "{", R"({"metadata":[]})", R"({"spec":[]})", R"({"spec":{"holderIdentity":1}})",
        R"({"spec":{"leaseDurationSeconds":"15"}})", R"({"spec":{"leaseDurationSeconds":1e12}})",
        R"({"spec":{"leaseTransitions":99999999999}})", R"({"spec":{"renewTime":"soon"}})",
        R"({"metadata":{"resourceVersion":7}})"}) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(ReadLease(text));
  }
}

TEST(LeaseTest, AnUpdateReplacesTheSpecAndNothingElse) {
  const auto lease = ReadLease(
      R"({"metadata":{"name":"l","labels":{"a":"b"},"resourceVersion":"7"},"spec":{"x":1},"y":2})");
  ASSERT_TRUE(lease);
  LeaseRecord record;
  record.holder_identity = "me";
  record.lease_duration_seconds = 15;
  record.renew_time = Time();
  EXPECT_EQ(LeaseBody(*lease, record),
            R"({"metadata":{"name":"l","labels":{"a":"b"},"resourceVersion":"7"},)"
            R"("spec":{"holderIdentity":"me","leaseDurationSeconds":15,)"
            R"("renewTime":"1970-01-01T00:00:00.000000Z","leaseTransitions":0},"y":2})");
}

}  // namespace
}  // namespace berth::api
