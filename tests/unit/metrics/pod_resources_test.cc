// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/pod_resources.h"

#include <gtest/gtest.h>

namespace berth::metrics {
namespace {

api::Quantity Amount(const char* text) { return *api::Quantity::Parse(text); }

std::shared_ptr<api::Pod> Pod(const char* name, const char* node) {
  auto pod = std::make_shared<api::Pod>();
  pod->metadata.namespace_ = "ns";
  pod->metadata.name = name;
  pod->spec.node_name = node;
  pod->spec.scheduler_name = "mine";
  pod->spec.containers.emplace_back();
  return pod;
}

TEST(PodResourcesTest, ShowsEffectiveRequestsAndLimitsWithUnitsButNoZeroes) {
  const auto pod = Pod("b", "n");
  pod->spec.priority = 7;
  pod->spec.containers[0].resources.requests = {{"attachable-volumes-x", Amount("2")},
                                                {"cpu", Amount("250m")},
                                                {"example.com/gpu", Amount("1")},
                                                {"hugepages-2Mi", Amount("4Mi")},
                                                {"memory", Amount("0")}};
  pod->spec.containers[0].resources.limits = {{"memory", Amount("2Gi")}};
  pod->spec.overhead = {{"cpu", Amount("50m")}, {"memory", Amount("1Gi")}};
  const std::shared_ptr<const api::Pod> pods[] = {pod};
  const std::string labels = "{namespace=\"ns\",node=\"n\",pod=\"b\",priority=\"7\",resource=";
  EXPECT_EQ(
      PodResourcesExposition(pods, Registry()),
      "# HELP kube_pod_resource_limit [STABLE] Resources limit for workloads on the cluster, "
      "broken "
      "down by pod. This shows the resource usage the scheduler and kubelet expect per pod for "
      "resources along with the unit for the resource if any.\n"
      "# TYPE kube_pod_resource_limit gauge\n"
      "kube_pod_resource_limit" +
          labels +
          "\"memory\",scheduler=\"mine\",unit=\"bytes\"} "
          "3.221225472e+09\n"
          "# HELP kube_pod_resource_request [STABLE] Resources requested by workloads on the "
          "cluster, "
          "broken down by pod. This shows the resource usage the scheduler and kubelet expect per "
          "pod "
          "for resources along with the unit for the resource if any.\n"
          "# TYPE kube_pod_resource_request gauge\n"
          "kube_pod_resource_request" +
          labels +
          "\"attachable-volumes-x\",scheduler=\"mine\","
          "unit=\"integer\"} 2\n"
          "kube_pod_resource_request" +
          labels +
          "\"cpu\",scheduler=\"mine\",unit=\"cores\"} 0.3\n"
          "kube_pod_resource_request" +
          labels +
          "\"example.com/gpu\",scheduler=\"mine\",unit=\"\"} 1\n"
          "kube_pod_resource_request" +
          labels +
          "\"hugepages-2Mi\",scheduler=\"mine\","
          "unit=\"bytes\"} 4.194304e+06\n"
          "kube_pod_resource_request" +
          labels +
          "\"memory\",scheduler=\"mine\",unit=\"bytes\"} "
          "1.073741824e+09\n");
}

TEST(PodResourcesTest, ShowsFractionsAsGoComputesThem) {
  const auto pod = Pod("b", "n");
  pod->spec.containers[0].resources.requests = {
      {"a", Amount("9m")}, {"b", Amount("1500m")}, {"c", Amount("7u")}, {"d", Amount("3n")}};
  const std::shared_ptr<const api::Pod> pods[] = {pod};
  const std::string text = PodResourcesExposition(pods, Registry());
  for (const char* value :
       {"\"a\",scheduler=\"mine\",unit=\"\"} 0.009000000000000001\n",
        "\"b\",scheduler=\"mine\",unit=\"\"} 1.5\n", "\"c\",scheduler=\"mine\",unit=\"\"} 7e-06\n",
        "\"d\",scheduler=\"mine\",unit=\"\"} 3.0000000000000004e-09\n"}) {
    EXPECT_NE(text.find(value), std::string::npos) << value << text;
  }
}

TEST(PodResourcesTest, LeavesOutPodsThatHaveEndedAndMetricsThatAreDisabled) {
  const auto with_cpu = [](std::shared_ptr<api::Pod> pod) {
    pod->spec.containers[0].resources.requests = {{"cpu", Amount("1")}};
    return pod;
  };
  const auto ended = with_cpu(Pod("ended", "n"));
  ended->status.phase = "Failed";
  const auto pending = with_cpu(Pod("pending", ""));
  pending->status.phase = "Failed";
  const std::shared_ptr<const api::Pod> pods[] = {ended, pending};
  const std::string text = PodResourcesExposition(pods, Registry());
  EXPECT_EQ(text.find("\"ended\""), std::string::npos);
  EXPECT_NE(text.find("node=\"\",pod=\"pending\",priority=\"\","), std::string::npos);
  EXPECT_EQ(PodResourcesExposition(pods, Registry({.show_hidden = false,
                                                   .disabled = {"kube_pod_resource_request"},
                                                   .allowed_values = {}})),
            "");
}

TEST(PodResourcesTest, ShowsPodsInTheOrderOfTheirLabels) {
  const std::shared_ptr<api::Pod> made[] = {Pod("b", "n2"), Pod("c", "n1"), Pod("a", "n2")};
  std::vector<std::shared_ptr<const api::Pod>> pods;
  for (const auto& pod : made) {
    pod->spec.containers[0].resources.requests = {{"cpu", Amount("1")}};
    pods.push_back(pod);
  }
  const std::string text = PodResourcesExposition(pods, Registry());
  EXPECT_LT(text.find("pod=\"c\""), text.find("pod=\"a\""));
  EXPECT_LT(text.find("pod=\"a\""), text.find("pod=\"b\""));
}

}  // namespace
}  // namespace berth::metrics
