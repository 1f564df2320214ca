// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/simulator/controllers.h"
#include "tests/support/builders.h"
#include "tests/support/device_builders.h"
#include "tests/unit/simulator/controller_fixture.h"

namespace berth::simulator {
namespace {

using informers::Kind;
using test::MakeDeviceClaim;
using test::MakePod;
using testing::ElementsAre;
using testing::IsEmpty;

class ClaimControllerTest : public test::ControllerFixture<ClaimController> {
 protected:
  static api::Pod PodFrom(const std::string& name, const std::string& made_from) {
    api::Pod pod = MakePod().Name(name).Uid(name + "-uid");
    api::PodResourceClaim& entry = pod.spec.resource_claims.emplace_back();
    entry.name = "gpu";
    entry.resource_claim_template_name = made_from;
    return pod;
  }
  static api::ResourceClaimTemplate Template(const std::string& name) {
    api::ResourceClaimTemplate made;
    made.metadata.namespace_ = "default";
    made.metadata.name = name;
    made.spec.metadata.labels = {{"from", name}};
    made.spec.spec = MakeDeviceClaim("x").Request("gpu", "gpus").Obj().spec;
    return made;
  }
  std::vector<std::string> ClaimNames() { return Names<api::ResourceClaim>(Kind::kResourceClaim); }
  api::ResourceClaim Claim(const std::string& name) {
    return Get<api::ResourceClaim>(Kind::kResourceClaim, "default/" + name);
  }
};

TEST_F(ClaimControllerTest, APodGetsItsClaimOnceTheTemplateIsThere) {
  Apply(PodFrom("p", "t"));
  Run();
  EXPECT_THAT(ClaimNames(), IsEmpty());
  Apply(Template("t"));
  Run();
  ASSERT_THAT(ClaimNames(), ElementsAre("p-gpu"));
  const api::ResourceClaim claim = Claim("p-gpu");
  EXPECT_EQ(claim.spec, Template("t").spec.spec);
  EXPECT_EQ(claim.metadata.labels, (api::StringMap{{"from", "t"}}));
  ASSERT_EQ(claim.metadata.owner_references.size(), 1u);
  EXPECT_EQ(claim.metadata.owner_references[0].uid, "p-uid");
  EXPECT_EQ(api_.FindPod("default/p")->status.resource_claim_statuses,
            (std::vector<api::PodResourceClaimStatus>{{"gpu", "p-gpu"}}));
}

TEST_F(ClaimControllerTest, AnotherClaimKeepsItsName) {
  Apply(MakeDeviceClaim("p-gpu").Obj());
  Apply(Template("t"));
  Apply(PodFrom("p", "t"));
  Run();
  EXPECT_THAT(ClaimNames(), ElementsAre("p-gpu", "p-gpu-1"));
  EXPECT_EQ(api_.FindPod("default/p")->status.resource_claim_statuses[0].resource_claim_name,
            "p-gpu-1");
}

TEST_F(ClaimControllerTest, AClaimIsGivenBackWithItsLastPodAndGoesIfItWasMadeForIt) {
  const auto user = [](const std::string& name) {
    api::Pod pod = MakePod().Name(name).Uid(name + "-uid");
    api::PodResourceClaim& entry = pod.spec.resource_claims.emplace_back();
    entry.name = "gpu";
    entry.resource_claim_name = "shared";
    return pod;
  };
  Apply(Template("t"));
  Apply(PodFrom("p", "t"));
  Apply(user("first"));
  Apply(user("last"));
  Apply(MakeDeviceClaim("shared")
            .Allocated("n1", "gpu-0")
            .ReservedFor("first", "first-uid")
            .ReservedFor("last", "last-uid")
            .Obj());
  Run();
  api_.Delete(Kind::kPod, "default/first");
  Run();
  EXPECT_TRUE(Claim("shared").status.allocation);
  EXPECT_EQ(Claim("shared").status.reserved_for.size(), 1u);
  api::Pod last = user("last");
  last.status.phase = "Succeeded";
  Apply(last);
  Run();
  EXPECT_EQ(Claim("shared").status, api::ResourceClaimStatus());
  EXPECT_THAT(ClaimNames(), ElementsAre("p-gpu", "shared"));
  api_.Delete(Kind::kPod, "default/p");
  Run();
  EXPECT_THAT(ClaimNames(), ElementsAre("shared"));
}

TEST_F(ClaimControllerTest, WhatIsReservedForAPodThatHasJustGoneIsGivenBack) {
  Apply(Template("t"));
  Apply(PodFrom("p", "t"));
  Apply(MakeDeviceClaim("other").Obj());
  Run();
  api_.Delete(Kind::kPod, "default/p");
  Run();
  Apply(MakeDeviceClaim("other")
            .Version("99")
            .Allocated("n1", "gpu-0")
            .ReservedFor("p", "p-uid")
            .Obj());
  Run();
  EXPECT_EQ(Claim("other").status, api::ResourceClaimStatus());
}

TEST_F(ClaimControllerTest, PodsThatMayStillComeKeepTheirClaims) {
  Apply(MakeDeviceClaim("a")
            .Owner("p", "p-uid")
            .Allocated("n1", "gpu-0")
            .ReservedFor("q", "q-uid")
            .Obj());
  Run();
  EXPECT_THAT(ClaimNames(), ElementsAre("a"));
  EXPECT_TRUE(Claim("a").status.allocation);
}

}  // namespace
}  // namespace berth::simulator
