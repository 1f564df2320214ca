// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "berth/api/pod.h"
#include "berth/label_selector.h"

namespace berth {

enum class AffinityTermKind : uint8_t {
  kRequiredAffinity,
  kRequiredAntiAffinity,
  kPreferredAffinity,
  kPreferredAntiAffinity,
};

// A set of AffinityTermKind, as bits.
using AffinityTermKinds = uint8_t;
constexpr AffinityTermKinds Only(AffinityTermKind kind) {
  return static_cast<AffinityTermKinds>(1u << static_cast<uint8_t>(kind));
}

// A term of a pod's pod (anti-)affinity, checked. Its matchLabelKeys count for nothing: the API
// server has merged them into the selector.
struct AffinityTerm {
  AffinityTermKind kind = AffinityTermKind::kRequiredAffinity;
  int32_t weight = 0;  // of a preferred term
  std::string topology_key;
  // The pod's own namespace when the term names neither namespaces nor a selector for them.
  std::vector<std::string> namespaces;  // sorted, unique
  LabelSelectorMatcher namespace_selector;
  LabelSelectorMatcher selector;

  // Whether the term means `pod`: its namespace is listed or has labels that the namespace
  // selector matches, and its labels match. `namespace_labels` are those of the pod's namespace.
  bool Matches(const api::Pod& pod, const api::StringMap& namespace_labels) const;

  // Appends a text that is the same for equal terms, and only for them.
  void AppendIdentity(std::string& text) const;
  std::string Identity() const;
  friend bool operator==(const AffinityTerm&, const AffinityTerm&) = default;
};

// Terms in the order of a spec. Equal ones are there once, however often the spec has them.
//
// Thread safety: one owner while it is made; immutable after that.
class AffinityTermList {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = AffinityTerm;
    using difference_type = std::ptrdiff_t;
    using pointer = const AffinityTerm*;
    using reference = const AffinityTerm&;

    Iterator() = default;
    explicit Iterator(const std::shared_ptr<const AffinityTerm>* at) : at_(at) {}
    reference operator*() const { return **at_; }
    pointer operator->() const { return at_->get(); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const std::shared_ptr<const AffinityTerm>* at_ = nullptr;
  };

  AffinityTermList() = default;
  explicit AffinityTermList(std::vector<AffinityTerm> terms);

  Iterator begin() const { return Iterator(terms_.data()); }
  Iterator end() const { return Iterator(terms_.data() + terms_.size()); }
  size_t size() const { return terms_.size(); }
  bool empty() const { return terms_.empty(); }
  const AffinityTerm& operator[](size_t i) const { return *terms_[i]; }
  const AffinityTerm& front() const { return *terms_.front(); }

 private:
  std::vector<std::shared_ptr<const AffinityTerm>> terms_;
};

struct PodAffinityTerms {
  AffinityTermList required_affinity;
  AffinityTermList required_anti_affinity;
  AffinityTermList preferred_affinity;
  AffinityTermList preferred_anti_affinity;
  // Why terms could not be read, in kube-scheduler's words; "" when all could. A list that holds
  // a bad term is empty.
  std::string error;

  // nullptr when the pod has neither pod affinity nor pod anti-affinity.
  static std::shared_ptr<const PodAffinityTerms> Make(const api::Pod& pod);

  bool any_required() const {
    return !required_affinity.empty() || !required_anti_affinity.empty();
  }
  bool any_preferred() const {
    return !preferred_affinity.empty() || !preferred_anti_affinity.empty();
  }
  // Calls visit(const AffinityTerm&) for every term.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto* terms : {&required_affinity, &required_anti_affinity, &preferred_affinity,
                              &preferred_anti_affinity})
      for (const AffinityTerm& term : *terms) visit(term);
  }
};

}  // namespace berth
