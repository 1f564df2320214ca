// SPDX-License-Identifier: Apache-2.0
// PreFilter, Filter and Score of VolumeBinding.
#include "plugins/volume_binding/volume_binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/plugins/volume_binding_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;
using testing::ElementsAre;

class VolumeBindingTest : public testing::Test, public VolumeBindingFixture {
 protected:
  PlainListers& shown() { return handle.plain_listers; }

  api::CSIStorageCapacity Capacity(std::string_view name, std::string_view size,
                                   std::string_view host) {
    api::CSIStorageCapacity capacity;
    capacity.metadata.name = name;
    capacity.metadata.namespace_ = "csi";
    capacity.storage_class_name = "wait";
    capacity.capacity = *api::Quantity::Parse(size);
    capacity.node_topology = MakeSelector({{"kubernetes.io/hostname", host}});
    return capacity;
  }
  void TellOfCapacity(std::optional<bool> tells = true) {
    api::CSIDriver driver;
    driver.metadata.name = "csi.example.com";
    driver.spec.storage_capacity = tells;
    shown().Set(driver);
  }
};

TEST_F(VolumeBindingTest, PreFilterTellsPodsThatCannotBeScheduledAnywhere) {
  const api::Pod one = MakePod().ClaimVolume("a");
  const api::Pod two = MakePod().ClaimVolume("a").ClaimVolume("b");
  const api::Pod ephemeral = MakePod().Name("web").Uid("u-1").EphemeralVolume("scratch");
  const std::string uu = "UnschedulableAndUnresolvable; ";
  const std::string immediate = uu + "pod has unbound immediate PersistentVolumeClaims";
  const struct {
    const char* name;
    api::Pod pod;
    std::vector<api::PersistentVolumeClaim> claims;
    std::string want;
  } cases[] = {
      {"no claim", MakePod().Volume(api::Volume()), {}, "Skip"},
      {"a claim that is not there", one, {}, uu + "persistentvolumeclaim \"a\" not found"},
      {"one of two is not there",
       two,
       {MakeClaim("a", "wait").BoundTo("v")},
       uu + "persistentvolumeclaim \"b\" not found"},
      {"lost",
       one,
       {MakeClaim("a", "wait").BoundTo("v").Phase("Lost")},
       uu + "persistentvolumeclaim \"a\" bound to non-existent persistentvolume \"v\""},
      {"being deleted",
       one,
       {MakeClaim("a", "wait").BoundTo("v").Deleted()},
       uu + "persistentvolumeclaim \"a\" is being deleted"},
      {"ephemeral, not made yet",
       ephemeral,
       {},
       uu + "waiting for ephemeral volume controller to create the persistentvolumeclaim "
            "\"web-scratch\""},
      {"ephemeral, made for another pod",
       ephemeral,
       {MakeClaim("web-scratch", "wait").OwnedBy("u-2")},
       uu + "PVC default/web-scratch was not created for pod default/web (pod is not owner)"},
      {"ephemeral, waiting for a consumer",
       ephemeral,
       {MakeClaim("web-scratch", "wait").OwnedBy("u-1")},
       ""},
      {"bound", one, {MakeClaim("a", "wait").BoundTo("v")}, ""},
      {"waiting for a consumer", one, {MakeClaim("a", "wait")}, ""},
      {"unbound, of an immediate class", one, {MakeClaim("a", "now")}, immediate},
      {"unbound, of no class", one, {MakeClaim("a", "")}, immediate},
      {"unbound, of a class that is not there", one, {MakeClaim("a", "gone")}, immediate},
      {"promised a volume, but not bound", one, {MakeClaim("a", "wait").Volume("v")}, immediate},
      {"one bound, one immediate",
       two,
       {MakeClaim("a", "wait").BoundTo("v"), MakeClaim("b", "now")},
       immediate},
      {"the old annotation names the class",
       one,
       {MakeClaim("a", "now").Annotation(kStorageClassAnnotation, "wait")},
       ""},
      {"a class that does not say when",
       one,
       {MakeClaim("a", "silent")},
       "Error; VolumeBindingMode not set for StorageClass \"silent\""},
  };
  api::StorageClass silent = MakeWaitingClass("silent", "csi.example.com");
  silent.volume_binding_mode.reset();
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    shown() = {};
    for (const auto& made : {MakeWaitingClass("wait", "csi.example.com"), silent})
      shown().Set(made);
    api::StorageClass now = MakeWaitingClass("now", "csi.example.com");
    now.volume_binding_mode = api::kBindImmediate;
    shown().Set(now);
    for (const auto& claim : c.claims) shown().Set(claim);
    EXPECT_EQ(Text(PreFilter(c.pod, {Node("n")})), c.want);
  }
}

