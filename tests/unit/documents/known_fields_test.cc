// SPDX-License-Identifier: Apache-2.0
#include "src/documents/known_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/documents/parse.h"
#include "tests/unit/api/testdata.h"

namespace berth::documents {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Unknown(std::string_view yaml, std::string_view api_version = "v1",
                                 std::string_view kind = "Pod") {
  const auto documents = ParseYaml(yaml, "");
  EXPECT_TRUE(documents) << documents.error().message;
  return FindUnknownFields(documents->at(0), api_version, kind);
}

TEST(KnownFieldsTest, FieldsThatTheApiDoesNotHaveAreNamedAndWhatWasMeant) {
  EXPECT_THAT(
      Unknown(R"(
apiVersion: v1
kind: Pod
metadata: {name: p, label: {any: thing}}
spec:
  nodeSelectors: {disk: ssd}
  NodeName: n1
  containers:
  - {name: c, image: i}
  - {name: d, resource: {requests: {cpu: "9"}}, env: [{nam: x}]}
  volumes: [{name: v, emptydir: {}}, {name: w, nfs: {severe: x}}]
  nothingLikeIt: 5
)"),
      ElementsAre(R"(unknown field "metadata.label"; did you mean "labels"?)",
                  R"(unknown field "spec.nodeSelectors"; did you mean "nodeSelector"?)",
                  R"(unknown field "spec.NodeName"; did you mean "nodeName"?)",
                  R"(unknown field "spec.containers[1].resource"; did you mean "resources"?)",
                  R"(unknown field "spec.containers[1].env[0].nam"; did you mean "name"?)",
                  R"(unknown field "spec.volumes[0].emptydir"; did you mean "emptyDir"?)",
                  R"(unknown field "spec.volumes[1].nfs.severe"; did you mean "server"?)",
                  R"(unknown field "spec.nothingLikeIt")"));
}

// Of all that scheduling does not read, too.
TEST(KnownFieldsTest, FieldsThatTheApiHasAreNotNamed) {
  EXPECT_THAT(Unknown(R"(
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {any: thing}, annotations: {b: c}, creationTimestamp: null, managedFields: [{manager: m, fieldsV1: {"f:spec": {}}}]}
spec:
  serviceAccountName: s
  securityContext: {seccompProfile: {type: RuntimeDefault}}
  dnsConfig: {options: [{name: ndots, value: "2"}]}
  containers:
  - name: c
    env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]
    livenessProbe: {httpGet: {path: /, port: http, httpHeaders: [{name: a, value: b}]}}
    resources: {limits: {cpu: "1", any.example.com/thing: 2}}
  volumes:
  - {name: a, projected: {sources: [{configMap: {name: c, items: [{key: a, path: b}]}}]}}
  - {name: b, ephemeral: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 1Gi}}}}}}
status: {phase: Pending}
)"),
              IsEmpty());
  EXPECT_THAT(Unknown("spec: {devices: [{name: d, attributes: {model: {string: x}}}]}",
                      "resource.k8s.io/v1", "ResourceSlice"),
              IsEmpty());
}

TEST(KnownFieldsTest, ValuesOfMapsHaveFields) {
  EXPECT_THAT(Unknown("spec: {devices: [{name: d, attributes: {model: {str: x}}}]}",
                      "resource.k8s.io/v1", "ResourceSlice"),
              ElementsAre(testing::StartsWith(
                  R"(unknown field "spec.devices[0].attributes[\"model\"].str")")));
}

TEST(KnownFieldsTest, OfManyADozenIsNamed) {
  std::string spec;
  for (int i = 0; i < 50; ++i) spec += "  unknown" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(Unknown("spec:\n" + spec), testing::SizeIs(12));
}

TEST(KnownFieldsTest, KindsThatAreNotReadAndWrongTypesAreNotLookedAt) {
  EXPECT_THAT(Unknown("spec: {nonsense: 1}", "example.com/v1", "Pod"), IsEmpty());
  EXPECT_THAT(Unknown("spec: [1, text, null]"), IsEmpty());
  EXPECT_THAT(Unknown("[1]"), IsEmpty());
}

TEST(KnownFieldsTest, AWholePodIsKnown) {
  const auto pod = ParseJson(api::TestData("pod_full.json"), "");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_THAT(FindUnknownFields(*pod, "v1", "Pod"), IsEmpty());
}

}  // namespace
}  // namespace berth::documents
