// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/queueing_hints.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "berth/pod_affinity.h"
#include "plugins/shared/hint_objects.h"

namespace berth::plugins {
namespace {

using Terms = std::vector<AffinityTerm>;

size_t NumRequired(const std::optional<api::PodAffinity>& affinity) {
  return affinity ? affinity->required_during_scheduling_ignored_during_execution.size() : 0;
}

// The required terms of a pod. Each list is an error of its own, and preferred terms that cannot
// be read do not matter here.
class RequiredTerms {
 public:
  explicit RequiredTerms(const api::Pod& pod) : terms_(PodAffinityTerms::Make(pod)) {
    if (terms_ == nullptr) terms_ = std::make_shared<PodAffinityTerms>();
    if (!pod.spec.affinity) return;
    bad_affinity_ = affinity().size() != NumRequired(pod.spec.affinity->pod_affinity);
    bad_anti_affinity_ =
        anti_affinity().size() != NumRequired(pod.spec.affinity->pod_anti_affinity);
  }

  const Terms& affinity() const { return terms_->required_affinity; }
  const Terms& anti_affinity() const { return terms_->required_anti_affinity; }
  bool bad() const { return bad_affinity_ || bad_anti_affinity_; }
  bool bad_anti_affinity() const { return bad_anti_affinity_; }
  const std::string& error() const { return terms_->error; }

 private:
  std::shared_ptr<const PodAffinityTerms> terms_;
  bool bad_affinity_ = false;
  bool bad_anti_affinity_ = false;
};

// A pod that terms may mean, with the labels of its namespace.
struct Meant {
  const api::Pod& pod;
  const api::StringMap& namespace_labels;

  Meant(const api::Pod& meant, const TermResolver& resolver)
      : pod(meant), namespace_labels(resolver.NamespaceLabels(meant.metadata.namespace_)) {}

  bool ByAll(const Terms& terms) const {
    return !terms.empty() && std::all_of(terms.begin(), terms.end(), [&](const AffinityTerm& term) {
      return term.Matches(pod, namespace_labels);
    });
  }
  bool ByAny(const Terms& terms) const {
    return std::any_of(terms.begin(), terms.end(), [&](const AffinityTerm& term) {
      return term.Matches(pod, namespace_labels);
    });
  }
};

Result<QueueingHint> AfterAssignedPodChange(const TermResolver& resolver, const api::Pod& pod,
                                            const api::ObjectPtr& old_object,
                                            const api::ObjectPtr& new_object) {
  const auto change = AsChange<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  const api::Pod* before = change->old_object;
  const api::Pod* after = change->new_object;
  for (const api::Pod* other : {before, after}) {
    if (other != nullptr && !IsPlaced(*other)) return QueueingHint::kQueueSkip;
  }
  const RequiredTerms terms(pod);
  if (terms.bad()) return Fail(terms.error());
  const Terms& wanted = terms.affinity();
  const Terms& unwanted = terms.anti_affinity();
  if (before == nullptr) return QueueIf(Meant(*after, resolver).ByAll(wanted));
  const Meant was(*before, resolver);
  if (after != nullptr) {
    const Meant is(*after, resolver);
    return QueueIf((!was.ByAll(wanted) && is.ByAll(wanted)) ||
                   (was.ByAny(unwanted) && !is.ByAny(unwanted)));
  }
  if (was.ByAny(unwanted)) return QueueingHint::kQueue;
  const RequiredTerms its_terms(*before);
  if (its_terms.bad_anti_affinity()) return Fail(its_terms.error());
  return QueueIf(Meant(pod, resolver).ByAny(its_terms.anti_affinity()));
}

// A node's value of a topology key before and after; nullptr where it has none.
struct ValueChange {
  const std::string* before;
  const std::string* after;

  bool appeared() const { return before == nullptr && after != nullptr; }
  bool vanished() const { return before != nullptr && after == nullptr; }
  bool moved() const { return before != nullptr && after != nullptr && *before != *after; }
};

Result<QueueingHint> AfterNodeChange(const api::Pod& pod, const api::ObjectPtr& old_object,
                                     const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::Node>(old_object, new_object);
  if (!change) return Fail(change.error());
  const api::Node* before = change->old_object;
  const auto value_of = [&](const AffinityTerm& term) {
    return ValueChange{
        before == nullptr ? nullptr : api::Find(before->metadata.labels, term.topology_key),
        api::Find(change->new_object->metadata.labels, term.topology_key)};
  };
  const RequiredTerms terms(pod);
  if (terms.bad()) return Fail(terms.error());
  for (const AffinityTerm& term : terms.affinity()) {
    const ValueChange value = value_of(term);
    if (value.appeared() || value.moved()) return QueueingHint::kQueue;
  }
  for (const AffinityTerm& term : terms.anti_affinity()) {
    const ValueChange value = value_of(term);
    // A new node helps with or without the key: without it, nothing on it is too near.
    if (before == nullptr || value.vanished() || value.moved()) return QueueingHint::kQueue;
  }
  return QueueingHint::kQueueSkip;
}

}  // namespace

std::vector<ClusterEventWithHint> InterPodAffinityEvents(const TermResolver& resolver) {
  return {
      {{EventResource::kAssignedPod, action::kAdd | action::kUpdatePodLabel | action::kDelete},
       [&resolver](const api::Pod& pod, const api::ObjectPtr& old_object,
                   const api::ObjectPtr& new_object) {
         return AfterAssignedPodChange(resolver, pod, old_object, new_object);
       }},
      {{EventResource::kTargetPod, action::kUpdatePodLabel}, nullptr},
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel}, AfterNodeChange},
  };
}

}  // namespace berth::plugins
