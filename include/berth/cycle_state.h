// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "berth/status.h"

namespace berth {

// What a plugin keeps for one pod between its extension points.
class StateData {
 public:
  virtual ~StateData() = default;
  // A copy that AddPod and RemovePod may change without touching the original; data that they
  // never change may be shared.
  virtual std::unique_ptr<StateData> Clone() const = 0;
  // About how much memory it holds besides itself, in bytes; what several share, in parts. What is
  // kept of verdicts is limited by it (docs/engine.md): worth saying where it grows with the
  // cluster or with what the pod asks for.
  virtual size_t bytes() const { return 0; }
};

// The part of something shared that falls on one of its owners.
template <typename T>
size_t ShareOf(const std::shared_ptr<T>& shared, size_t bytes) {
  return shared == nullptr ? 0 : bytes / static_cast<size_t>(shared.use_count());
}

// The data of all plugins for one pod's way through a profile, one entry a C++ type. Moves with
// the pod from the scheduling cycle to its binding cycle.
//
// Thread safety: one owner at a time; Filter and Score only read.
class CycleState {
 public:
  CycleState() = default;
  CycleState(CycleState&&) = default;
  CycleState& operator=(CycleState&&) = default;

  // Keeps `data`, in place of what was kept for T before.
  template <typename T>
  T& Write(std::unique_ptr<T> data) {
    T& reference = *data;
    for (auto& [key, value] : entries_) {
      if (key == Key<T>()) {
        value = std::move(data);
        return reference;
      }
    }
    entries_.emplace_back(Key<T>(), std::move(data));
    return reference;
  }

  // The data kept for T, or nullptr.
  template <typename T>
  const T* Read() const {
    for (const auto& [key, value] : entries_)
      if (key == Key<T>()) return static_cast<const T*>(value.get());
    return nullptr;
  }
  template <typename T>
  T* Mutable() {
    return const_cast<T*>(std::as_const(*this).template Read<T>());
  }

  // About how much memory the entries hold, in bytes.
  size_t bytes() const;

  // Clones every entry; the reasons table is fresh.
  CycleState Clone() const;

  // For text made up in this cycle. Const: a verdict changes nothing a plugin can see.
  ReasonTable& reasons() const { return *reasons_; }

 private:
  template <typename T>
  static const void* Key() {
    static const char key = 0;
    return &key;
  }

  std::vector<std::pair<const void*, std::unique_ptr<StateData>>> entries_;
  std::shared_ptr<ReasonTable> reasons_ = std::make_shared<ReasonTable>();
};

}  // namespace berth
