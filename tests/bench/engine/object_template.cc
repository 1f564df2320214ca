// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "berth/check.h"
#include "tests/bench/engine/workload.h"
#include "tests/scenarios/runner/objects.h"

namespace berth::bench {
namespace {

constexpr std::string_view kIndex = "$i";

void SetIndex(std::string& text, size_t index) {
  if (text.find(kIndex) == std::string::npos) return;
  text = *scenarios::WithIndex(ConfigValue(text), index).string();
}

bool HasIndex(const ConfigValue& value) { return value.ToJson().find(kIndex) != std::string::npos; }

// Whether the number stands nowhere but where CopyOf puts it.
bool OnlyIdentityHasIndex(const ConfigValue& expanded) {
  for (const auto& [key, value] : *expanded.map()) {
    if (key != "metadata") {
      if (HasIndex(value)) return false;
      continue;
    }
    for (const auto& [member, inner] : *value.map()) {
      if (member == "labels" && inner.map() != nullptr) {
        for (const auto& label : *inner.map()) {
          if (label.first.find(kIndex) != std::string::npos) return false;
        }
      } else if (member != "name" && member != "namespace" && HasIndex(inner)) {
        return false;
      }
    }
  }
  return true;
}

template <typename T>
api::ObjectPtr CopyOf(const T& pattern, size_t index, std::string uid) {
  auto copy = std::make_shared<T>(pattern);
  api::ObjectMeta& meta = copy->metadata;
  meta.uid = std::move(uid);
  SetIndex(meta.name, index);
  SetIndex(meta.namespace_, index);
  for (auto& [key, value] : meta.labels) SetIndex(value, index);
  return std::shared_ptr<const T>(std::move(copy));
}

}  // namespace

Result<ObjectTemplate> ObjectTemplate::Make(informers::Kind kind, const ConfigValue& written) {
  auto expanded = scenarios::ExpandShortCuts(kind, written);
  if (!expanded) return Fail(expanded.error());
  ObjectTemplate made;
  made.kind_ = kind;
  made.expanded_ = *std::move(expanded);
  auto first = scenarios::MakeObject(kind, scenarios::WithIndex(made.expanded_, 0), "uid");
  if (!first) return Fail(first.error());
  const bool may_copy = kind == informers::Kind::kPod || kind == informers::Kind::kNode;
  if (may_copy && OnlyIdentityHasIndex(made.expanded_)) {
    if (auto pattern = scenarios::MakeObject(kind, made.expanded_, "uid")) {
      made.pattern_ = *std::move(pattern);
    }
  }
  return made;
}

api::ObjectPtr ObjectTemplate::Copy(size_t index, std::string uid) const {
  if (const auto* pod = api::As<api::Pod>(pattern_)) return CopyOf(*pod, index, std::move(uid));
  if (const auto* node = api::As<api::Node>(pattern_)) return CopyOf(*node, index, std::move(uid));
  auto made = scenarios::MakeObject(kind_, scenarios::WithIndex(expanded_, index), uid);
  BERTH_CHECK(made.has_value(), "what decodes for 0 decodes for every number");
  return *std::move(made);
}

std::string ObjectTemplate::KeyOfCopy(size_t index) const {
  return scenarios::KeyOfExpanded(kind_, scenarios::WithIndex(expanded_, index));
}

}  // namespace berth::bench
