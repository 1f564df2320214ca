// SPDX-License-Identifier: Apache-2.0
#include "src/plan/eviction_request.h"

#include <algorithm>

#include "berth/config_value.h"
#include "src/api/writes.h"
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

std::string EvictionBody(const api::Pod& pod) {
  return api::EvictionBody(pod.metadata.namespace_, pod.metadata.name, pod.metadata.uid);
}

std::string EvictionEventBody(const api::Pod& pod, std::string_view note, Time now) {
  const api::ObjectMeta& meta = pod.metadata;
  constexpr size_t kMostOfName = 200;
  return api::EventBody(
      {.namespace_ = meta.namespace_,
       .name = base::Concat(meta.name.substr(0, kMostOfName), ".", meta.uid.substr(0, 13), ".plan"),
       .event_time = now,
       .reporting_controller = std::string(kRequester),
       .reporting_instance = "berth-plan",
       .action = "Evicting",
       .reason = "EvictedByPlan",
       .type = "Normal",
       .note = std::string(note),
       .regarding = {.kind = "Pod",
                     .namespace_ = meta.namespace_,
                     .name = meta.name,
                     .uid = meta.uid,
                     .api_version = "v1",
                     .resource_version = {}},
       .related = {},
       .series = {}});
}

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
  target.Add("pod", {{"name", pod.metadata.name}, {"uid", pod.metadata.uid}});
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
