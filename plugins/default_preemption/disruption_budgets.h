// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "berth/label_selector.h"
#include "berth/listers.h"
#include "berth/pod_info.h"

namespace berth::plugins {

// Which evictions PodDisruptionBudgets allow, in the state they had when this was made.
//
// A budget whose selector is absent or empty covers nothing; so does one with a bad selector. Pods
// without labels are covered by none.
//
// Thread safety: one owner. Refers to objects of `listers`, so good for one cycle.
class DisruptionBudgets {
 public:
  explicit DisruptionBudgets(const Listers& listers) : listers_(listers) {}

  // Counts from the budgets' present state again: nothing has been evicted yet.
  void Restart();
  // Whether evicting the pod, after all those asked for since Restart(), breaks a budget.
  bool Violates(const PodInfo& pod);

 private:
  struct Budget {
    const api::PodDisruptionBudget* object = nullptr;
    LabelSelectorMatcher selector;
    int32_t allowed = 0;
    uint64_t round = 0;  // of `allowed`
  };
  std::vector<Budget>& InNamespace(const std::string& namespace_);

  const Listers& listers_;
  uint64_t round_ = 0;
  std::map<std::string, std::vector<Budget>, std::less<>> by_namespace_;
};

}  // namespace berth::plugins