TEST_F(VolumeBindingTest, AllNodesMustReachTheVolumesOfBoundClaims) {
  shown().Set(MakeClaim("a", "wait").BoundTo("va").Obj());
  shown().Set(MakeClaim("b", "wait").BoundTo("vb").Obj());
  shown().Set(MakeVolume("va", "wait").Obj());
  shown().Set(MakeVolume("vb", "wait").On("n1").Obj());
  const api::Pod pod = MakePod().ClaimVolume("a").ClaimVolume("b");
  ASSERT_TRUE(PreFilter(pod, {Node("n1"), Node("n2"), Node("n3")}).ok());
  EXPECT_EQ(Filter(0), "");
  EXPECT_EQ(Filter(1), Rejected({kNodeConflict}));
  EXPECT_EQ(Text(plugin().PreScore(state, *info, *snapshot, snapshot->nodes())), "Skip");

  shown().Remove<api::PersistentVolume>("", "va");
  ASSERT_TRUE(PreFilter(pod, {Node("n1"), Node("n2")}).ok());
  EXPECT_EQ(Filter(0), Rejected({kNoVolume}));
  EXPECT_EQ(Filter(1), Rejected({kNoVolume})) << "the first claim that fails decides";
}

TEST_F(VolumeBindingTest, OnlyLabelsCountForTheNodeAffinityOfAVolume) {
  const struct {
    const char* name;
    VolumeBuilder volume;
    bool n1;
  } cases[] = {
      {"every node", MakeVolume("v", "wait"), true},
      {"one of two terms",
       MakeVolume("v", "wait").On("n9").RequireNode({MakeRequirement("disk", "Exists")}), true},
      {"all of a term",
       MakeVolume("v", "wait")
           .RequireNode(
               {MakeRequirement("disk", "Exists"), MakeRequirement("zone", "In", {"west"})}),
       false},
      {"the node's name is passed over",
       MakeVolume("v", "wait").RequireNode({}, {MakeRequirement("metadata.name", "In", {"n1"})}),
       true},
      {"and so is another's",
       MakeVolume("v", "wait").RequireNode({}, {MakeRequirement("metadata.name", "In", {"n2"})}),
       true},
      {"and one that is excluded",
       MakeVolume("v", "wait").RequireNode({}, {MakeRequirement("metadata.name", "NotIn", {"n1"})}),
       true},
      {"labels beside a name",
       MakeVolume("v", "wait")
           .RequireNode({MakeRequirement("disk", "DoesNotExist")},
                        {MakeRequirement("metadata.name", "In", {"n1"})}),
       false},
      {"labels that hold beside another's name",
       MakeVolume("v", "wait")
           .RequireNode({MakeRequirement("disk", "Exists")},
                        {MakeRequirement("metadata.name", "In", {"n2"})}),
       true},
      {"a name that cannot be parsed",
       MakeVolume("v", "wait")
           .RequireNode({}, {MakeRequirement("metadata.name", "In", {"n1", "n2"})}),
       false},
      {"a term that cannot be parsed",
       MakeVolume("v", "wait").RequireNode({MakeRequirement("disk", "Near", {"ssd"})}), false},
  };
  shown().Set(MakeClaim("a", "wait").BoundTo("v").Obj());
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    shown().Set(c.volume.Obj());
    ASSERT_TRUE(PreFilter(MakePod().ClaimVolume("a"), {Node("n1").Label("disk", "ssd")}).ok());
    EXPECT_EQ(Filter(0), c.n1 ? "" : Rejected({kNodeConflict}));
  }
}

