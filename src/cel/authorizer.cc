// SPDX-License-Identifier: Apache-2.0
#include "src/cel/environment.h"

// Kubernetes' functions about what a user may do. Only admission has an authorizer to ask:
// elsewhere their names are declared, and no value fits them.
namespace berth::cel {
namespace {

Value Unfit(Budget&, std::span<Value>) { return Value::Error("no such overload"); }

}  // namespace

void AddAuthorizer(Environment& environment) {
#define AUTHORIZATION "kubernetes.authorization."
#define RESOURCE AUTHORIZATION "ResourceCheck"
  static constexpr FunctionRow kRows[] = {
      {"path", "authorizer_path", AUTHORIZATION "Authorizer.(string) " AUTHORIZATION "PathCheck",
       Unfit},
      {"group", "authorizer_group", AUTHORIZATION "Authorizer.(string) " AUTHORIZATION "GroupCheck",
       Unfit},
      {"serviceAccount", "authorizer_serviceaccount",
       AUTHORIZATION "Authorizer.(string, string) " AUTHORIZATION "Authorizer", Unfit},
      {"resource", "groupcheck_resource", AUTHORIZATION "GroupCheck.(string) " RESOURCE, Unfit},
      {"subresource", "resourcecheck_subresource", RESOURCE ".(string) " RESOURCE, Unfit},
      {"namespace", "resourcecheck_namespace", RESOURCE ".(string) " RESOURCE, Unfit},
      {"name", "resourcecheck_name", RESOURCE ".(string) " RESOURCE, Unfit},
      {"check", "pathcheck_check", AUTHORIZATION "PathCheck.(string) " AUTHORIZATION "Decision",
       Unfit},
      {"check", "resourcecheck_check", RESOURCE ".(string) " AUTHORIZATION "Decision", Unfit},
      {"errored", "decision_errored", AUTHORIZATION "Decision.() bool", Unfit},
      {"error", "decision_error", AUTHORIZATION "Decision.() string", Unfit},
      {"allowed", "decision_allowed", AUTHORIZATION "Decision.() bool", Unfit},
      {"reason", "decision_reason", AUTHORIZATION "Decision.() string", Unfit},
      {"fieldSelector", "authorizer_fieldselector", RESOURCE ".(string) " RESOURCE, Unfit},
      {"labelSelector", "authorizer_labelselector", RESOURCE ".(string) " RESOURCE, Unfit},
  };
#undef RESOURCE
#undef AUTHORIZATION
  environment.Add(kRows);
}

}  // namespace berth::cel
