// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/plugins/volume_binding_fixture.h"

namespace berth::test {
namespace {

using testing::ElementsAre;

class VolumeBindingPreviewTest : public testing::Test, public VolumeBindingFixture {
 protected:
  // "claim=volume", "claim+provisioner" or "claim: problem" for each claim, by node.
  std::vector<std::string> Preview(const api::Pod& pod, const api::Node& node) {
    snapshot.emplace(handle.names, std::vector<api::Node>{node}, std::vector<api::Pod>{});
    handle.current_snapshot = &*snapshot;
    std::vector<std::string> lines;
    const auto by_node = plugin().PreviewClaims(*Info(pod));
    for (const ClaimPreview& claim : by_node(NodeView(*snapshot, 0))) {
      std::string line = claim.claim;
      if (!claim.volume.empty()) line += "=" + claim.volume;
      if (!claim.provisioner.empty()) line += "+" + claim.provisioner;
      if (!claim.problem.empty()) line += ": " + claim.problem;
      lines.push_back(std::move(line));
    }
    return lines;
  }
};

TEST_F(VolumeBindingPreviewTest, APodWithoutClaimsHasNone) {
  EXPECT_EQ(plugin().PreviewClaims(*Info(MakePod())), nullptr);
}

TEST_F(VolumeBindingPreviewTest, EachClaimSaysWhatItWouldGet) {
  handle.plain_listers.Set(MakeVolume("mine", "local").On("a").Obj());
  handle.plain_listers.Set(MakeVolume("bound", "local").On("a").Claim("old", "default/old").Obj());
  handle.plain_listers.Set(MakeClaim("old", "local").BoundTo("bound").Obj());
  handle.plain_listers.Set(MakeClaim("new", "local").Obj());
  handle.plain_listers.Set(MakeClaim("made", "wait").Obj());
  const api::Pod pod = MakePod().ClaimVolume("old").ClaimVolume("new").ClaimVolume("made");
  EXPECT_THAT(Preview(pod, Node("a")),
              ElementsAre("default/old=bound", "default/new=mine", "default/made+csi.example.com"));
}

TEST_F(VolumeBindingPreviewTest, EachClaimSaysWhyItKeepsThePodOut) {
  handle.plain_listers.Set(MakeVolume("bound", "local").On("a").Claim("old", "default/old").Obj());
  handle.plain_listers.Set(MakeClaim("old", "local").BoundTo("bound").Obj());
  handle.plain_listers.Set(MakeClaim("new", "local").Obj());
  handle.plain_listers.Set(MakeClaim("made", "wait").Obj());
  const api::Pod pod = MakePod().ClaimVolume("old").ClaimVolume("new").ClaimVolume("made");
  EXPECT_THAT(Preview(pod, Node("b")), ElementsAre("default/old: " + std::string(kNodeConflict),
                                                   "default/new: " + std::string(kBindConflict),
                                                   "default/made+csi.example.com"));
}

TEST_F(VolumeBindingPreviewTest, AClaimThatKeepsThePodOffEveryNodeHidesNoOther) {
  handle.plain_listers.Set(MakeClaim("now", "now").Obj());
  handle.plain_listers.Set(MakeClaim("made", "wait").Obj());
  const api::Pod pod = MakePod().ClaimVolume("lost").ClaimVolume("now").ClaimVolume("made");
  EXPECT_THAT(
      Preview(pod, Node("a")),
      ElementsAre("default/lost: persistentvolumeclaim \"lost\" not found",
                  "default/now: not bound, and its storage class does not wait for a consumer",
                  "default/made+csi.example.com"));
}

TEST_F(VolumeBindingPreviewTest, OneVolumeIsNotGivenToTwoClaims) {
  handle.plain_listers.Set(MakeClaim("one", "local").Obj());
  handle.plain_listers.Set(MakeClaim("two", "local").Obj());
  handle.plain_listers.Set(MakeVolume("v", "local").On("a").Obj());
  const api::Pod pod = MakePod().ClaimVolume("one").ClaimVolume("two");
  EXPECT_THAT(Preview(pod, Node("a")),
              ElementsAre("default/one=v",
                          "default/two: only volume \"v\" would do, which another claim takes"));
  handle.plain_listers.Set(MakeVolume("w", "local").On("a").Obj());
  EXPECT_THAT(Preview(pod, Node("a")), ElementsAre("default/one=v", "default/two=w"));
}

}  // namespace
}  // namespace berth::test
