// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "src/config/load.h"
#include "src/config/write.h"

namespace berth::config {
namespace {

// Going by way of the document, no field can be forgotten here.
ConfigValue::Map Written(const SchedulerConfiguration& configuration) {
  return *ToDocument(configuration).map();
}

const ConfigValue& Member(const ConfigValue& map, std::string_view field) {
  static const ConfigValue kNone;
  const ConfigValue* member = map.Find(field);
  return member == nullptr ? kNone : *member;
}

std::string Join(const std::string& path, std::string_view field) {
  return path.empty() ? std::string(field) : path + "." + std::string(field);
}

// Adds the path of each part in which the two differ. Lists of different lengths differ as a whole.
void Compare(const ConfigValue& a, const ConfigValue& b, const std::string& path,
             std::vector<std::string>& out) {
  if (a.map() != nullptr && b.map() != nullptr) {
    std::set<std::string> fields;
    for (const ConfigValue* value : {&a, &b}) {
      for (const auto& [field, member] : *value->map()) fields.insert(field);
    }
    for (const std::string& field : fields) {
      Compare(Member(a, field), Member(b, field), Join(path, field), out);
    }
  } else if (a.list() != nullptr && b.list() != nullptr && a.list()->size() == b.list()->size()) {
    for (size_t i = 0; i < a.list()->size(); ++i) {
      Compare((*a.list())[i], (*b.list())[i], path + "[" + std::to_string(i) + "]", out);
    }
  } else if (a.ToJson() != b.ToJson()) {
    out.push_back(path);
  }
}

std::string SchedulerName(const ConfigValue& profile) {
  return *Member(profile, "schedulerName").string();
}

void CompareProfile(const ConfigValue& a, const ConfigValue& b, const std::string& path,
                    ReloadDifference& difference) {
  std::vector<std::string> found;
  Compare(a, b, path, found);
  for (std::string& field : found) {
    const std::string queue_sort = path + ".plugins.queueSort";
    const bool changeable =
        (field.starts_with(path + ".plugins") && !field.starts_with(queue_sort)) ||
        field.starts_with(path + ".pluginConfig");
    if (changeable) {
      difference.profiles_changed = true;
    } else {
      difference.fixed.push_back(std::move(field));
    }
  }
}

}  // namespace

ReloadDifference CompareForReload(const SchedulerConfiguration& running,
                                  const SchedulerConfiguration& next) {
  ReloadDifference difference;
  ConfigValue::Map parts[] = {Written(running), Written(next)};
  ConfigValue profiles[2];
  for (size_t i = 0; i < 2; ++i) {
    const auto at = std::find_if(parts[i].begin(), parts[i].end(),
                                 [](const auto& part) { return part.first == "profiles"; });
    profiles[i] = std::move(at->second);
    parts[i].erase(at);
  }
  Compare(ConfigValue(std::move(parts[0])), ConfigValue(std::move(parts[1])), "", difference.fixed);

  const ConfigValue::List& old_profiles = *profiles[0].list();
  const ConfigValue::List& new_profiles = *profiles[1].list();
  const auto find = [](const ConfigValue::List& list, const std::string& name) {
    return std::find_if(list.begin(), list.end(), [&name](const ConfigValue& profile) {
      return SchedulerName(profile) == name;
    });
  };
  for (size_t i = 0; i < new_profiles.size(); ++i) {
    const std::string path = "profiles[" + std::to_string(i) + "]";
    const auto old = find(old_profiles, SchedulerName(new_profiles[i]));
    if (old == old_profiles.end()) {
      difference.fixed.push_back(path);
    } else {
      CompareProfile(*old, new_profiles[i], path, difference);
    }
  }
  for (const ConfigValue& profile : old_profiles) {
    const std::string name = SchedulerName(profile);
    if (find(new_profiles, name) == new_profiles.end()) difference.removed_profiles.push_back(name);
  }
  return difference;
}

}  // namespace berth::config
