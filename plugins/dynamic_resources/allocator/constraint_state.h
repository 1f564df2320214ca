// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/api/resource_slice.h"

namespace berth::plugins::dra {

// The attribute of that fully qualified name: the device may leave out the domain where it is the
// driver's own. nullptr: the device has none.
const api::DeviceAttribute* FindAttribute(const api::Device& device, std::string_view driver,
                                          std::string_view name);

// A constraint while devices are chosen: what the chosen ones have in common, or have each for
// itself. An attribute of one value is a set of one where lists are looked at.
class ConstraintState {
 public:
  // Forgets all devices. `lists`: DRAListTypeAttributes.
  void Reset(bool distinct, bool lists);

  // Whether a device with this attribute (nullptr: without it) can be chosen, too; then it counts,
  // until Remove(). Devices are removed in the reverse order.
  bool Add(const api::DeviceAttribute* attribute);
  void Remove();

 private:
  // The values of an attribute, of one type; type 0: none that is known.
  struct Values {
    char type = 0;
    std::vector<std::string> values = {};  // sorted
  };

  static Values ValuesOf(const api::DeviceAttribute& attribute);
  static Values Shared(const Values& a, const Values& b);
  bool AddValues(const api::DeviceAttribute& attribute);

  bool distinct_ = false;
  bool lists_ = false;
  std::vector<const api::DeviceAttribute*> chosen_;
  // With lists, in the order of chosen devices: what each has, or what all have so far in common.
  std::vector<Values> values_;
};

}  // namespace berth::plugins::dra
