// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "berth/check.h"
#include "tests/bench/engine/workload.h"
#include "tests/scenarios/runner/objects.h"

namespace berth::bench {
namespace {

constexpr std::string_view kIndex = "$i";

std::string WithIndex(const std::string& text, size_t index) {
  return *scenarios::WithIndex(ConfigValue(text), index).string();
}

// Whether the number stands anywhere but in metadata.name.
bool OnlyNameHasIndex(const ConfigValue& expanded) {
  for (const auto& [key, value] : *expanded.map()) {
    if (key != "metadata") {
      if (value.ToJson().find(kIndex) != std::string::npos) return false;
      continue;
    }
    for (const auto& [member, inner] : *value.map()) {
      if (member != "name" && inner.ToJson().find(kIndex) != std::string::npos) return false;
    }
  }
  return true;
}

}  // namespace

Result<ObjectTemplate> ObjectTemplate::Make(informers::Kind kind, const ConfigValue& written) {
  auto expanded = scenarios::ExpandShortCuts(kind, written);
  if (!expanded) return Fail(expanded.error());
  ObjectTemplate made;
  made.kind_ = kind;
  made.expanded_ = *std::move(expanded);
  made.name_ = scenarios::KeyOfExpanded(kind, made.expanded_);
  made.name_.erase(0, made.name_.rfind('/') + 1);
  const auto first = scenarios::MakeObject(kind, scenarios::WithIndex(made.expanded_, 0), "uid");
  if (!first) return Fail(first.error());
  if (kind == informers::Kind::kPod && OnlyNameHasIndex(made.expanded_)) {
    made.pod_ = std::get<std::shared_ptr<const api::Pod>>(*first);
  }
  return made;
}

api::ObjectPtr ObjectTemplate::Copy(size_t index, std::string uid) const {
  if (pod_ != nullptr) {
    auto copy = std::make_shared<api::Pod>(*pod_);
    copy->metadata.name = WithIndex(name_, index);
    copy->metadata.uid = std::move(uid);
    return std::shared_ptr<const api::Pod>(std::move(copy));
  }
  auto made = scenarios::MakeObject(kind_, scenarios::WithIndex(expanded_, index), uid);
  BERTH_CHECK(made.has_value(), "what decodes for 0 decodes for every number");
  return *std::move(made);
}

std::string ObjectTemplate::KeyOfCopy(size_t index) const {
  return scenarios::KeyOfExpanded(kind_, scenarios::WithIndex(expanded_, index));
}

}  // namespace berth::bench
