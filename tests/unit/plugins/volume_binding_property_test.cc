// SPDX-License-Identifier: Apache-2.0
// VolumeBinding on random volumes and claims: no volume goes to two claims, and the volume that a
// claim gets is the one that a plain walk over all volumes finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "berth/random.h"
#include "plugins/volume_binding/pod_claims.h"
#include "tests/unit/plugins/volume_binding_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

constexpr size_t kNodes = 4;

api::Quantity Size(const api::ResourceList& list) { return *api::Find(list, "storage"); }

bool Reaches(const api::Node& node, const api::PersistentVolume& volume) {
  return VolumeAffinity(volume.spec.node_affinity).Matches(node);
}

class VolumeBindingPropertyTest : public testing::Test, public VolumeBindingFixture {
 protected:
  void Draw(uint64_t seed) {
    random_ = Random(seed);
    PlainListers& shown = handle.plain_listers = {};
    shown.Set(MakeWaitingClass("wait", "csi.example.com"));
    shown.Set(MakeWaitingClass("local", kNoProvisioner));
    handle.assumed.volumes.clear();
    handle.assumed.claims.clear();
    nodes_.clear();
    for (size_t i = 0; i < kNodes; ++i) nodes_.push_back(Node("n" + std::to_string(i)));
    for (uint64_t i = 0; i < 12; ++i) shown.Set(DrawVolume(i));
    claims_.clear();
    for (uint64_t i = 0; i < 10; ++i) {
      claims_.push_back("c" + std::to_string(i));
      shown.Set(DrawClaim(claims_.back()));
    }
  }
  std::string_view DrawClass() { return random_.Below(4) == 0 ? "wait" : "local"; }
  api::PersistentVolume DrawVolume(uint64_t i) {
    VolumeBuilder volume =
        MakeVolume("v" + std::to_string(random_.Below(90) + 10 * i), DrawClass());
    volume.Capacity(std::to_string(4 + random_.Below(4)) + "Gi");
    if (random_.Below(2) == 0) volume.On("n" + std::to_string(random_.Below(kNodes)));
    if (random_.Below(8) == 0) volume.Claim("c" + std::to_string(random_.Below(10)));
    if (random_.Below(8) == 0) volume.Phase("Released");
    if (random_.Below(6) == 0) volume.Mode("Block");
    if (random_.Below(3) == 0) volume.Label("speed", "fast");
    if (random_.Below(3) == 0) volume.Modes({"ReadWriteOnce", "ReadWriteMany"});
    return volume;
  }
  api::PersistentVolumeClaim DrawClaim(const std::string& name) {
    ClaimBuilder claim = MakeClaim(name, DrawClass());
    claim.Request(std::to_string(3 + random_.Below(4)) + "Gi");
    if (random_.Below(6) == 0) claim->spec.volume_mode = "Block";
    if (random_.Below(4) == 0) claim->spec.selector = MakeSelector({{"speed", "fast"}});
    if (random_.Below(4) == 0) claim->spec.access_modes = {"ReadWriteMany"};
    return claim;
  }
  // A pod with one to three of the claims.
  api::Pod DrawPod(int i) {
    PodBuilder pod = MakePod().Name("p" + std::to_string(i));
    const uint64_t first = random_.Below(claims_.size());
    for (uint64_t k = 0; k <= random_.Below(3); ++k) {
      pod.ClaimVolume(claims_[(first + k) % claims_.size()]);
    }
    return pod;
  }

  // kube-scheduler's walk: every volume in turn, the smallest that fits, unless one is promised.
  const api::PersistentVolume* Walk(const api::PersistentVolumeClaim& claim, const api::Node& node,
                                    const std::set<std::string>& chosen) {
    const api::PersistentVolume* best = nullptr;
    const api::PersistentVolume* promised = nullptr;
    bool stopped = false;
    const auto selector = LabelSelectorMatcher::Make(claim.spec.selector);
    const auto visit = [&](const api::PersistentVolume& volume) {
      if (stopped || chosen.contains(volume.metadata.name)) return;
      const bool is_promised = IsPromisedTo(volume, claim);
      if (volume.spec.claim_ref && !is_promised) return;
      if (Size(volume.spec.capacity) < Size(claim.spec.resources.requests)) return;
      if (volume.spec.volume_mode.value_or("Filesystem") !=
          claim.spec.volume_mode.value_or("Filesystem")) {
        return;
      }
      if (is_promised) {
        stopped = true;
        promised = Reaches(node, volume) ? &volume : nullptr;
        return;
      }
      if (volume.status.phase != "Available") return;
      if (claim.spec.selector && !selector->Matches(volume.metadata.labels)) return;
      if (!Reaches(node, volume)) return;
      for (const std::string& mode : claim.spec.access_modes) {
        if (std::ranges::find(volume.spec.access_modes, mode) == volume.spec.access_modes.end()) {
          return;
        }
      }
      if (best == nullptr || Size(best->spec.capacity) > Size(volume.spec.capacity)) best = &volume;
    };
    handle.assumed.ForEachVolumeOfClass(StorageClassOf(claim), visit);
    return stopped ? promised : best;
  }

