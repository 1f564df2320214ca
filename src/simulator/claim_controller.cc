// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>

#include "src/simulator/controllers.h"

namespace berth::simulator {
namespace {

using informers::Kind;

constexpr std::string_view kPodClaimAnnotation = "resource.kubernetes.io/pod-claim-name";

bool IsDone(const api::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

bool IsMade(const api::Pod& pod, const api::PodResourceClaim& entry) {
  return std::ranges::find(pod.status.resource_claim_statuses, entry.name,
                           &api::PodResourceClaimStatus::name) !=
         pod.status.resource_claim_statuses.end();
}

bool WaitsForClaims(const api::Pod& pod) {
  if (pod.metadata.deletion_timestamp || IsDone(pod)) return false;
  return std::ranges::any_of(pod.spec.resource_claims, [&](const api::PodResourceClaim& entry) {
    return entry.resource_claim_template_name && !IsMade(pod, entry);
  });
}

const api::OwnerReference* OwningPod(const api::ResourceClaim& claim) {
  const auto& owners = claim.metadata.owner_references;
  const auto found = std::ranges::find_if(owners, [](const api::OwnerReference& owner) {
    return owner.controller && owner.api_version == "v1" && owner.kind == "Pod";
  });
  return found == owners.end() ? nullptr : &*found;
}

}  // namespace

void ClaimController::See(const informers::InformerEvent& event) {
  const auto* pod_before = api::As<api::Pod>(event.old_object);
  const auto* pod_after = api::As<api::Pod>(event.new_object);
  if (pod_before != nullptr || pod_after != nullptr) {
    SeePod(pod_before, pod_after);
  } else if (const auto* claim = api::As<api::ResourceClaim>(event.new_object)) {
    // It may be reserved for a pod that has gone meanwhile.
    if (!gone_.empty()) due_claims_.insert(claim->metadata.Key());
  } else if (const auto* made = api::As<api::ResourceClaimTemplate>(event.new_object)) {
    const auto waiting = waiting_.extract(made->metadata.Key());
    if (!waiting.empty()) due_pods_.insert(waiting.mapped().begin(), waiting.mapped().end());
  }
  if (!due_pods_.empty() || !due_claims_.empty()) Wake();
}

void ClaimController::SeePod(const api::Pod* before, const api::Pod* after) {
  if (before != nullptr && (after == nullptr || after->metadata.uid != before->metadata.uid)) {
    SeeEndOf(*before);
  }
  if (after == nullptr) return;
  if (IsDone(*after)) SeeEndOf(*after);
  if (WaitsForClaims(*after)) due_pods_.insert(after->metadata.Key());
}

void ClaimController::SeeEndOf(const api::Pod& pod) {
  const auto note = [&](const std::string& name) {
    due_claims_.insert(api::NamespacedKey(pod.metadata.namespace_, name));
    gone_.insert(pod.metadata.uid);
  };
  for (const api::PodResourceClaim& entry : pod.spec.resource_claims) {
    if (entry.resource_claim_name) note(*entry.resource_claim_name);
  }
  for (const api::PodResourceClaimStatus& status : pod.status.resource_claim_statuses) {
    if (status.resource_claim_name) note(*status.resource_claim_name);
  }
  const auto& extended = pod.status.extended_resource_claim_status;
  if (extended) note(extended->resource_claim_name);
}

void ClaimController::Work() {
  for (const std::string& key : std::exchange(due_pods_, {})) MakeClaimsOf(key);
  for (const std::string& key : std::exchange(due_claims_, {})) SyncClaim(key);
}

void ClaimController::MakeClaimsOf(const std::string& pod_key) {
  const auto pod = api_.FindPod(pod_key);
  if (pod == nullptr || !WaitsForClaims(*pod) || !SeesTo(pod->metadata)) return;
  auto changed = std::make_shared<api::Pod>(*pod);
  for (const api::PodResourceClaim& entry : pod->spec.resource_claims) {
    if (!entry.resource_claim_template_name || IsMade(*pod, entry)) continue;
    const std::string from =
        api::NamespacedKey(pod->metadata.namespace_, *entry.resource_claim_template_name);
    const auto found = FindIn<api::ResourceClaimTemplate>(api_, Kind::kResourceClaimTemplate, from);
    if (found == nullptr) {
      waiting_[from].insert(pod_key);
      continue;
    }
    changed->status.resource_claim_statuses.push_back({entry.name, MakeClaim(*pod, entry, *found)});
  }
  if (changed->status == pod->status) return;
  api_.Apply(std::shared_ptr<const api::Pod>(std::move(changed)));
}

std::string ClaimController::MakeClaim(const api::Pod& pod, const api::PodResourceClaim& entry,
                                       const api::ResourceClaimTemplate& from) {
  auto claim = std::make_shared<api::ResourceClaim>();
  api::ObjectMeta& meta = claim->metadata;
  meta.namespace_ = pod.metadata.namespace_;
  meta.name = pod.metadata.name + "-" + entry.name;
  // The name may be another claim's.
  while (FindIn<api::ResourceClaim>(api_, Kind::kResourceClaim, meta.Key()) != nullptr) {
    meta.name = pod.metadata.name + "-" + entry.name + "-" + std::to_string(++made_);
  }
  meta.uid = "ResourceClaim/" + meta.Key() + "/" + std::to_string(++made_);
  meta.labels = from.spec.metadata.labels;
  meta.annotations = from.spec.metadata.annotations;
  std::erase_if(meta.annotations, [](const auto& one) { return one.first == kPodClaimAnnotation; });
  meta.annotations.emplace_back(kPodClaimAnnotation, entry.name);
  std::ranges::sort(meta.annotations);
  meta.owner_references = {{"v1", "Pod", pod.metadata.name, pod.metadata.uid, /*controller=*/true}};
  claim->spec = from.spec.spec;
  std::string name = meta.name;
  api_.Apply(std::shared_ptr<const api::ResourceClaim>(std::move(claim)));
  return name;
}

bool ClaimController::IsGone(std::string_view pod_namespace, std::string_view name,
                             const std::string& uid) const {
  if (gone_.contains(uid)) return true;
  const auto pod = api_.FindPod(api::NamespacedKey(pod_namespace, name));
  // A pod that has not been seen may come yet.
  return pod != nullptr && (pod->metadata.uid != uid || IsDone(*pod));
}

void ClaimController::SyncClaim(const std::string& key) {
  const auto claim = FindIn<api::ResourceClaim>(api_, Kind::kResourceClaim, key);
  if (claim == nullptr || !SeesTo(claim->metadata)) return;
  const std::string& pod_namespace = claim->metadata.namespace_;
  auto changed = std::make_shared<api::ResourceClaim>(*claim);
  auto& reserved_for = changed->status.reserved_for;
  std::erase_if(reserved_for, [&](const api::ResourceClaimConsumerReference& consumer) {
    return consumer.api_group.empty() && consumer.resource == "pods" &&
           IsGone(pod_namespace, consumer.name, consumer.uid);
  });
  if (reserved_for.empty()) {
    const api::OwnerReference* owner = OwningPod(*claim);
    if (owner != nullptr && IsGone(pod_namespace, owner->name, owner->uid)) {
      api_.Delete(Kind::kResourceClaim, key);
      return;
    }
  }
  if (changed->status == claim->status) return;
  // As soon as the last consumer stops using it.
  if (reserved_for.empty()) changed->status = {};
  api_.Apply(std::shared_ptr<const api::ResourceClaim>(std::move(changed)));
}

}  // namespace berth::simulator
