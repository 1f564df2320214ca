// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/pod_controllers.h"

#include <gmock/gmock.h>

#include "src/documents/parse.h"
#include "src/informers/kinds.h"
#include "tests/support/builders.h"

namespace berth::simulator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Pair;

class PodMakerTest : public testing::Test {
 protected:
  // What a controller makes of its manifest.
  std::vector<api::ObjectPtr> Make(std::string_view kind, const std::string& meta,
                                   const std::string& spec) {
    const std::string_view version = kind == "ReplicationController" ? "v1"
                                     : kind.ends_with("Job")         ? "batch/v1"
                                                                     : "apps/v1";
    const auto value =
        documents::ParseJson(R"({"metadata":)" + meta + R"(,"spec":)" + spec + "}", "");
    const auto read = ReadPodController(*value, {std::string(version), std::string(kind)}, "");
    if (!read) {
      problem_ = read.error().message;
      return {};
    }
    if (!*read) return {};
    auto made = maker_.Make(**read);
    return made ? *std::move(made) : std::vector<api::ObjectPtr>();
  }
  static std::vector<std::string> Keys(const std::vector<api::ObjectPtr>& objects) {
    std::vector<std::string> keys;
    for (const api::ObjectPtr& object : objects) {
      const bool pod = api::As<api::Pod>(object) != nullptr;
      keys.push_back((pod ? "" : "+") + api::MetaOf(object)->Key());
    }
    return keys;
  }
  static const api::Pod& Last(const std::vector<api::ObjectPtr>& objects) {
    return *api::As<api::Pod>(objects.back());
  }
  void See(const test::NodeBuilder& node) { maker_.See(api::ObjectPtr(node.Ptr())); }
  void See(const test::PodBuilder& pod) { maker_.See(api::ObjectPtr(pod.Ptr())); }

  PodMaker maker_;
  std::string problem_;
};

constexpr const char* kTemplate =
    R"("template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c"}]}})";

std::string Spec(const std::string& members) {
  return "{" + members + (members.empty() ? "" : ",") + kTemplate + "}";
}

TEST_F(PodMakerTest, ADeploymentMakesItsReplicaSetAndPods) {
  const auto made = Make("Deployment", R"({"name":"web","namespace":"shop"})",
                         Spec(R"("replicas":2,"selector":{"matchLabels":{"app":"web"}})"));
  EXPECT_THAT(Keys(made), ElementsAre("+shop/web-new", "shop/web-new-0", "shop/web-new-1"));
  const auto& set = *api::As<api::ReplicaSet>(made[0]);
  EXPECT_EQ(set.metadata.owner_references.at(0).name, "web");
  EXPECT_THAT(set.spec.selector->match_labels,
              ElementsAre(Pair("app", "web"), Pair("pod-template-hash", "new")));
  EXPECT_THAT(Last(made).metadata.labels,
              ElementsAre(Pair("app", "web"), Pair("pod-template-hash", "new")));
  EXPECT_EQ(Last(made).metadata.owner_references.at(0).name, "web-new");
  EXPECT_EQ(Last(made).metadata.owner_references.at(0).kind, "ReplicaSet");
}

TEST_F(PodMakerTest, PodsThatAreThereCount) {
  See(test::MakePod().Name("a").Owner("ReplicaSet", "web", "uid"));
  See(test::MakePod().Name("web-new-0"));
  EXPECT_THAT(Keys(Make("ReplicaSet", R"({"name":"web"})", Spec(R"("replicas":3)"))),
              ElementsAre("default/web-new-1", "default/web-new-2"));
  EXPECT_THAT(Keys(Make("ReplicaSet", R"({"name":"web"})", Spec(R"("replicas":4)"))),
              ElementsAre("default/web-new-3"));
  EXPECT_THAT(Keys(Make("ReplicationController", R"({"name":"web"})", Spec(""))),
              ElementsAre("default/web-new-4"));
}

TEST_F(PodMakerTest, PodsOfADeploymentCountByTheirReplicaSet) {
  api::ReplicaSet set;
  set.metadata.name = "web-1";
  set.metadata.namespace_ = "default";
  set.metadata.owner_references.push_back({"apps/v1", "Deployment", "web", "u", true});
  maker_.See(std::make_shared<const api::ReplicaSet>(set));
  See(test::MakePod().Name("a").Owner("ReplicaSet", "web-1", "uid"));
  EXPECT_THAT(Keys(Make("Deployment", R"({"name":"web"})", Spec(R"("replicas":2)"))),
              ElementsAre("+default/web-new", "default/web-new-0"));
}

TEST_F(PodMakerTest, AStatefulSetHasOrdinalsAndClaims) {
  See(test::MakePod().Name("db-4"));
  const auto made =
      Make("StatefulSet", R"({"name":"db"})",
           Spec(R"("replicas":2,"ordinals":{"start":3},"volumeClaimTemplates":[{"metadata":
              {"name":"data"},"spec":{"storageClassName":"fast"}}])"));
  EXPECT_THAT(Keys(made), ElementsAre("+default/data-db-3", "default/db-3"));
  EXPECT_EQ(api::As<api::PersistentVolumeClaim>(made[0])->spec.storage_class_name, "fast");
  EXPECT_EQ(Last(made).spec.volumes.at(0).persistent_volume_claim->claim_name, "data-db-3");
  EXPECT_THAT(Last(made).metadata.labels,
              IsSupersetOf({Pair("apps.kubernetes.io/pod-index", "3"),
                            Pair("statefulset.kubernetes.io/pod-name", "db-3")}));
}