  // By claim the volume that the walk finds for the pod on the node; nullopt: the node does not do.
  std::optional<std::map<std::string, std::string>> WalkPod(const api::Pod& pod,
                                                            const api::Node& node) {
    std::vector<const api::PersistentVolumeClaim*> claims;
    for (const api::Volume& volume : pod.spec.volumes) {
      claims.push_back(handle.assumed.FindClaim("default", *ClaimNameOf(pod, volume)));
      const auto* selected =
          api::Find(claims.back()->metadata.annotations, kSelectedNodeAnnotation);
      if (selected != nullptr && *selected != node.metadata.name) return std::nullopt;
    }
    std::ranges::stable_sort(
        claims, {}, [](const auto* claim) { return Size(claim->spec.resources.requests); });
    std::map<std::string, std::string> found;
    std::set<std::string> chosen;
    for (const auto* claim : claims) {
      const bool selected =
          api::Find(claim->metadata.annotations, kSelectedNodeAnnotation) != nullptr;
      const auto* volume = selected ? nullptr : Walk(*claim, node, chosen);
      if (volume != nullptr) {
        chosen.insert(volume->metadata.name);
        found[claim->metadata.name] = volume->metadata.name;
      } else if (StorageClassOf(*claim) == "local") {
        return std::nullopt;
      }
    }
    return found;
  }

  // By volume the claim that it is bound to, as assumed; no claim has two.
  void ExpectNoneGivenTwice() {
    std::set<std::string> taken;
    for (const auto& [name, volume] : handle.assumed.volumes) {
      ASSERT_TRUE(volume->spec.claim_ref);
      EXPECT_TRUE(taken.insert(volume->spec.claim_ref->name).second)
          << "two volumes for " << volume->spec.claim_ref->name;
      const auto* shown = handle.plain_listers.Find<api::PersistentVolume>(name);
      if (shown->spec.claim_ref) {
        EXPECT_EQ(shown->spec.claim_ref->name, volume->spec.claim_ref->name);
      }
    }
  }

  Random random_{1};
  std::vector<api::Node> nodes_;
  std::vector<std::string> claims_;
};

TEST_F(VolumeBindingPropertyTest, TheVolumesOfAPodAreThoseOfAPlainWalkAndGoToNoOther) {
  int reserved = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Draw(seed);
    std::vector<std::pair<CycleState, PodInfoPtr>> under_way;
    for (int i = 0; i < 12; ++i) {
      const api::Pod pod = DrawPod(i);
      ASSERT_TRUE(PreFilter(pod, nodes_).ok());
      NodeSet passed = snapshot->nodes();
      ASSERT_TRUE(plugin().FilterNodes(state, *info, *snapshot, passed).ok());
      for (NodeRow row = 0; row < kNodes; ++row) {
        const bool fits = Filter(row).empty();
        EXPECT_EQ(fits, passed.Test(row));
        EXPECT_EQ(fits, WalkPod(pod, nodes_[row]).has_value());
      }
      const auto row = static_cast<NodeRow>(random_.Below(kNodes));
      if (!passed.Test(row)) continue;
      const auto want = WalkPod(pod, nodes_[row]);
      ASSERT_TRUE(plugin().Reserve(state, *info, nodes_[row].metadata.name).ok());
      ++reserved;
      for (const auto& [claim, volume] : *want) {
        EXPECT_EQ(handle.assumed.FindVolume(volume)->spec.claim_ref->name, claim);
      }
      ExpectNoneGivenTwice();
      under_way.emplace_back(std::move(state), info);
      if (random_.Below(4) == 0) {
        const size_t back = random_.Below(under_way.size());
        plugin().Unreserve(under_way[back].first, *under_way[back].second, "");
        under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(back));
      }
    }
    for (auto& [its_state, pod] : under_way) plugin().Unreserve(its_state, *pod, "");
    EXPECT_TRUE(handle.assumed.volumes.empty());
    EXPECT_TRUE(handle.assumed.claims.empty());
  }
  EXPECT_GT(reserved, 500);
}

}  // namespace
}  // namespace berth::plugins
