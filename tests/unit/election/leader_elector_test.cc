// SPDX-License-Identifier: Apache-2.0
#include "src/election/leader_elector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "berth/random.h"
#include "src/base/virtual_time.h"
#include "tests/unit/election/lease_server.h"

namespace berth::election {
namespace {

using metrics::Metric;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::LeaseServer;
using testing::HasSubstr;

// A process that stands for election.
struct Candidate {
  LeaseServer::Client* client = nullptr;
  metrics::Registry metrics;
  bool healthy = true;
  int started = 0;
  int lost = 0;
  int stopped = 0;
  std::string note;       // what it notes on the lease
  std::string inherited;  // what it found there
  std::unique_ptr<LeaderElector> elector;

  bool leading() const { return elector->leading(); }
  double Status() {
    return metrics.Read(metrics.Intern(Metric::kLeaderElectionMasterStatus, {"kube-scheduler"}))
        .value;
  }
  double SlowPaths() {
    return metrics.Read(metrics.Intern(Metric::kLeaderElectionSlowpath, {"kube-scheduler"})).value;
  }
  void Stop() {
    elector->Stop([this] { ++stopped; });
  }
};

class LeaderElectorTest : public testing::Test {
 protected:
  std::unique_ptr<Candidate> Stand(const std::string& identity) {
    auto candidate = std::make_unique<Candidate>();
    Candidate* c = candidate.get();
    c->client = &server_.AddClient();
    ElectionCallbacks callbacks;
    callbacks.healthy = [c] { return c->healthy; };
    callbacks.started_leading = [c](const std::string& note) {
      ++c->started;
      c->inherited = note;
    };
    callbacks.unfinished_pods = [c] { return c->note; };
    callbacks.lost = [c] { ++c->lost; };
    c->elector = std::make_unique<LeaderElector>(
        c->client->api, clock_, c->metrics,
        ElectionOptions{config_, identity, "default-scheduler", ++seed_}, std::move(callbacks));
    c->elector->Start();
    executor_.RunDue();
    return candidate;
  }
  api::LeaseRecord HeldBy(const std::string& holder) {
    api::LeaseRecord record;
    record.holder_identity = holder;
    record.lease_duration_seconds = 15;
    record.acquire_time = clock_.Now();
    record.renew_time = clock_.Now();
    record.lease_transitions = 3;
    return record;
  }
  void Advance(Duration by) { executor_.Advance(by); }

  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  LeaseServer server_{executor_};
  config::LeaderElection config_;  // 15 s, 10 s, 2 s
  uint64_t seed_ = 0;
};

TEST_F(LeaderElectorTest, CreatesTheLeaseWhereThereIsNone) {
  const Time start = clock_.Now();
  const auto a = Stand("a");
  EXPECT_EQ(a->started, 1);
  EXPECT_TRUE(a->leading());
  const api::LeaseRecord record = server_.record();
  EXPECT_EQ(record.holder_identity, "a");
  EXPECT_EQ(record.lease_duration_seconds, 15);
  EXPECT_EQ(record.lease_transitions, 0);
  EXPECT_EQ(record.acquire_time, start);
  EXPECT_EQ(record.renew_time, start);
  EXPECT_EQ(a->Status(), 1);
}

TEST_F(LeaderElectorTest, TellsOfLeadingInAnEventAboutTheLease) {
  const auto a = Stand("a");
  ASSERT_EQ(a->client->events.size(), 1u);
  for (const char* part : {R"("kind":"Lease")", R"("name":"kube-scheduler")",
                           R"("uid":"lease-uid")", R"("apiVersion":"coordination.k8s.io/v1")",
                           R"("reason":"LeaderElection")", R"("message":"a became leader")",
                           R"("source":{"component":"default-scheduler"})", R"("type":"Normal")"}) {
    EXPECT_THAT(a->client->events[0], HasSubstr(part));
  }
}

TEST_F(LeaderElectorTest, NotesUnfinishedPodsForTheNextLeader) {
  const auto a = Stand("a");
  EXPECT_EQ(a->inherited, "");
  EXPECT_EQ(server_.document().find("annotations"), std::string::npos);
  a->note = "uid-1,uid-2";
  Advance(seconds(2));
  EXPECT_EQ(server_.record().unfinished_pods, "uid-1,uid-2");
  EXPECT_THAT(server_.document(), HasSubstr(R"("berth/unfinished-pods":"uid-1,uid-2")"));
  a->note = "";
  Advance(seconds(2));
  EXPECT_EQ(server_.document().find("annotations"), std::string::npos)
      << "nothing of it stays: " << server_.document();
  a->note = "uid-3";
  Advance(seconds(2));
  // The process ends over it.
  a->client->fate = LeaseServer::Fate::kNeverEnds;
  const auto b = Stand("b");
  Advance(seconds(60));
  ASSERT_TRUE(b->leading());
  EXPECT_EQ(b->inherited, "uid-3");
  Advance(seconds(2));
  EXPECT_EQ(server_.record().unfinished_pods, "") << "it has no such pod any more";
}

TEST_F(LeaderElectorTest, WhatOthersAnnotateOnTheLeaseStays) {
  const auto a = Stand("a");
  std::string document = server_.document();
  document.insert(document.find("\"metadata\":{") + 12, R"("annotations":{"other/key":"x"},)");
  server_.WriteDocument(document);
  a->note = "uid-1";
  Advance(seconds(4));
  EXPECT_THAT(server_.document(), HasSubstr(R"("other/key":"x")"));
  EXPECT_THAT(server_.document(), HasSubstr("uid-1"));
  a->note = "";
  Advance(seconds(4));
  EXPECT_THAT(server_.document(), HasSubstr(R"("annotations":{"other/key":"x"})"));
}

TEST_F(LeaderElectorTest, StampsFollowTheMachinesClockAndWaitsDoNot) {
  const auto a = Stand("a");
  for (const Duration correction : {Duration(hours(5)), Duration(-hours(5))}) {
    clock_.Correct(correction);
    Advance(seconds(2));
    EXPECT_TRUE(a->leading());
    EXPECT_TRUE(a->elector->MayWrite());
    EXPECT_EQ(server_.record().renew_time, clock_.WallNow());
  }
  a->Stop();
  executor_.RunDue();
  EXPECT_EQ(server_.record().renew_time, clock_.WallNow());
}

TEST_F(LeaderElectorTest, RenewsWithOnePutEachRetryPeriod) {
  const Time start = clock_.Now();
  const auto a = Stand("a");
  const int gets = a->client->gets;
  Advance(seconds(60));
  EXPECT_EQ(a->client->puts, 30);
  EXPECT_EQ(a->client->gets, gets);
  EXPECT_EQ(server_.record().renew_time, start + seconds(60));
  EXPECT_EQ(server_.record().acquire_time, start);
  EXPECT_EQ(server_.record().lease_transitions, 0);
  EXPECT_EQ(a->SlowPaths(), 0);
}

TEST_F(LeaderElectorTest, AStandbyWaitsAsLongAsTheLeaderRenews) {
  const auto a = Stand("a");
  const auto b = Stand("b");
  Advance(std::chrono::minutes(10));
  EXPECT_TRUE(a->leading());
  EXPECT_FALSE(b->leading());
  EXPECT_EQ(b->Status(), 0);
  // Between 2 s and 4.4 s each.
  EXPECT_GT(b->client->gets, 600 / 4.4);
  EXPECT_LT(b->client->gets, 600 / 2.0);
}

TEST_F(LeaderElectorTest, AStandbyTakesOverWhenTheLeaderHasBeenSilentForItsLease) {
  const auto a = Stand("a");
  const auto b = Stand("b");
  Advance(seconds(30));
  const Time renewed = *server_.record().renew_time;
  a->elector.reset();  // as kill -9
  while (!b->leading() && clock_.Now() < renewed + seconds(60)) Advance(milliseconds(100));
  // Seen at most a try later than it was written, and tried for once in a try's time.
  EXPECT_GE(clock_.Now(), renewed + seconds(15));
  EXPECT_LE(clock_.Now(), renewed + seconds(15) + milliseconds(2 * 4400));
  EXPECT_EQ(server_.record().holder_identity, "b");
  EXPECT_EQ(server_.record().lease_transitions, 1);
  EXPECT_EQ(server_.record().acquire_time, server_.record().renew_time);
}

TEST_F(LeaderElectorTest, TimesOfOtherClocksCountForNothing) {
  for (const Duration skew :
       {Duration(std::chrono::hours(-10)), Duration(std::chrono::hours(10))}) {
    SCOPED_TRACE(skew.count());
    server_.Delete();
    api::LeaseRecord record = HeldBy("other");
    record.renew_time = clock_.Now() + skew;
    server_.Write(record);
    const auto a = Stand("a");
    Advance(seconds(14));
    EXPECT_FALSE(a->leading());
    Advance(seconds(6));
    EXPECT_TRUE(a->leading());
  }
}

TEST_F(LeaderElectorTest, AnyChangeOfTheRecordBeginsTheWaitAnew) {
  server_.Write(HeldBy("other"));
  const auto a = Stand("a");
  Advance(seconds(12));
  server_.Write(HeldBy("third"));
  Advance(seconds(14));
  EXPECT_FALSE(a->leading());
  Advance(seconds(10));
  EXPECT_TRUE(a->leading());
  EXPECT_EQ(server_.record().lease_transitions, 4);
}

TEST_F(LeaderElectorTest, TakesALeaseThatNobodyHoldsAtOnce) {
  server_.Write(HeldBy(""));
  const auto a = Stand("a");
  EXPECT_TRUE(a->leading());
  EXPECT_EQ(server_.record().lease_transitions, 4);
}

TEST_F(LeaderElectorTest, LeavesWhatOthersWroteBesideTheSpec) {
  server_.WriteDocument(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
      "metadata":{"name":"kube-scheduler","namespace":"kube-system","labels":{"team":"a"},
                  "annotations":{"note":"keep"},"managedFields":[{"manager":"x"}]},
      "spec":{"holderIdentity":"","preferredHolder":"z"}})");
  const auto a = Stand("a");
  Advance(seconds(2));
  EXPECT_TRUE(a->leading());
  EXPECT_THAT(server_.document(), HasSubstr(R"("labels":{"team":"a"})"));
  EXPECT_THAT(server_.document(), HasSubstr(R"("note":"keep")"));
  EXPECT_THAT(server_.document(), HasSubstr("managedFields"));
  // An update replaces the whole spec, as client-go's.
  EXPECT_THAT(server_.document(), testing::Not(HasSubstr("preferredHolder")));
}

TEST_F(LeaderElectorTest, OfTwoThatCreateTheLeaseAtOnceOneWaits) {
  const auto a = Stand("a");
  server_.Delete();
  const auto b = Stand("b");  // sees none and creates it, while a believes it is there
  Advance(seconds(3));
  EXPECT_EQ(a->leading() + b->leading(), 1);
  EXPECT_EQ(a->lost, 1);
  EXPECT_TRUE(b->leading());
}

TEST_F(LeaderElectorTest, OfTwoThatTakeTheLeaseAtOnceOneWaits) {
  server_.Write(HeldBy(""));
  server_.before_put = [this] {
    server_.before_put = nullptr;
    server_.Write(HeldBy("faster"));
  };
  const auto a = Stand("a");
  EXPECT_EQ(a->client->puts, 1);
  EXPECT_FALSE(a->leading());
  EXPECT_EQ(server_.record().holder_identity, "faster");
}

TEST_F(LeaderElectorTest, AConflictOfARenewalIsResolvedByReading) {
  const auto a = Stand("a");
  Advance(seconds(3));
  server_.Write(server_.record());  // another client wrote to its metadata
  Advance(seconds(2));
  EXPECT_TRUE(a->leading());
  EXPECT_EQ(a->SlowPaths(), 1);
  EXPECT_EQ(server_.record().renew_time, clock_.Now() - seconds(1));
  Advance(seconds(2));
  EXPECT_EQ(a->SlowPaths(), 1);
}

TEST_F(LeaderElectorTest, ALeaderThatSeesAnotherHolderHasLostAtOnce) {
  const auto a = Stand("a");
  server_.Write(HeldBy("b"));
  Advance(seconds(2));
  EXPECT_EQ(a->lost, 1);
  EXPECT_FALSE(a->leading());
  EXPECT_FALSE(a->elector->MayWrite());
  EXPECT_EQ(a->Status(), 0);
  Advance(seconds(60));
  EXPECT_EQ(server_.record().holder_identity, "b");
  EXPECT_EQ(a->lost, 1);
}

TEST_F(LeaderElectorTest, ALeaderThatCannotRenewHasLostAfterRenewDeadline) {
  for (const auto fate : {LeaseServer::Fate::kFailed, LeaseServer::Fate::kNeverEnds}) {
    SCOPED_TRACE(static_cast<int>(fate));
    server_.Delete();
    const auto a = Stand("a");
    a->client->fate = fate;
    Advance(seconds(2) + seconds(10) - milliseconds(1));
    EXPECT_EQ(a->lost, 0);
    Advance(milliseconds(1));
    EXPECT_EQ(a->lost, 1);
    EXPECT_FALSE(a->leading());
    EXPECT_EQ(a->started, 1);
  }
}

TEST_F(LeaderElectorTest, FailuresShorterThanRenewDeadlineAreOutlived) {
  const auto a = Stand("a");
  for (int i = 0; i < 5; ++i) {
    a->client->fate = LeaseServer::Fate::kFailed;
    Advance(seconds(7));
    a->client->fate = LeaseServer::Fate::kAnswered;
    Advance(seconds(4));
  }
  EXPECT_TRUE(a->leading());
  EXPECT_EQ(a->lost, 0);
}

TEST_F(LeaderElectorTest, AWriteWhoseAnswerWasLostIsFoundToBeOurs) {
  server_.Write(HeldBy(""));
  const auto a = Stand("a");
  a->client->fate = LeaseServer::Fate::kUnheard;
  Advance(seconds(3));
  a->client->fate = LeaseServer::Fate::kAnswered;
  Advance(seconds(10));
  EXPECT_TRUE(a->leading());
  EXPECT_EQ(server_.record().holder_identity, "a");
  EXPECT_EQ(server_.record().lease_transitions, 4);
}

TEST_F(LeaderElectorTest, ADeletedLeaseIsMadeAnew) {
  const auto a = Stand("a");
  server_.Delete();
  Advance(seconds(2));
  EXPECT_TRUE(a->leading());
  EXPECT_EQ(server_.record().holder_identity, "a");
}

TEST_F(LeaderElectorTest, AProcessThatDoesNoWorkLetsItsLeaseGo) {
  const auto a = Stand("a");
  const auto b = Stand("b");
  a->healthy = false;
  Advance(seconds(12));
  EXPECT_EQ(a->lost, 1);
  Advance(seconds(15));
  EXPECT_TRUE(b->leading());
}

TEST_F(LeaderElectorTest, AProcessThatDoesNoWorkDoesNotStandForElection) {
  server_.Write(HeldBy("other"));
  const auto a = Stand("a");
  a->healthy = false;
  server_.Write(HeldBy(""));
  Advance(seconds(60));
  EXPECT_FALSE(a->leading());
  a->healthy = true;
  Advance(seconds(5));
  EXPECT_TRUE(a->leading());
}

TEST_F(LeaderElectorTest, StopGivesTheLeaseUpSoThatAStandbyHasItWithItsNextTry) {
  const auto a = Stand("a");
  const auto b = Stand("b");
  Advance(seconds(20));
  a->Stop();
  executor_.RunDue();
  EXPECT_EQ(a->stopped, 1);
  EXPECT_FALSE(a->leading());
  EXPECT_FALSE(a->elector->MayWrite());
  EXPECT_EQ(a->lost, 0);
  EXPECT_EQ(a->Status(), 0);
  const api::LeaseRecord record = server_.record();
  EXPECT_EQ(record.holder_identity, "");
  EXPECT_EQ(record.lease_duration_seconds, 1);
  EXPECT_EQ(record.lease_transitions, 0);
  EXPECT_EQ(record.renew_time, clock_.Now());
  EXPECT_THAT(a->client->events.back(), HasSubstr("a stopped leading"));
  Advance(milliseconds(4400));
  EXPECT_TRUE(b->leading());
  EXPECT_EQ(server_.record().lease_transitions, 1);
}

TEST_F(LeaderElectorTest, StopOutwitsARenewalUnderWay) {
  const auto a = Stand("a");
  Advance(seconds(2));
  server_.before_put = [this] {
    server_.before_put = nullptr;
    server_.Write(server_.record());
  };
  a->Stop();
  executor_.RunDue();
  EXPECT_EQ(a->stopped, 1);
  EXPECT_EQ(server_.record().holder_identity, "");
}

TEST_F(LeaderElectorTest, StopLeavesALeaseThatIsNotOurs) {
  const auto a = Stand("a");
  server_.Write(HeldBy("b"));
  a->Stop();
  executor_.RunDue();
  EXPECT_EQ(a->stopped, 1);
  EXPECT_EQ(server_.record().holder_identity, "b");
}

TEST_F(LeaderElectorTest, StopOfAStandbyWritesNothing) {
  const auto a = Stand("a");
  const auto b = Stand("b");
  b->Stop();
  executor_.RunDue();
  EXPECT_EQ(b->stopped, 1);
  EXPECT_EQ(b->client->puts, 0);
  Advance(seconds(60));
  EXPECT_TRUE(a->leading());
}

TEST_F(LeaderElectorTest, StopGivesUpAfterRenewDeadlineWithoutAnAnswer) {
  const auto a = Stand("a");
  a->client->fate = LeaseServer::Fate::kNeverEnds;
  a->Stop();
  Advance(seconds(9));
  EXPECT_EQ(a->stopped, 0);
  Advance(seconds(1));
  EXPECT_EQ(a->stopped, 1);
  EXPECT_EQ(a->lost, 0);
}

TEST_F(LeaderElectorTest, WritesAreHeldBackBeforeAnotherCanLead) {
  const auto a = Stand("a");
  EXPECT_TRUE(a->elector->MayWrite());
  // As when the process was stopped for a while: no timer runs.
  clock_.Advance(milliseconds(12'499));
  EXPECT_TRUE(a->elector->MayWrite());
  clock_.Advance(milliseconds(1));
  EXPECT_FALSE(a->elector->MayWrite());
  EXPECT_TRUE(a->leading());
  // The lease has not been taken meanwhile.
  executor_.RunDue();
  EXPECT_TRUE(a->elector->MayWrite());
}

TEST_F(LeaderElectorTest, CheckComplainsOfALeaderWhoseLeaseIsLongOverdue) {
  const auto a = Stand("a");
  EXPECT_EQ(a->elector->Check(seconds(20)), std::nullopt);
  clock_.Advance(seconds(35));
  EXPECT_EQ(a->elector->Check(seconds(20)), std::nullopt);
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(a->elector->Check(seconds(20)),
            "failed election to renew leadership on lease kube-scheduler");
}

TEST_F(LeaderElectorTest, AtNoTimeMayTwoWrite) {
  // Three candidates with requests that fail, hang and get lost, over some hours.
  berth::Random random(7);
  std::vector<std::unique_ptr<Candidate>> candidates;
  int number = 0;
  for (int i = 0; i < 3; ++i) candidates.push_back(Stand("c" + std::to_string(++number)));
  int terms = 0;
  for (int step = 0; step < 40'000; ++step) {
    for (auto& c : candidates) {
      if (random.Below(40) == 0) {
        c->client->fate = static_cast<LeaseServer::Fate>(random.Below(4));
      } else if (random.Below(10) == 0) {
        c->client->fate = LeaseServer::Fate::kAnswered;
      }
      if (c->lost > 0 || random.Below(3000) == 0) {
        terms += c->started;
        c = Stand("c" + std::to_string(++number));
      }
    }
    Advance(milliseconds(250));
    int writers = 0;
    for (const auto& c : candidates) writers += c->elector->MayWrite() ? 1 : 0;
    ASSERT_LE(writers, 1) << "step " << step;
  }
  EXPECT_GT(terms, 20);
}

TEST(IdentityTest, IsTheHostnameAndAUuidOfVersion4) {
  EXPECT_EQ(MakeIdentity("node-1", 0, 0), "node-1_00000000-0000-4000-8000-000000000000");
  EXPECT_EQ(MakeIdentity("node-1", 0x0123456789abcdef, 0xfedcba9876543210),
            "node-1_01234567-89ab-4def-bedc-ba9876543210");
}

TEST(CheckTimesTest, RenewDeadlineMustLeaveTimeForARetry) {
  config::LeaderElection config;
  EXPECT_TRUE(CheckTimes(config));
  config.renew_deadline = milliseconds(2400);
  EXPECT_FALSE(CheckTimes(config));
  config.renew_deadline = milliseconds(2401);
  EXPECT_TRUE(CheckTimes(config));
  config.lease_duration = milliseconds(999);
  EXPECT_FALSE(CheckTimes(config));
}

}  // namespace
}  // namespace berth::election
