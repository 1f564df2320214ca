// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "berth/check.h"
#include "berth/in_tree/cycle_budget.h"
#include "berth/status.h"

namespace berth::inline in_tree {

// The part of something shared that falls on one of its owners.
template <typename T>
size_t ShareOf(const std::shared_ptr<T>& shared, size_t bytes) {
  return shared == nullptr ? 0 : bytes / static_cast<size_t>(shared.use_count());
}

// Data that a CycleState keeps, or what was made in its place.
template <typename T>
class KeptOrMade {
 public:
  explicit KeptOrMade(const T& kept) : kept_(&kept) {}
  explicit KeptOrMade(T&& made) : made_(std::move(made)) {}

  const T& operator*() const { return kept_ == nullptr ? *made_ : *kept_; }
  const T* operator->() const { return &**this; }

 private:
  const T* kept_ = nullptr;
  std::optional<T> made_;
};

// What plugins keep for one pod between their extension points: one entry a C++ type, any that can
// be copied. Moves with the pod from the scheduling cycle to its binding cycle.
//
// A copy is what AddPod and RemovePod may change without touching the original; data that they
// never change may be shared. A type that grows with the cluster, or with what the pod asks for,
// has `size_t bytes() const`: about how much memory it holds besides itself; what several share, in
// parts. What is kept of verdicts is limited by it (docs/engine.md).
//
// Thread safety: one owner at a time; Filter and Score only read.
class CycleState {
 public:
  CycleState() = default;
  CycleState(CycleState&&) = default;
  CycleState& operator=(CycleState&&) = default;

  // Keeps `data`, in place of what was kept for T before.
  template <typename T>
  T& Write(T data) {
    auto entry = std::make_unique<Entry<T>>(std::move(data));
    T& kept = entry->data;
    for (auto& [key, value] : entries_) {
      if (key == Key<T>()) {
        value = std::move(entry);
        return kept;
      }
    }
    entries_.emplace_back(Key<T>(), std::move(entry));
    return kept;
  }

  // The data kept for T, which must be there: an earlier point of the same plugin wrote it.
  template <typename T>
  const T& Read() const {
    const T* data = Find<T>();
    BERTH_CHECK(data != nullptr, "a plugin reads what it has not written to the cycle state");
    return *data;
  }
  template <typename T>
  T& Mutable() {
    return const_cast<T&>(std::as_const(*this).template Read<T>());
  }
  // The data kept for T, or what make() returns.
  template <typename T, typename Make>
  KeptOrMade<T> ReadOr(Make make) const {
    const T* data = Find<T>();
    return data == nullptr ? KeptOrMade<T>(make()) : KeptOrMade<T>(*data);
  }
  // The data kept for T, or nullptr.
  template <typename T>
  const T* Find() const {
    for (const auto& [key, value] : entries_)
      if (key == Key<T>()) return &static_cast<const Entry<T>*>(value.get())->data;
    return nullptr;
  }
  template <typename T>
  T* Find() {
    return const_cast<T*>(std::as_const(*this).template Find<T>());
  }

  // About how much memory the entries hold, in bytes.
  size_t bytes() const;

  // Copies every entry; the reasons table is fresh, the budget the same.
  CycleState Clone() const;

  // What may still be done for the pod. Const: a verdict changes nothing a plugin can see.
  CycleBudget& budget() const {
    return cycle_->original == nullptr ? cycle_->budget : cycle_->original->budget;
  }
  // Another cycle begins that goes on from what this state keeps; or begins with less than the
  // whole, as tests do.
  void RenewBudget(const CycleBudget& budget = {}) {
    cycle_->original = nullptr;
    cycle_->budget = budget;
  }

  // For text made up in this cycle. Const: a verdict changes nothing a plugin can see.
  ReasonTable& reasons() const { return cycle_->reasons; }

 private:
  struct AnyEntry {
    virtual ~AnyEntry() = default;
    virtual std::unique_ptr<AnyEntry> Clone() const = 0;
    virtual size_t bytes() const = 0;
  };
  template <typename T>
  struct Entry final : AnyEntry {
    explicit Entry(T kept) : data(std::move(kept)) {}
    std::unique_ptr<AnyEntry> Clone() const override { return std::make_unique<Entry>(data); }
    size_t bytes() const override {
      if constexpr (requires { data.bytes(); }) {
        return data.bytes();
      } else {
        return 0;
      }
    }
    T data;
  };

  struct Cycle {
    ReasonTable reasons;
    CycleBudget budget;
    std::shared_ptr<Cycle> original;  // of a clone: whose budget counts
  };

  template <typename T>
  static const void* Key() {
    static const char key = 0;
    return &key;
  }

  std::vector<std::pair<const void*, std::unique_ptr<AnyEntry>>> entries_;
  std::shared_ptr<Cycle> cycle_ = std::make_shared<Cycle>();
};

}  // namespace berth::inline in_tree
