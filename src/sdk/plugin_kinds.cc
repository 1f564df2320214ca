// SPDX-License-Identifier: Apache-2.0
#include "berth/plugin_kinds.h"

#include <algorithm>
#include <utility>

#include "berth/field_errors.h"

namespace berth {
namespace {

constexpr size_t kLongestLabel = 63;
constexpr size_t kLongestGroup = 253;

// Kinds that have structs of their own, but for the core group, in which plugins have no kind.
constexpr std::pair<std::string_view, std::string_view> kReadByBerth[] = {
    {"apps", "replicasets"},
    {"apps", "statefulsets"},
    {"policy", "poddisruptionbudgets"},
    {"resource.k8s.io", "deviceclasses"},
    {"resource.k8s.io", "devicetaintrules"},
    {"resource.k8s.io", "resourceclaims"},
    {"resource.k8s.io", "resourceclaimtemplates"},
    {"resource.k8s.io", "resourceslices"},
    {"scheduling.k8s.io", "compositepodgroups"},
    {"scheduling.k8s.io", "podgroups"},
    {"scheduling.k8s.io", "workloads"},
    {"scheduling.x-k8s.io", "elasticquotas"},
    {"scheduling.x-k8s.io", "podgroups"},
    {"storage.k8s.io", "csidrivers"},
    {"storage.k8s.io", "csinodes"},
    {"storage.k8s.io", "csistoragecapacities"},
    {"storage.k8s.io", "storageclasses"},
    {"storage.k8s.io", "volumeattachments"},
    {"storage.k8s.io", "volumeattributesclasses"},
    {"topology.node.k8s.io", "noderesourcetopologies"},
};

bool IsLowerLetter(char c) { return c >= 'a' && c <= 'z'; }
bool IsDecimalDigit(char c) { return c >= '0' && c <= '9'; }
char LowerCase(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// One or more of letters, digits and '-', with none of the last at either end.
bool IsDnsLabel(std::string_view text) {
  return !text.empty() && text.size() <= kLongestLabel && text.front() != '-' &&
         text.back() != '-' && std::ranges::all_of(text, [](char c) {
           return IsLowerLetter(c) || IsDecimalDigit(c) || c == '-';
         });
}

bool IsApiGroup(std::string_view text) {
  if (text.size() > kLongestGroup) return false;
  for (size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.')) {
    if (!IsDnsLabel(text.substr(0, dot))) return false;
    text.remove_prefix(dot + 1);
  }
  return IsDnsLabel(text);
}

std::string NameRule(std::string_view what, size_t longest) {
  return "must be " + std::string(what) + " of at most " + std::to_string(longest) + " characters";
}

// What is wrong with the names; "": nothing.
std::string ProblemOfKind(const api::PluginKind& kind) {
  if (!IsApiGroup(kind.group)) {
    return InvalidField("group", Quoted(kind.group),
                        NameRule("a DNS subdomain in lower case", kLongestGroup));
  }
  const std::string label =
      NameRule("lower case letters, digits and '-', beginning with a letter", kLongestLabel);
  for (const auto& [field, name] : {std::pair("version", std::string_view(kind.version)),
                                    std::pair("resource", std::string_view(kind.resource))}) {
    if (!IsDnsLabel(name) || !IsLowerLetter(name.front()))
      return InvalidField(field, Quoted(name), label);
  }
  std::string lower = kind.kind;
  std::ranges::transform(lower, lower.begin(), LowerCase);
  if (!IsDnsLabel(lower) || !IsLowerLetter(lower.front())) {
    return InvalidField(
        "kind", Quoted(kind.kind),
        NameRule("letters, digits and '-', beginning with a letter", kLongestLabel));
  }
  for (const auto& [group, resource] : kReadByBerth) {
    if (kind.group == group && kind.resource == resource) {
      return ForbiddenField("resource",
                            "Berth reads " + kind.resource + "." + kind.group + " itself");
    }
  }
  return "";
}

std::string DescribeKind(const api::PluginKind& kind) {
  return kind.kind + " in version " + kind.version +
         (kind.namespaced ? ", with namespaces" : ", without namespaces");
}

}  // namespace

Result<api::PluginKindId> PluginKindTable::Add(const api::PluginKind& kind) {
  if (std::string problem = ProblemOfKind(kind); !problem.empty()) return Fail(std::move(problem));
  const size_t size = size_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < size; ++i) {
    const api::PluginKind& known = entries_[i].kind;
    if (known == kind) return static_cast<api::PluginKindId>(i);
    const bool same_resource = known.resource == kind.resource || known.kind == kind.kind;
    if (known.group != kind.group || !same_resource) continue;
    return Fail(ForbiddenField("resource", "another plugin asks for " + known.resource + "." +
                                               known.group + " as " + DescribeKind(known) +
                                               ", not " + DescribeKind(kind)));
  }
  if (size == entries_.size()) {
    return Fail(ForbiddenField("resource", "all plugins together may ask for at most " +
                                               std::to_string(entries_.size()) + " kinds"));
  }
  entries_[size] = {kind, kind.resource + "." + kind.version + "." + kind.group};
  size_.store(size + 1, std::memory_order_release);
  return static_cast<api::PluginKindId>(size);
}

PluginKindTable& PluginKinds() {
  static PluginKindTable table;
  return table;
}

}  // namespace berth
