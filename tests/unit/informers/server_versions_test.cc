// SPDX-License-Identifier: Apache-2.0
#include "src/informers/server_versions.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace berth::informers {
namespace {

class ServerVersionsTest : public testing::Test {
 protected:
  void List(Kind kind, std::string_view version) {
    versions_.Listed(kind, version, versions_.newest());
  }
  std::vector<Kind> Doubted() const {
    std::vector<Kind> doubted;
    for (const Kind kind : AllKinds()) {
      if (versions_.IsDoubted(kind)) doubted.push_back(kind);
    }
    return doubted;
  }

  ServerVersions versions_;
};

TEST_F(ServerVersionsTest, ListsInTheOrderOfTheirVersionsTellNothing) {
  List(Kind::kPod, "10");
  List(Kind::kNode, "11");
  versions_.Saw(Kind::kPod, "15");
  List(Kind::kNode, "15");
  List(Kind::kPod, "15");
  EXPECT_EQ(versions_.times_gone_back(), 0u);
  EXPECT_TRUE(Doubted().empty());
}

TEST_F(ServerVersionsTest, WhatIsSeenAfterTheQuestionIsNoMeasure) {
  List(Kind::kPod, "10");
  List(Kind::kNode, "10");
  const ServerVersions::Numbers before = versions_.newest();
  versions_.Saw(Kind::kPod, "20");
  versions_.Listed(Kind::kNode, "15", before);
  EXPECT_TRUE(Doubted().empty());
}

TEST_F(ServerVersionsTest, AKindThatWentBackMakesTheOthersGoBackOnce) {
  List(Kind::kPod, "100");
  List(Kind::kNode, "100");
  List(Kind::kService, "100");
  const ServerVersions::Numbers before = versions_.newest();
  List(Kind::kNode, "50");
  EXPECT_EQ(versions_.times_gone_back(), 1u);
  versions_.Listed(Kind::kPod, "51", before);
  List(Kind::kService, "52");
  EXPECT_EQ(versions_.times_gone_back(), 1u) << "the same restore counts twice";
  EXPECT_TRUE(Doubted().empty());
}

TEST_F(ServerVersionsTest, AKindWithAnEtcdOfItsOwnIsListedAgainOnceForEachKind) {
  List(Kind::kNode, "10");
  List(Kind::kService, "11");
  List(Kind::kPod, "9000");
  List(Kind::kNode, "20");
  EXPECT_EQ(Doubted(), std::vector<Kind>{Kind::kPod});
  List(Kind::kPod, "9001");
  EXPECT_TRUE(Doubted().empty());
  List(Kind::kNode, "30");
  EXPECT_TRUE(Doubted().empty()) << "the two are known to count apart";
  List(Kind::kService, "31");
  EXPECT_EQ(Doubted(), std::vector<Kind>{Kind::kPod});
  List(Kind::kPod, "9002");
  List(Kind::kService, "41");
  EXPECT_TRUE(Doubted().empty());
  EXPECT_EQ(versions_.times_gone_back(), 0u);
}

TEST_F(ServerVersionsTest, AFirstListThatIsOlderTellsThatTheKindsCountApart) {
  List(Kind::kPod, "1000");
  List(Kind::kNode, "10");
  List(Kind::kNode, "12");
  EXPECT_TRUE(Doubted().empty());
  EXPECT_EQ(versions_.times_gone_back(), 0u);
}

TEST_F(ServerVersionsTest, AnUnprovenRestoreIsProvenByTheKindThatHadComeFurthest) {
  List(Kind::kNode, "10");
  List(Kind::kPod, "100");
  List(Kind::kNode, "50");
  EXPECT_EQ(Doubted(), std::vector<Kind>{Kind::kPod});
  List(Kind::kPod, "51");
  EXPECT_EQ(versions_.times_gone_back(), 1u);
  EXPECT_TRUE(Doubted().empty());
  // They count together still.
  versions_.Saw(Kind::kPod, "200");
  List(Kind::kNode, "120");
  EXPECT_EQ(Doubted(), std::vector<Kind>{Kind::kPod});
}

TEST_F(ServerVersionsTest, VersionsThatAreNoNumbersAreNotCompared) {
  List(Kind::kPod, "b");
  List(Kind::kNode, "10");
  List(Kind::kPod, "a");
  EXPECT_EQ(versions_.times_gone_back(), 0u);
  EXPECT_TRUE(Doubted().empty());
}

}  // namespace
}  // namespace berth::informers