// Which of the volumes the claim gets on node n1: "" for none.
TEST_F(VolumeBindingTest, AClaimGetsTheSmallestVolumeThatFits) {
  const api::StringMap fast = MakeLabels({{"speed", "fast"}});
  const struct {
    const char* name;
    std::function<void(ClaimBuilder&)> claim;
    std::vector<api::PersistentVolume> volumes;
    std::string want;
  } cases[] = {
      {"the smallest",
       [](auto&) {},
       {MakeVolume("a", "local").Capacity("9Gi"), MakeVolume("b", "local").Capacity("6Gi"),
        MakeVolume("c", "local").Capacity("7Gi")},
       "b"},
      {"of two of a size the first by name",
       [](auto&) {},
       {MakeVolume("b", "local"), MakeVolume("a", "local")},
       "a"},
      {"too small", [](auto& c) { c.Request("11Gi"); }, {MakeVolume("a", "local")}, ""},
      {"exactly large enough", [](auto& c) { c.Request("10Gi"); }, {MakeVolume("a", "local")}, "a"},
      {"of another class", [](auto&) {}, {MakeVolume("a", "wait")}, ""},
      {"the class by the old annotation",
       [](auto&) {},
       {MakeVolume("a", "other").Annotation(kStorageClassAnnotation, "local")},
       "a"},
      {"not available", [](auto&) {}, {MakeVolume("a", "local").Phase("Released")}, ""},
      {"being deleted", [](auto&) {}, {MakeVolume("a", "local").Deleted()}, ""},
      {"bound to another claim", [](auto&) {}, {MakeVolume("a", "local").Claim("x", "u")}, ""},
      {"bound to an earlier claim of the name",
       [](auto&) {},
       {MakeVolume("a", "local").Claim("data", "older")},
       ""},
      {"promised by name, before a smaller one, whatever its phase",
       [](auto&) {},
       {MakeVolume("a", "local").Capacity("6Gi"),
        MakeVolume("b", "local").Claim("data").Phase("Pending")},
       "b"},
      {"promised, but too small: a free one",
       [](auto& c) { c.Request("8Gi"); },
       {MakeVolume("a", "local"), MakeVolume("b", "local").Capacity("1Gi").Claim("data")},
       "a"},
      {"promised, but out of reach: none",
       [](auto&) {},
       {MakeVolume("a", "local"), MakeVolume("b", "local").Claim("data").On("n2")},
       ""},
      {"promised, without the modes and labels asked for",
       [](auto& c) {
         c->spec.access_modes = {"ReadWriteMany"};
         c->spec.selector = MakeSelector({{"speed", "fast"}});
       },
       {MakeVolume("a", "local").Claim("data")},
       "a"},
      {"access modes",
       [](auto& c) { c->spec.access_modes = {"ReadOnlyMany", "ReadWriteOnce"}; },
       {MakeVolume("a", "local"),
        MakeVolume("b", "local").Modes({"ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany"})},
       "b"},
      {"a block device for a claim that wants a file system",
       [](auto&) {},
       {MakeVolume("a", "local").Mode("Block"), MakeVolume("b", "local").Mode("Filesystem")},
       "b"},
      {"a block device for one that wants it",
       [](auto& c) { c->spec.volume_mode = "Block"; },
       {MakeVolume("a", "local"), MakeVolume("b", "local").Mode("Block")},
       "b"},
      {"the attributes class of the claim",
       [](auto& c) { c->spec.volume_attributes_class_name = "gold"; },
       {MakeVolume("a", "local"), MakeVolume("b", "local").AttributesClass("gold")},
       "b"},
      {"an attributes class that the claim does not name",
       [](auto&) {},
       {MakeVolume("a", "local").AttributesClass("gold"),
        MakeVolume("b", "local").AttributesClass("")},
       "b"},
      {"the claim's selector",
       [](auto& c) { c->spec.selector = MakeSelector({{"speed", "fast"}}); },
       {MakeVolume("a", "local"), MakeVolume("b", "local").Label("speed", "fast")},
       "b"},
      {"in reach",
       [](auto&) {},
       {MakeVolume("a", "local").On("n2"), MakeVolume("b", "local").On("n1")},
       "b"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    handle.assumed.volumes.clear();
    shown() = {};
    shown().Set(MakeWaitingClass("local", kNoProvisioner));
    ClaimBuilder claim = MakeClaim("data", "local");
    c.claim(claim);
    shown().Set(claim.Obj());
    for (const auto& volume : c.volumes) shown().Set(volume);
    ASSERT_TRUE(PreFilter(MakePod().ClaimVolume("data"), {Node("n1")}).ok());
    EXPECT_EQ(Filter(0), c.want.empty() ? Rejected({kBindConflict}) : "");
    if (c.want.empty()) continue;
    ASSERT_TRUE(plugin().Reserve(state, *info, "n1").ok());
    ASSERT_EQ(handle.assumed.volumes.size(), 1u);
    EXPECT_EQ(handle.assumed.volumes.begin()->first, c.want);
  }
}

TEST_F(VolumeBindingTest, TwoClaimsOfAPodGetTwoVolumes) {
  shown().Set(MakeClaim("large", "local").Request("8Gi").Obj());
  shown().Set(MakeClaim("small", "local").Request("1Gi").Obj());
  shown().Set(MakeVolume("v1", "local").Capacity("10Gi").On("n1").Obj());
  shown().Set(MakeVolume("v2", "local").Capacity("9Gi").On("n1").Obj());
  shown().Set(MakeVolume("v3", "local").Capacity("9Gi").On("n2").Obj());
  const api::Pod pod = MakePod().ClaimVolume("large").ClaimVolume("small");
  ASSERT_TRUE(PreFilter(pod, {Node("n1"), Node("n2")}).ok());
  EXPECT_EQ(Filter(0), "");
  EXPECT_EQ(Filter(1), Rejected({kBindConflict})) << "one volume for two claims";
  ASSERT_TRUE(plugin().Reserve(state, *info, "n1").ok());
  // The smaller claim chooses first.
  EXPECT_EQ(handle.assumed.volumes.at("v2")->spec.claim_ref->name, "small");
  EXPECT_EQ(handle.assumed.volumes.at("v1")->spec.claim_ref->name, "large");
}

TEST_F(VolumeBindingTest, AVolumeIsMadeWhereTheClassAllowsIt) {
  api::StorageClass zonal = MakeWaitingClass("zonal", "csi.example.com");
  zonal.allowed_topologies = {
      {.match_label_expressions = {{"zone", {"east", "north"}}, {"tier", {"1"}}}},
      {},
      {.match_label_expressions = {{"zone", {"south"}}}}};
  shown().Set(zonal);
  shown().Set(MakeClaim("a", "zonal").Obj());
  ASSERT_TRUE(
      PreFilter(MakePod().ClaimVolume("a"), {Node("n1").Label("zone", "east").Label("tier", "1"),
                                             Node("n2").Label("zone", "east").Label("tier", "2"),
                                             Node("n3").Label("zone", "south"), Node("n4")})
          .ok());
  EXPECT_EQ(Filter(0), "");
  EXPECT_EQ(Filter(1), Rejected({kBindConflict}));
  EXPECT_EQ(Filter(2), "");
  EXPECT_EQ(Filter(3), Rejected({kBindConflict})) << "a term without expressions selects nothing";
}

// The API server does not check the values.
TEST_F(VolumeBindingTest, ATermWithAValueThatIsNoLabelAllowsNoNode) {
  api::StorageClass zonal = MakeWaitingClass("zonal", "csi.example.com");
  zonal.allowed_topologies = {{.match_label_expressions = {{"zone", {"east", "all others"}}}},
                              {.match_label_expressions = {{"zone", {"south"}}}}};
  shown().Set(zonal);
  shown().Set(MakeClaim("a", "zonal").Obj());
  ASSERT_TRUE(PreFilter(MakePod().ClaimVolume("a"),
                        {Node("n1").Label("zone", "east"), Node("n2").Label("zone", "south")})
                  .ok());
  EXPECT_EQ(Filter(0), Rejected({kBindConflict}));
  EXPECT_EQ(Filter(1), "");
}

// As a pod group's are, which are judged while others of the group are taken back.
TEST_F(VolumeBindingTest, APodIsJudgedByWhatItFoundAlsoOnceThatIsRestored) {
  shown().Set(MakeClaim("made", "wait").Obj());
  shown().Set(MakeClaim("taken", "local").Obj());
  shown().Set(MakeVolume("v", "local").On("n1").Obj());
  auto claim = MakeClaim("made", "wait").SelectedNode("n1").Ptr();
  auto volume = MakeVolume("v", "local").On("n1").Claim("taken").Ptr();
  const std::weak_ptr<const api::PersistentVolumeClaim> claim_lives = claim;
  const std::weak_ptr<const api::PersistentVolume> volume_lives = volume;
  ASSERT_TRUE(handle.assumed.Assume(claim));
  ASSERT_TRUE(handle.assumed.Assume(volume));
  ASSERT_TRUE(
      PreFilter(MakePod().ClaimVolume("made").ClaimVolume("taken"), {Node("n1"), Node("n2")}).ok());
  handle.assumed.Restore(*claim);
  handle.assumed.Restore(*volume);
  claim.reset();
  volume.reset();
  ASSERT_FALSE(claim_lives.expired());
  ASSERT_FALSE(volume_lives.expired());
  EXPECT_EQ(Filter(0), "");
  EXPECT_EQ(Filter(1), Rejected({kBindConflict}));
}

TEST_F(VolumeBindingTest, AClaimWithASelectedNodeStaysWithIt) {
  shown().Set(MakeClaim("a", "wait").SelectedNode("n2").Obj());
  shown().Set(MakeVolume("free", "wait").Obj());
  shown().Set(MakeClaim("b", "wait").BoundTo("vb").Obj());
  shown().Set(MakeVolume("vb", "wait").On("n1").Obj());
  ASSERT_TRUE(PreFilter(MakePod().ClaimVolume("a"), {Node("n1"), Node("n2")}).ok());
  EXPECT_EQ(Filter(0), Rejected({kBindConflict}));
  EXPECT_EQ(Filter(1), "");
  ASSERT_TRUE(plugin().Reserve(state, *info, "n2").ok());
  EXPECT_TRUE(handle.assumed.volumes.empty()) << "a volume is being made; none is taken";

  ASSERT_TRUE(
      PreFilter(MakePod().ClaimVolume("a").ClaimVolume("b"), {Node("n3"), Node("n2")}).ok());
  EXPECT_EQ(Filter(0), Rejected({kNodeConflict, kBindConflict}));
  EXPECT_EQ(Filter(1), Rejected({kNodeConflict}));
}

TEST_F(VolumeBindingTest, ThereMustBeRoomWhereTheDriverTellsOfIt) {
  const auto cases = [&](const char* name, std::function<void()> change, std::string want) {
    SCOPED_TRACE(name);
    shown() = {};
    shown().Set(MakeWaitingClass("wait", "csi.example.com"));
    shown().Set(MakeClaim("a", "wait").Request("5Gi").Obj());
    TellOfCapacity();
    change();
    ASSERT_TRUE(PreFilter(MakePod().ClaimVolume("a"), {Node("n1")}).ok());
    EXPECT_EQ(Filter(0), want);
  };
  const std::string full = Rejected({kNoSpace});
  cases("none is told of", [] {}, full);
  cases("enough", [&] { shown().Set(Capacity("c", "5Gi", "n1")); }, "");
  cases("too little", [&] { shown().Set(Capacity("c", "4Gi", "n1")); }, full);
  cases("elsewhere", [&] { shown().Set(Capacity("c", "5Gi", "n2")); }, full);
  cases(
      "for another class",
      [&] {
        auto other = Capacity("c", "5Gi", "n1");
        other.storage_class_name = "local";
        shown().Set(other);
      },
      full);
  cases(
      "the largest volume counts before the capacity",
      [&] {
        auto small = Capacity("c", "50Gi", "n1");
        small.maximum_volume_size = *api::Quantity::Parse("4Gi");
        shown().Set(small);
      },
      full);
  cases(
      "only the largest volume is told of",
      [&] {
        auto only = Capacity("c", "0", "n1");
        only.capacity.reset();
        only.maximum_volume_size = *api::Quantity::Parse("6Gi");
        shown().Set(only);
      },
      "");
  cases(
      "nothing is told of",
      [&] {
        auto silent = Capacity("c", "0", "n1");
        silent.capacity.reset();
        shown().Set(silent);
      },
      full);
  cases(
      "no node reaches it",
      [&] {
        auto out = Capacity("c", "9Gi", "n1");
        out.node_topology.reset();
        shown().Set(out);
      },
      full);
  cases(
      "every node reaches it",
      [&] {
        auto all = Capacity("c", "9Gi", "n1");
        all.node_topology.emplace() = {};
        shown().Set(all);
      },
      "");
  cases("the driver does not tell", [&] { TellOfCapacity(false); }, "");
  cases("the driver does not say whether it tells", [&] { TellOfCapacity(std::nullopt); }, "");
  cases("no such driver", [&] { shown().Remove<api::CSIDriver>("", "csi.example.com"); }, "");
  cases(
      "the claim asks for no size",
      [&] {
        ClaimBuilder claim = MakeClaim("a", "wait");
        claim->spec.resources.requests.clear();
        shown().Set(claim.Obj());
      },
      "");
}

TEST_F(VolumeBindingTest, AMigratedVolumeIsWhereItsDriverSaysItIs) {
  VolumeBuilder volume = MakeVolume("v", "").RequireNode(
      {MakeRequirement("topology.kubernetes.io/zone", "In", {"z"})});
  volume->spec.aws_elastic_block_store.emplace().volume_id = "vol-1";
  shown().Set(volume.Obj());
  shown().Set(MakeClaim("a", "").BoundTo("v").Obj());
  for (const char* name : {"n2", "n3"}) {
    api::CSINode node;
    node.metadata.name = name;
    node.metadata.annotations = {{"storage.alpha.kubernetes.io/migrated-plugins",
                                  "kubernetes.io/gce-pd,kubernetes.io/aws-ebs"}};
    shown().Set(node);
  }
  const std::string old_zone = "topology.kubernetes.io/zone";
  const std::string new_zone = "topology.ebs.csi.aws.com/zone";
  ASSERT_TRUE(PreFilter(MakePod().ClaimVolume("a"),
                        {Node("n1").Label(old_zone, "z"), Node("n2").Label(old_zone, "z"),
                         Node("n3").Label(new_zone, "z")})
                  .ok());
  EXPECT_EQ(Filter(0), "");
  EXPECT_EQ(Filter(1), Rejected({kNodeConflict}));
  EXPECT_EQ(Filter(2), "");
}

TEST_F(VolumeBindingTest, AVolumeThatItsDriverCannotServeFailsThePodWhereItIsMigrated) {
  VolumeBuilder volume = MakeVolume("v", "");
  volume->spec.aws_elastic_block_store.emplace().volume_id = "aws://bad";
  shown().Set(volume.Obj());
  shown().Set(MakeClaim("a", "").BoundTo("v").Obj());
  api::CSINode node;
  node.metadata.name = "n2";
  node.metadata.annotations = {
      {"storage.alpha.kubernetes.io/migrated-plugins", "kubernetes.io/aws-ebs"}};
  shown().Set(node);
  ASSERT_TRUE(PreFilter(MakePod().ClaimVolume("a"), {Node("n1"), Node("n2")}).ok());
  EXPECT_EQ(Filter(0), "");
  EXPECT_EQ(Filter(1),
            "Error; could not translate pv: failed to translate Kubernetes ID to EBS Volume ID "
            "Invalid format for AWS volume (aws://bad)");
}

TEST_F(VolumeBindingTest, ASelectorThatCannotBeParsedFailsThePod) {
  ClaimBuilder claim = MakeClaim("a", "wait");
  claim->spec.selector = api::LabelSelector{{}, {{"speed", "Near", {"fast"}}}};
  shown().Set(claim.Obj());
  ASSERT_TRUE(PreFilter(MakePod().ClaimVolume("a"), {Node("n1")}).ok());
  EXPECT_EQ(Filter(0),
            "Error; error creating internal label selector for claim: default/a: \"Near\" is not a "
            "valid label selector operator");
  // Node by node and by column.
  EXPECT_EQ(handle.Metric("volume_scheduling_stage_error_total", {"predicate"}), 2);
}

TEST_F(VolumeBindingTest, ScorePrefersTheNodeWhoseVolumesAreFreer) {
  TellOfCapacity();
  shown().Set(MakeClaim("a", "wait").Request("30Gi").Obj());
  shown().Set(MakeClaim("b", "wait").Request("20Gi").Obj());
  shown().Set(Capacity("c1", "100Gi", "n1"));
  shown().Set(Capacity("c2", "200Gi", "n2"));
  ASSERT_TRUE(
      PreFilter(MakePod().ClaimVolume("a").ClaimVolume("b"), {Node("n1"), Node("n2"), Node("n3")})
          .ok());
  EXPECT_EQ(Filter(2), Rejected({kNoSpace}));
  ASSERT_TRUE(plugin().PreScore(state, *info, *snapshot, snapshot->nodes()).ok());
  std::vector<int64_t> scores(3);
  const std::vector<NodeRow> rows = {0, 1, 2};
  plugin().ScoreNodes(state, *info, *snapshot, rows, scores);
  // 50 of 100, 50 of 200; a node that is not feasible has none.
  EXPECT_THAT(scores, ElementsAre(50, 75, 0));
  for (const NodeRow row : rows) {
    EXPECT_EQ(plugin().Score(state, *info, NodeView(*snapshot, row)).score, scores[row]);
  }
}

TEST_F(VolumeBindingTest, ScoreOfVolumesThatAreThereIsTheMeanOverTheirClasses) {
  shown().Set(MakeWaitingClass("local2", kNoProvisioner));
  shown().Set(MakeClaim("a", "local").Request("5Gi").Obj());
  shown().Set(MakeClaim("b", "local").Request("10Gi").Obj());
  shown().Set(MakeClaim("c", "local2").Request("9Gi").Obj());
  shown().Set(MakeVolume("a1", "local").Capacity("10Gi").On("n1").Obj());
  shown().Set(MakeVolume("b1", "local").Capacity("20Gi").On("n1").Obj());
  shown().Set(MakeVolume("c1", "local2").Capacity("9Gi").On("n1").Obj());
  ASSERT_TRUE(
      PreFilter(MakePod().ClaimVolume("a").ClaimVolume("b").ClaimVolume("c"), {Node("n1")}).ok());
  ASSERT_EQ(Filter(0), "");
  // 15 of 30 is 50, 9 of 9 is 0.
  EXPECT_EQ(plugin().Score(state, *info, NodeView(*snapshot, 0)).score, 25);
}

TEST_F(VolumeBindingTest, ScoreOfAClaimWhoseClassStandsInTheAnnotation) {
  TellOfCapacity();
  ClaimBuilder claim =
      MakeClaim("a", "").Request("50Gi").Annotation(kStorageClassAnnotation, "wait");
  claim->spec.storage_class_name = std::nullopt;
  shown().Set(claim.Obj());
  shown().Set(Capacity("c1", "100Gi", "n1"));
  ASSERT_TRUE(PreFilter(MakePod().ClaimVolume("a"), {Node("n1"), Node("n2")}).ok());
  EXPECT_EQ(Filter(0), "");
  EXPECT_EQ(Filter(1), Rejected({kNoSpace}));
  EXPECT_EQ(plugin().Score(state, *info, NodeView(*snapshot, 0)).score, 50);
}

TEST_F(VolumeBindingTest, NothingIsScoredThatFilterDidNotFind) {
  called.filter = false;
  shown().Set(MakeClaim("a", "local").Request("5Gi").Obj());
  shown().Set(MakeVolume("a1", "local").Capacity("10Gi").Obj());
  ASSERT_TRUE(PreFilter(MakePod().ClaimVolume("a"), {Node("n1")}).ok());
  EXPECT_EQ(plugin().Score(state, *info, NodeView(*snapshot, 0)).score, 0);
}

TEST_F(VolumeBindingTest, ScoreIsSkippedWhereItCouldNotDiffer) {
  shown().Set(MakeClaim("a", "wait").Obj());
  ASSERT_TRUE(PreFilter(MakePod(), {Node("n1")}).skip());
  EXPECT_TRUE(plugin().PreScore(state, *info, *snapshot, snapshot->nodes()).skip());
  handle.gates.storage_capacity_scoring = false;
  VolumeBinding without(args, handle);
  ASSERT_TRUE(PreFilter(MakePod().ClaimVolume("a"), {Node("n1")}).ok());
  EXPECT_TRUE(without.PreScore(state, *info, *snapshot, snapshot->nodes()).skip());
}

}  // namespace
}  // namespace berth::plugins
