// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/in_tree/handle.h"
#include "plugins/dynamic_resources/allocator/expressions.h"
#include "plugins/dynamic_resources/reserved_claims.h"
#include "plugins/fragmentation_aware/fragmentation.h"

namespace berth::plugins {

// The devices of some classes, by node, with how much of each is free: of a device that several
// claims may have, what its scarcest capacity has left; of any other all or nothing.
//
// Counted are devices whose slice, or who themselves, name their node. Neither pools' generations
// nor taints matter. A device on which an expression of a class fails is not of the class.
//
// Thread safety: the scheduling thread.
class DeviceShares {
 public:
  // At most kMaxDeviceClasses classes; `handle` must outlive it.
  DeviceShares(Handle& handle, std::vector<std::string> classes);
  ~DeviceShares();

  // Takes in what has changed since the last call.
  void Update();
  // In the order of their slices' names, as the allocator looks at them. Good until Update().
  std::span<const DeviceLeft> On(const std::string& node) const;

  // Which share of one device the amounts of its capacities are, in millionths: the largest of
  // them, rounded up; the whole where one is not known.
  static int64_t ShareOf(const api::Device& device, const api::ResourceList& amounts);
  // The same of any device of the class: of the first by name that several claims may have.
  int64_t ShareOf(size_t device_class, const api::ResourceList& amounts) const;

  const std::vector<std::string>& classes() const { return classes_; }
  size_t kept_bytes() const;

 private:
  using SlicePtr = std::shared_ptr<const api::ResourceSlice>;
  struct Answers {
    SlicePtr slice;
    std::vector<uint32_t> classes;  // by device, as bits
    bool seen = false;
  };
  // What claims hold of one device.
  struct Held {
    int64_t claims = 0;
    int64_t whole = 0;  // of them, those that have all of it
    std::vector<std::pair<std::string, api::Quantity>> consumed;
  };
  struct Place {
    std::string node;
    size_t index = 0;
    const api::Device* device = nullptr;
  };

  void Rebuild();
  const Answers& AnswersOf(const SlicePtr& slice);
  bool IsOf(const std::vector<std::string>& selectors, std::string_view driver,
            const api::Device& device);
  void Count(const api::ResourceClaim& claim, bool holds);
  static int64_t Free(const api::Device& device, const Held& held);

  Handle& handle_;
  const std::vector<std::string> classes_;
  const std::unique_ptr<dra::DeviceExpressions> expressions_;
  std::optional<uint64_t> devices_generation_;
  std::vector<std::vector<std::string>> selectors_;
  std::vector<bool> known_;  // by class: there is such a class
  std::map<std::string, Answers, std::less<>> slices_;
  absl::flat_hash_map<std::string, std::vector<DeviceLeft>> by_node_;
  absl::flat_hash_map<std::string, Place> places_;
  absl::flat_hash_map<std::string, Held> held_;
  std::vector<const api::Device*> shared_;  // by class; nullptr: none that several may have
  ClaimHolders holders_;
};

}  // namespace berth::plugins
