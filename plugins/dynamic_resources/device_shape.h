// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugins/dynamic_resources/allocator/expressions.h"
#include "src/cel/expression.h"

namespace berth::plugins::dra {

// What an expression can tell devices apart by: their driver, whether they may be shared, and the
// attributes and capacities that it names. Where it does not say which by constants, all.
//
// Thread safety: immutable once made.
class DeviceReads {
 public:
  // Of an expression over the one variable `device`.
  explicit DeviceReads(const cel::Expression& expression);

  // Makes `shape` what the expression can tell the device apart by: it has the same answer for all
  // devices of one shape, at the same cost. A version that is none fails every expression, so
  // versions always count. False: an attribute has no value, and the device no shape.
  bool WriteShape(const DeviceOfDriver& device, std::string& shape) const;

 private:
  // Attributes or capacities.
  struct Part {
    struct Key {
      std::string domain;
      std::string name;
    };

    void Add(const std::vector<std::string>& path);
    bool Reads(std::string_view name, std::string_view driver) const;

    bool all = false;
    std::vector<Key> keys = {};
  };

  Part attributes_;
  Part capacity_;
};

}  // namespace berth::plugins::dra
