// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace berth::plugins::dra {

// The groups that all devices share which take from one counter set. Devices may take from it
// together if all name a common group, or none names any.
class SharedGroups {
 public:
  // Whether a device of these groups may take from the set, too.
  bool Admits(const std::vector<std::string>& groups) const {
    if (!has_members_) return true;
    if (groups.empty() || groups_.empty()) return groups.empty() && none_named_;
    return !SharedWith(groups).empty();
  }

  void Add(const std::vector<std::string>& groups) {
    if (!has_members_) {
      has_members_ = true;
      none_named_ = groups.empty();
      groups_ = groups;
      std::sort(groups_.begin(), groups_.end());
    } else if (!none_named_ && !groups.empty()) {
      groups_ = SharedWith(groups);
    }
  }

 private:
  std::vector<std::string> SharedWith(std::vector<std::string> groups) const {
    std::sort(groups.begin(), groups.end());
    std::vector<std::string> shared;
    std::set_intersection(groups_.begin(), groups_.end(), groups.begin(), groups.end(),
                          std::back_inserter(shared));
    return shared;
  }

  bool has_members_ = false;
  bool none_named_ = false;
  std::vector<std::string> groups_;  // sorted
};

}  // namespace berth::plugins::dra
