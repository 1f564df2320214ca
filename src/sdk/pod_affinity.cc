// SPDX-License-Identifier: Apache-2.0
#include "berth/pod_affinity.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "berth/field_errors.h"
#include "berth/result.h"
#include "src/sdk/identity.h"

namespace berth {
namespace {

// So few terms take little, equal or not.
constexpr size_t kFewTerms = 4;

Result<AffinityTerm> MakeTerm(const api::Pod& pod, const api::PodAffinityTerm& from,
                              AffinityTermKind kind, int32_t weight) {
  auto selector = LabelSelectorMatcher::Make(from.label_selector);
  if (!selector) return Fail(std::move(selector).error());
  auto namespace_selector = LabelSelectorMatcher::Make(from.namespace_selector);
  if (!namespace_selector) return Fail(std::move(namespace_selector).error());

  AffinityTerm term;
  term.kind = kind;
  term.weight = weight;
  term.topology_key = from.topology_key;
  term.namespaces = from.namespaces;
  if (from.namespaces.empty() && !from.namespace_selector) {
    term.namespaces.push_back(pod.metadata.namespace_);
  }
  std::sort(term.namespaces.begin(), term.namespaces.end());
  term.namespaces.erase(std::unique(term.namespaces.begin(), term.namespaces.end()),
                        term.namespaces.end());
  term.namespace_selector = *std::move(namespace_selector);
  term.selector = *std::move(selector);
  return term;
}

const api::PodAffinityTerm* TermOf(const api::PodAffinityTerm* term) { return term; }
const api::PodAffinityTerm* TermOf(const api::WeightedPodAffinityTerm* term) {
  return &term->pod_affinity_term;
}
int32_t WeightOf(const api::PodAffinityTerm&) { return 0; }
int32_t WeightOf(const api::WeightedPodAffinityTerm& term) { return term.weight; }

// Reads the terms of one list; a bad one leaves none and adds why to `errors`.
template <typename From>
AffinityTermList MakeTerms(const api::Pod& pod, const std::vector<From>& list,
                           AffinityTermKind kind, std::string_view name,
                           std::vector<std::string>& errors) {
  std::vector<AffinityTerm> terms;
  terms.reserve(list.size());
  for (const From& from : list) {
    auto term = MakeTerm(pod, *TermOf(&from), kind, WeightOf(from));
    if (!term) {
      errors.push_back(std::string(name) + ": " + term.error().message);
      return {};
    }
    terms.push_back(*std::move(term));
  }
  return AffinityTermList(std::move(terms));
}

}  // namespace

AffinityTermList::AffinityTermList(std::vector<AffinityTerm> terms) {
  terms_.reserve(terms.size());
  absl::flat_hash_map<std::string, size_t> known;
  std::string identity;
  for (AffinityTerm& term : terms) {
    if (terms.size() <= kFewTerms) {
      terms_.push_back(std::make_shared<const AffinityTerm>(std::move(term)));
      continue;
    }
    identity.clear();
    term.AppendIdentity(identity);
    const auto [at, is_new] = known.try_emplace(identity, terms_.size());
    terms_.push_back(is_new ? std::make_shared<const AffinityTerm>(std::move(term))
                            : terms_[at->second]);
  }
}

bool AffinityTerm::Matches(const api::Pod& pod, const api::StringMap& namespace_labels) const {
  return (std::binary_search(namespaces.begin(), namespaces.end(), pod.metadata.namespace_) ||
          namespace_selector.Matches(namespace_labels)) &&
         selector.Matches(pod.metadata.labels);
}

void AffinityTerm::AppendIdentity(std::string& text) const {
  text += static_cast<char>(kind);
  AppendNumber(static_cast<uint32_t>(weight), text);
  AppendText(topology_key, text);
  AppendTexts(namespaces, text);
  namespace_selector.AppendIdentity(text);
  selector.AppendIdentity(text);
}

std::string AffinityTerm::Identity() const {
  std::string text;
  AppendIdentity(text);
  return text;
}

std::shared_ptr<const PodAffinityTerms> PodAffinityTerms::Make(const api::Pod& pod) {
  if (!pod.spec.affinity) return nullptr;
  const auto& affinity = pod.spec.affinity->pod_affinity;
  const auto& anti_affinity = pod.spec.affinity->pod_anti_affinity;
  if (!affinity && !anti_affinity) return nullptr;

  static const api::PodAffinity kNone;
  const api::PodAffinity& to = affinity ? *affinity : kNone;
  const api::PodAffinity& against = anti_affinity ? *anti_affinity : kNone;
  auto terms = std::make_shared<PodAffinityTerms>();
  std::vector<std::string> errors;
  terms->required_affinity =
      MakeTerms(pod, to.required_during_scheduling_ignored_during_execution,
                AffinityTermKind::kRequiredAffinity, "requiredAffinityTerms", errors);
  terms->required_anti_affinity =
      MakeTerms(pod, against.required_during_scheduling_ignored_during_execution,
                AffinityTermKind::kRequiredAntiAffinity, "requiredAntiAffinityTerms", errors);
  terms->preferred_affinity =
      MakeTerms(pod, to.preferred_during_scheduling_ignored_during_execution,
                AffinityTermKind::kPreferredAffinity, "preferredAffinityTerms", errors);
  terms->preferred_anti_affinity =
      MakeTerms(pod, against.preferred_during_scheduling_ignored_during_execution,
                AffinityTermKind::kPreferredAntiAffinity, "preferredAntiAffinityTerms", errors);
  if (auto problem = AggregateProblems(errors)) terms->error = std::move(problem->message);
  return terms;
}

}  // namespace berth
