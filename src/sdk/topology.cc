// SPDX-License-Identifier: Apache-2.0
#include "berth/topology.h"

#include <algorithm>

#include "src/sdk/identity.h"

namespace berth {

DomainId Topology::Find(std::string_view value) const {
  const auto at =
      std::lower_bound(by_value.begin(), by_value.end(), value,
                       [this](DomainId id, std::string_view text) { return values[id] < text; });
  return at != by_value.end() && values[*at] == value ? *at : kNoDomain;
}

size_t Topology::bytes() const {
  size_t bytes = key.capacity() + nodes.words().size_bytes() +
                 num_nodes.capacity() * sizeof(uint32_t) + by_value.capacity() * sizeof(DomainId) +
                 values.capacity() * sizeof(std::string);
  if (num_domains > 0) bytes += domain_of.size_bytes();
  for (const std::string& value : values) bytes += value.capacity();
  return bytes;
}

bool PodTerm::Matches(const api::Pod& pod) const {
  return (all_namespaces ||
          std::binary_search(namespaces.begin(), namespaces.end(), pod.metadata.namespace_)) &&
         selector.Matches(pod.metadata.labels);
}

bool PodQuery::Matches(const api::Pod& pod) const {
  if (skip_terminating && pod.metadata.deletion_timestamp) return false;
  return std::all_of(all_of.begin(), all_of.end(),
                     [&](const PodTerm& term) { return term.Matches(pod); });
}

void PodQuery::AppendIdentity(std::string& text) const {
  text += skip_terminating ? '\1' : '\0';
  AppendNumber(all_of.size(), text);
  for (const PodTerm& term : all_of) {
    text += term.all_namespaces ? '\1' : '\0';
    AppendTexts(term.namespaces, text);
    term.selector.AppendIdentity(text);
  }
}

std::string PodQuery::Identity() const {
  std::string text;
  AppendIdentity(text);
  return text;
}

}  // namespace berth
