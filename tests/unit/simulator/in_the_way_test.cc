// SPDX-License-Identifier: Apache-2.0
#include "src/explain/in_the_way.h"

#include <gmock/gmock.h>

#include "berth/field_errors.h"
#include "src/explain/verdict_json.h"
#include "src/explain/verdict_table.h"
#include "tests/support/device_builders.h"
#include "tests/unit/plugins/volume_objects.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::explain {
namespace {

using testing::HasSubstr;
using testing::Not;

class InTheWayTest : public test::SimulatorFixture {
 protected:
  void Judge(const test::PodBuilder& pod) {
    Apply(pod);
    simulation_->RunDue();
    judgement_ = simulation_->scheduler().Judge(simulation_->FindPod("default/pod"));
    judgement_->Explain();
  }
  std::string On(std::string_view node, const test::PodBuilder& pod) {
    Judge(pod);
    return InTheWay(*judgement_).On(judgement_->snapshot().FindNode(node));
  }

  std::unique_ptr<engine::Judgement> judgement_;
};

TEST_F(InTheWayTest, AHostPortIsThatOfAPod) {
  Apply(test::MakeNode("n1"));
  Apply(test::MakePod().Name("other").OnNode("n1").HostPort(81));
  Apply(test::MakePod().Name("there").OnNode("n1").HostPort(80));
  EXPECT_EQ(On("n1", test::MakePod().HostPort(80)), "pod default/there has host port 80/TCP");
}

TEST_F(InTheWayTest, AntiAffinityIsToAPodOrOfOne) {
  Apply(test::MakeNode("n1").Label("zone", "a"));
  Apply(test::MakeNode("n2").Label("zone", "a"));
  Apply(test::MakePod().Name("there").OnNode("n2").Label("app", "web"));
  EXPECT_EQ(On("n1", test::MakePod().PodAntiAffinity("zone", {{"app", "web"}})),
            "pod default/there is in zone=a");
  Restart();
  Apply(test::MakeNode("n1").Label("zone", "a"));
  Apply(test::MakePod().Name("there").OnNode("n1").PodAntiAffinity("zone", {{"app", "web"}}));
  EXPECT_EQ(On("n1", test::MakePod().Label("app", "web")),
            "pod default/there keeps it out of zone=a");
  // Affinity lacks a pod, and no pod is in the way.
  Restart();
  Apply(test::MakeNode("n1").Label("zone", "a"));
  EXPECT_EQ(On("n1", test::MakePod().PodAffinity("zone", {{"app", "db"}})), "");
}

TEST_F(InTheWayTest, ASpreadHasCountsAndASkew) {
  for (const char* zone : {"a", "b", "c"})
    Apply(test::MakeNode(std::string("n-") + zone).Label("zone", zone));
  Apply(test::MakeNode("n-none"));
  for (const char* name : {"p1", "p2"})
    Apply(test::MakePod().Name(name).OnNode("n-a").Label("app", "web"));
  Apply(test::MakePod().Name("p3").OnNode("n-b").Label("app", "web"));
  const auto pod =
      test::MakePod().Label("app", "web").Spread(1, "zone", "DoNotSchedule", {{"app", "web"}});
  EXPECT_EQ(On("n-a", pod), "zone=a has 2 alike, zone=c 0: skew 3 is over 1");
  EXPECT_EQ(On("n-b", pod), "zone=b has 1 alike, zone=c 0: skew 2 is over 1");
  EXPECT_EQ(On("n-none", pod), "it has no label zone");
  api::Pod wide = pod;
  wide.spec.topology_spread_constraints[0].min_domains = 5;
  wide.spec.topology_spread_constraints[0].max_skew = 2;
  simulation_->Apply(std::make_shared<const api::Pod>(wide));
  simulation_->RunDue();
  judgement_ = simulation_->scheduler().Judge(simulation_->FindPod("default/pod"));
  judgement_->Explain();
  EXPECT_EQ(
      InTheWay(*judgement_).On(judgement_->snapshot().FindNode("n-a")),
      "zone=a has 2 alike, and 3 of 5 domains are there, so the least is 0: skew 3 is over 2");
}

TEST_F(InTheWayTest, AClaimForOnePodHasItsUser) {
  Apply(test::MakeNode("n1"));
  Apply(test::MakeNode("n2"));
  api::PersistentVolume volume;
  volume.metadata.name = "disk";
  volume.spec.access_modes = {"ReadWriteOncePod"};
  volume.spec.claim_ref = {"PersistentVolumeClaim", "default", "data", "u", "v1", ""};
  simulation_->Apply(std::make_shared<const api::PersistentVolume>(volume));
  api::PersistentVolumeClaim claim;
  claim.metadata.name = "data";
  claim.metadata.namespace_ = "default";
  claim.metadata.uid = "u";
  claim.metadata.annotations = {{"pv.kubernetes.io/bind-completed", "yes"}};
  claim.spec.access_modes = {"ReadWriteOncePod"};
  claim.spec.volume_name = "disk";
  simulation_->Apply(std::make_shared<const api::PersistentVolumeClaim>(claim));
  Apply(test::MakePod().Name("there").OnNode("n2").ClaimVolume("data"));
  EXPECT_EQ(On("n1", test::MakePod().ClaimVolume("data")),
            "pod default/there on n2 uses claim data");
}

TEST_F(InTheWayTest, AVolumeLimitHasTheVolumesThatReachIt) {
  Apply(test::MakeNode("n1"));
  for (const char* name : {"data", "new"}) {
    api::PersistentVolume volume = test::CsiVolume(name, "disks.example.com", "handle");
    volume.spec.csi->volume_handle += std::string("-") + name;
    volume.spec.claim_ref = {"PersistentVolumeClaim", "default", name, name, "v1", ""};
    simulation_->Apply(std::make_shared<const api::PersistentVolume>(volume));
    api::PersistentVolumeClaim claim = test::Claim(name, name);
    claim.metadata.uid = name;
    claim.metadata.annotations = {{"pv.kubernetes.io/bind-completed", "yes"}};
    simulation_->Apply(std::make_shared<const api::PersistentVolumeClaim>(claim));
  }
  simulation_->Apply(
      std::make_shared<const api::CSINode>(test::NodeDrivers("n1", {{"disks.example.com", 1}})));
  Apply(test::MakePod().Name("there").OnNode("n1").ClaimVolume("data"));
  EXPECT_EQ(On("n1", test::MakePod().ClaimVolume("new")),
            "the limit of disks.example.com is 1, the pod adds 1 to 1: handle-data (pod "
            "default/there)");
}

TEST_F(InTheWayTest, AVolumeInAnotherZoneHasThatZone) {
  constexpr const char* kZone = "topology.kubernetes.io/zone";
  Apply(test::MakeNode("n1").Label(kZone, "a"));
  api::PersistentVolume volume = test::PlainVolume("disk", {{kZone, "b__c"}});
  volume.spec.claim_ref = {"PersistentVolumeClaim", "default", "data", "u", "v1", ""};
  simulation_->Apply(std::make_shared<const api::PersistentVolume>(volume));
  api::PersistentVolumeClaim claim = test::Claim("data", "disk");
  claim.metadata.uid = "u";
  claim.metadata.annotations = {{"pv.kubernetes.io/bind-completed", "yes"}};
  simulation_->Apply(std::make_shared<const api::PersistentVolumeClaim>(claim));
  EXPECT_EQ(On("n1", test::MakePod().ClaimVolume("data")),
            "volume disk of claim data is in topology.kubernetes.io/zone=b or c");
  judgement_->PreviewClaims();
  constexpr const char* kProblem =
      "node(s) had no available volume zone: volume \"disk\" is in "
      "topology.kubernetes.io/zone=b or c";
  std::string text;
  AppendTable(*judgement_, {}, text);
  EXPECT_THAT(text, HasSubstr("  default/data  -     " + std::string(kProblem) + "  n1\n"));
  text.clear();
  VerdictWriter(judgement_->snapshot()).Append(*judgement_, text);
  EXPECT_THAT(
      text, HasSubstr(R"("claims":[{"claim":"default/data","problem":)" + Quoted(kProblem) + "}]"));
}

TEST_F(InTheWayTest, AVolumeInTheNodesZoneKeepsNoPodOut) {
  constexpr const char* kZone = "topology.kubernetes.io/zone";
  Apply(test::MakeNode("n1").Label(kZone, "a"));
  api::PersistentVolume volume = test::PlainVolume("disk", {{kZone, "a"}});
  volume.spec.claim_ref = {"PersistentVolumeClaim", "default", "data", "u", "v1", ""};
  simulation_->Apply(std::make_shared<const api::PersistentVolume>(volume));
  api::PersistentVolumeClaim claim = test::Claim("data", "disk");
  claim.metadata.uid = "u";
  claim.metadata.annotations = {{"pv.kubernetes.io/bind-completed", "yes"}};
  simulation_->Apply(std::make_shared<const api::PersistentVolumeClaim>(claim));
  api::Pod pod = test::MakePod().ClaimVolume("data");
  pod.spec.node_selector = {{"not", "there"}};
  simulation_->Apply(std::make_shared<const api::Pod>(pod));
  simulation_->RunDue();
  judgement_ = simulation_->scheduler().Judge(simulation_->FindPod("default/pod"));
  judgement_->Explain();
  judgement_->PreviewClaims();
  const std::vector<ClaimPreview> claims = judgement_->ClaimsOn(0);
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_EQ(claims[0].volume, "disk");
  EXPECT_EQ(claims[0].problem, "");
}

// A request for all devices is then an error, which leaves no node a verdict.
TEST_F(InTheWayTest, AnInvalidPoolIsNamedInAnErrorToo) {
  Apply(test::MakeNode("n1"));
  simulation_->Apply(std::make_shared<const api::DeviceClass>(test::MakeDeviceClass("gpus")));
  api::ResourceSlice slice = test::MakeNodeSlice("n1", 2);
  slice.spec.devices[1].name = "gpu-0";
  simulation_->Apply(std::make_shared<const api::ResourceSlice>(slice));
  api::ResourceClaim claim = test::MakeDeviceClaim("all").Request("gpu", "gpus").Obj();
  claim.spec.devices.requests[0].exactly->allocation_mode = api::kAllDevices;
  claim.spec.devices.requests[0].exactly->count = 0;
  simulation_->Apply(std::make_shared<const api::ResourceClaim>(claim));
  Judge(test::MakePod().ResourceClaim("all"));
  EXPECT_EQ(judgement_->kind(), engine::Judgement::Kind::kError);
  EXPECT_THAT(judgement_->message(), testing::EndsWith("is currently invalid"));
  judgement_->PreviewClaims();
  constexpr const char* kWhy =
      "is currently invalid: gpu.example.com/n1: duplicate device name gpu-0";
  std::string text;
  AppendTable(*judgement_, {}, text);
  EXPECT_THAT(text, HasSubstr(kWhy));
  text.clear();
  VerdictWriter(judgement_->snapshot()).Append(*judgement_, text);
  EXPECT_THAT(text, HasSubstr(R"("nodes":{"n1":{"claims":[{"claim":"default/all",)"));
  EXPECT_THAT(text, HasSubstr(kWhy));
}

TEST_F(InTheWayTest, ItStandsInTablesAndWhereAskedForInDocuments) {
  Apply(test::MakeNode("n1"));
  Apply(test::MakePod().Name("there").OnNode("n1").HostPort(80));
  Judge(test::MakePod().HostPort(80));
  std::string table;
  AppendTable(*judgement_, {}, table);
  EXPECT_THAT(table, HasSubstr("  In the way, for example:\n"
                               "    n1: pod default/there has host port 80/TCP\n"));
  const auto document = [this](bool in_the_way) {
    std::string out;
    VerdictWriter(judgement_->snapshot(), in_the_way).Append(*judgement_, out);
    return out;
  };
  EXPECT_THAT(
      document(true),
      HasSubstr(R"("inTheWay":{"n1":"pod default/there has host port 80/TCP"},"message":)"));
  EXPECT_THAT(document(false), Not(HasSubstr("inTheWay")));
}

TEST_F(InTheWayTest, ATableSaysWhichPluginLeftNodesOut) {
  Apply(test::MakeNode("n1"));
  Apply(test::MakeNode("n2").Unschedulable());
  const auto only_n2 = [] {
    api::Pod pod = test::MakePod();
    api::NodeSelectorTerm term;
    term.match_fields.push_back({"metadata.name", "In", {"n2"}});
    pod.spec.affinity.emplace()
        .node_affinity.emplace()
        .required_during_scheduling_ignored_during_execution = api::NodeSelector{{term}};
    return pod;
  }();
  simulation_->Apply(std::make_shared<const api::Pod>(only_n2));
  simulation_->RunDue();
  judgement_ = simulation_->scheduler().Judge(simulation_->FindPod("default/pod"));
  judgement_->Explain();
  std::string table;
  AppendTable(*judgement_, {}, table);
  EXPECT_THAT(table, HasSubstr("prefilter: node(s) didn't satisfy plugin(s) [NodeAffinity]"));
}

}  // namespace
}  // namespace berth::explain
