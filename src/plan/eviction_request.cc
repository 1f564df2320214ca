// SPDX-License-Identifier: Apache-2.0
#include "src/plan/eviction_request.h"

#include <algorithm>

#include "berth/config_value.h"
#include "src/base/json.h"
#include "src/base/text.h"
#include "src/documents/parse.h"

namespace berth::plan {
namespace {

constexpr std::string_view kRequester = "berth.dev/plan";

const ConfigValue* MemberOf(const ConfigValue* value, std::string_view member) {
  return value == nullptr || value->map() == nullptr ? nullptr : value->Find(member);
}

std::string_view StringOf(const ConfigValue* value, std::string_view member) {
  const ConfigValue* found = MemberOf(value, member);
  return found == nullptr || found->string() == nullptr ? std::string_view() : *found->string();
}

const ConfigValue::List& ElementsOf(const ConfigValue* value, std::string_view member) {
  static const ConfigValue::List kNoElements;
  const ConfigValue* found = MemberOf(value, member);
  return found == nullptr || found->list() == nullptr ? kNoElements : *found->list();
}

}  // namespace

std::string EvictionRequestName(const api::Pod& pod) { return "berth-plan-" + pod.metadata.uid; }

std::string EvictionRequestBody(const api::Pod& pod) {
  std::string body;
  base::JsonObject request(body);
  request.Add("apiVersion", "lifecycle.k8s.io/v1alpha1");
  request.Add("kind", "EvictionRequest");
  base::JsonObject meta(request.Key("metadata"));
  meta.Add("namespace", pod.metadata.namespace_);
  meta.Add("name", EvictionRequestName(pod));
  base::JsonList owners(meta.Key("ownerReferences"));
  base::JsonObject owner(owners.Next());
  owner.Add("apiVersion", "v1");
  owner.Add("kind", "Pod");
  owner.Add("name", pod.metadata.name);
  owner.Add("uid", pod.metadata.uid);
  owner.Close();
  owners.Close();
  meta.Close();
  base::JsonObject spec(request.Key("spec"));
  spec.Add("intent", "Eviction");
  spec.Add("requester", kRequester);
  base::JsonObject target(spec.Key("target"));
  base::JsonObject of_pod(target.Key("pod"));
  of_pod.Add("name", pod.metadata.name);
  of_pod.Add("uid", pod.metadata.uid);
  of_pod.Close();
  target.Close();
  spec.Close();
  request.Close();
  return body;
}

Result<RequestState> ReadEvictionRequest(std::string_view json) {
  const auto request = documents::ParseJson(json, "the EvictionRequest");
  if (!request) return Fail(request.error());
  if (StringOf(&*request, "kind") != "EvictionRequest") {
    return Fail("the API server's answer is no EvictionRequest");
  }
  using Kind = RequestState::Kind;
  if (StringOf(MemberOf(&*request, "spec"), "intent") == "Withdrawn") {
    return RequestState{Kind::kFailed, "its EvictionRequest was withdrawn"};
  }
  const ConfigValue* status = MemberOf(&*request, "status");
  for (const ConfigValue& condition : ElementsOf(status, "conditions")) {
    if (StringOf(&condition, "type") != "Failed" || StringOf(&condition, "status") != "True") {
      continue;
    }
    const std::string_view message = StringOf(&condition, "message");
    return RequestState{Kind::kFailed, base::Concat("its EvictionRequest has failed: ",
                                                    StringOf(&condition, "reason"),
                                                    message.empty() ? "" : ": ", message)};
  }
  const bool seen = MemberOf(status, "observedGeneration") != nullptr ||
                    !ElementsOf(status, "conditions").empty();
  return RequestState{seen ? Kind::kTaken : Kind::kUnseen, ""};
}

bool HasEvictionRequests(std::string_view json) {
  const auto list = documents::ParseJson(json, "the resources");
  return list && std::ranges::any_of(ElementsOf(&*list, "resources"), [](const auto& resource) {
           return StringOf(&resource, "name") == "evictionrequests";
         });
}

}  // namespace berth::plan
