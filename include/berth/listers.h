// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "berth/api/meta.h"
#include "berth/api/pod_disruption_budget.h"
#include "berth/api/workloads.h"

namespace berth {

// What the API server has shown of the kinds that are neither pods nor nodes.
//
// Find functions return nullptr when there is no such object. Visits go in order of name. Pointers
// and references stay valid until the scheduling thread takes its next message, so at least to the
// end of the running cycle.
//
// Thread safety: the scheduling thread only.
class Listers {
 public:
  template <typename T>
  using Visit = std::function<void(const T&)>;

  virtual ~Listers() = default;

  virtual const api::Namespace* FindNamespace(std::string_view name) const = 0;
  virtual void ForEachNamespace(const Visit<api::Namespace>& visit) const = 0;

  // The objects of one namespace.
  virtual void ForEachService(std::string_view namespace_,
                              const Visit<api::Service>& visit) const = 0;
  virtual void ForEachPodDisruptionBudget(std::string_view namespace_,
                                          const Visit<api::PodDisruptionBudget>& visit) const = 0;

  virtual const api::ReplicationController* FindReplicationController(
      std::string_view namespace_, std::string_view name) const = 0;
  virtual const api::ReplicaSet* FindReplicaSet(std::string_view namespace_,
                                                std::string_view name) const = 0;
  virtual const api::StatefulSet* FindStatefulSet(std::string_view namespace_,
                                                  std::string_view name) const = 0;

  // Grows when one of these objects comes, goes or changes, PodDisruptionBudgets apart: what was
  // derived from them is good for as long as the number stays. A change is one of labels, owners,
  // deletion or what the struct holds besides metadata; of a Namespace one of annotations, too.
  // Other versions (most of them writes of a status that is not decoded) are shown and not counted.
  virtual uint64_t generation() const = 0;
  // The same for namespaces alone.
  virtual uint64_t namespaces_generation() const = 0;
  // The same for PodDisruptionBudgets alone. Their status moves with every pod that becomes ready,
  // and what keeps verdicts does not look here: a Filter or Score that reads them must not declare
  // its inputs.
  virtual uint64_t disruption_budgets_generation() const = 0;
};

}  // namespace berth