TEST_F(PodMakerTest, ADaemonSetHasAPodOnEachNodeThatItsControllerChooses) {
  See(test::MakeNode("n1").Label("os", "linux"));
  See(test::MakeNode("n2").Label("os", "linux").Taint("gpu", "yes", "NoSchedule"));
  See(test::MakeNode("n3")
          .Label("os", "linux")
          .Taint("node.kubernetes.io/unschedulable", "", "NoSchedule"));
  See(test::MakeNode("n4").Label("os", "linux").Taint("soft", "", "PreferNoSchedule"));
  See(test::MakeNode("n5").Label("os", "windows"));
  See(test::MakePod().Name("agent-x").OnNode("n4").Owner("DaemonSet", "agent", "uid"));
  const auto made =
      Make("DaemonSet", R"({"name":"agent"})",
           R"({"template":{"spec":{"containers":[{}],"nodeSelector":{"os":"linux"}}}})");
  EXPECT_THAT(Keys(made), ElementsAre("default/agent-n1", "default/agent-n3"));
  const auto& terms =
      Last(made)
          .spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution
          ->node_selector_terms;
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_THAT(terms[0].match_fields.at(0).values, ElementsAre("n3"));
  EXPECT_EQ(Last(made).spec.tolerations.size(), 6u);
  EXPECT_THAT(Make("DaemonSet", R"({"name":"agent"})",
                   R"({"template":{"spec":{"containers":[{}],"nodeSelector":{"os":"linux"}}}})"),
              IsEmpty());
}

TEST_F(PodMakerTest, AJobHasThePodsThatRunAtOnce) {
  EXPECT_THAT(Keys(Make("Job", R"({"name":"a"})", Spec(""))), ElementsAre("default/a-new-0"));
  EXPECT_THAT(Keys(Make("Job", R"({"name":"b"})", Spec(R"("parallelism":5,"completions":2)"))),
              ElementsAre("default/b-new-0", "default/b-new-1"));
  EXPECT_THAT(Make("Job", R"({"name":"c"})", Spec(R"("suspend":true)")), IsEmpty());
  const auto made = Make("Job", R"({"name":"d"})",
                         Spec(R"("parallelism":2,"completions":9,"completionMode":"Indexed")"));
  EXPECT_THAT(Keys(made), ElementsAre("default/d-0", "default/d-1"));
  EXPECT_THAT(
      Last(made).metadata.labels,
      IsSupersetOf({Pair("batch.kubernetes.io/job-completion-index", "1"), Pair("job-name", "d")}));
}

TEST_F(PodMakerTest, ACronJobRunsOnce) {
  const std::string job = R"({"jobTemplate":{"spec":)" + Spec(R"("parallelism":2)") + "}";
  const auto made = Make("CronJob", R"({"name":"nightly"})", job + "}");
  EXPECT_THAT(Keys(made), ElementsAre("default/nightly-new-0", "default/nightly-new-1"));
  EXPECT_EQ(Last(made).metadata.owner_references.at(0).kind, "Job");
  EXPECT_THAT(Make("CronJob", R"({"name":"off"})", job + R"(,"suspend":true})"), IsEmpty());
}

TEST_F(PodMakerTest, AWorkloadMayAskForAName) {
  std::vector<PodController> controllers(5);
  for (PodController& controller : controllers) {
    controller.kind = "Job";
    controller.metadata.namespace_ = "default";
    controller.generate_name = "run-";
  }
  controllers[1].metadata.name = "run-1";
  controllers[3].kind = "ReplicaSet";
  See(test::MakePod().Name("p").Owner("Job", "run-2", "uid"));
  maker_.Name(controllers);
  std::vector<std::string> names;
  for (const PodController& controller : controllers) names.push_back(controller.metadata.name);
  EXPECT_THAT(names, ElementsAre("run-3", "run-1", "run-4", "run-1", "run-5"));
}

TEST_F(PodMakerTest, ATemplateWithoutContainersMakesNothing) {
  EXPECT_THAT(Make("ReplicaSet", R"({"name":"r"})", R"({"template":{"spec":{}}})"), IsEmpty());
  EXPECT_EQ(problem_, "");
}

TEST_F(PodMakerTest, WhatNoAPIServerWouldTakeIsAnError) {
  const auto problem = [this](std::string_view kind, const std::string& meta,
                              const std::string& spec) {
    problem_.clear();
    Make(kind, meta, spec);
    return problem_;
  };
  EXPECT_EQ(problem("Deployment", "{}", Spec("")),
            "metadata.name: Required value: an object of a cluster has a name");
  EXPECT_EQ(problem("Deployment", R"({"name":"d"})", Spec(R"("replicas":"x")")),
            "spec.replicas: Invalid value: \"x\": must be a number that is not negative");
  EXPECT_EQ(problem("StatefulSet", R"({"name":"d"})", Spec(R"("volumeClaimTemplates":[{}])")),
            "spec.volumeClaimTemplates[0].metadata.name: Required value");
  EXPECT_THAT(problem("Job", R"({"name":"d"})",
                      R"({"template":{"spec":{"containers":[{}],"nodeSelector":{"a b":"c"}}}})"),
              testing::StartsWith("spec.template: spec.nodeSelector: "));
}

}  // namespace
}  // namespace berth::simulator
