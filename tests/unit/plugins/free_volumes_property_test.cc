// SPDX-License-Identifier: Apache-2.0
// FreeVolumes must find what a walk over all volumes finds.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "berth/random.h"
#include "plugins/volume_binding/pod_claims.h"
#include "tests/support/volume_builders.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

constexpr const char* kKeys[] = {
    "kubernetes.io/hostname", "topology.kubernetes.io/zone", "rack", "disk", "row", "room"};
constexpr const char* kValues[] = {"a", "b", "c.example", "d_1"};

class FreeVolumesWalk {
 public:
  explicit FreeVolumesWalk(uint64_t seed) : random_(seed) {}

  void Run() {
    std::vector<api::PersistentVolume> volumes;
    for (uint64_t i = random_.Below(30); i > 0; --i) {
      volumes.push_back(DrawVolume("v" + std::to_string(i)));
    }
    FreeVolumes free;
    for (const api::PersistentVolume& volume : volumes) free.Add(volume);
    for (int i = 0; i < 20; ++i) {
      const api::Node node = DrawNode();
      std::set<const api::PersistentVolume*> taken;
      for (const api::PersistentVolume& volume : volumes) {
        if (Chance(4)) taken.insert(&volume);
      }
      const auto is_taken = [&](const api::PersistentVolume* volume) {
        return taken.contains(volume);
      };
      const api::PersistentVolume* want = nullptr;
      for (const api::PersistentVolume& volume : volumes) {
        if (want != nullptr || is_taken(&volume)) continue;
        if (VolumeAffinity(volume.spec.node_affinity).Matches(node)) want = &volume;
      }
      ASSERT_EQ(free.FindFirst(node, is_taken), want);
      (want == nullptr ? none : found) += 1;
    }
  }

  size_t found = 0;
  size_t none = 0;

 private:
  bool Chance(uint64_t one_in) { return random_.Below(one_in) == 0; }
  // Mostly the host's name.
  std::string Key() { return kKeys[Chance(2) ? 0 : random_.Below(std::size(kKeys))]; }
  std::string Value() { return kValues[random_.Below(std::size(kValues))]; }

  api::NodeSelectorRequirement DrawRequirement() {
    if (Chance(12)) return MakeRequirement(Key(), Chance(2) ? "Exists" : "DoesNotExist", {});
    std::vector<std::string> values = {Value()};
    while (Chance(3)) values.push_back(Value());
    if (Chance(12)) return MakeRequirement(Key(), "NotIn", values);
    // No selector may say these.
    if (Chance(20)) return MakeRequirement(Key(), "Near", values);
    if (Chance(20)) return MakeRequirement(Key(), "In", {"not a value"});
    if (Chance(20)) return MakeRequirement("not a key", "In", values);
    if (Chance(20)) return MakeRequirement(Key(), "In", {});
    return MakeRequirement(Key(), "In", values);
  }

  api::PersistentVolume DrawVolume(const std::string& name) {
    VolumeBuilder volume = MakeVolume(name, "local");
    if (Chance(15)) return volume;
    if (Chance(15)) {
      volume->spec.node_affinity.emplace();
      if (Chance(2)) volume->spec.node_affinity->required.emplace();
      return volume;
    }
    do {
      std::vector<api::NodeSelectorRequirement> expressions;
      std::vector<api::NodeSelectorRequirement> fields;
      if (!Chance(12)) expressions.push_back(DrawRequirement());
      while (Chance(4)) expressions.push_back(DrawRequirement());
      if (Chance(12)) {
        fields.push_back(
            MakeRequirement("metadata.name", Chance(2) ? "In" : "NotIn", {Chance(2) ? "" : "a"}));
      }
      volume.RequireNode(expressions, fields);
    } while (Chance(4));
    return volume;
  }

  api::Node DrawNode() {
    NodeBuilder node = MakeNode("a");
    for (const char* key : kKeys) {
      if (!Chance(5)) node.Label(key, Chance(20) ? "not a value" : Value());
    }
    if (Chance(10)) node.Label("not a key", Value());
    return node.Obj();
  }

  Random random_;
};

TEST(FreeVolumesPropertyTest, FindsWhatAWalkOverAllVolumesFinds) {
  size_t found = 0;
  size_t none = 0;
  for (uint64_t seed = 1; seed <= 500 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    FreeVolumesWalk walk(seed);
    walk.Run();
    found += walk.found;
    none += walk.none;
  }
  EXPECT_GT(found, 3000u);
  EXPECT_GT(none, 1000u);
}

}  // namespace
}  // namespace berth::plugins
