// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "berth/default_selector.h"
#include "berth/matching.h"
#include "src/framework/loadable/host_table.h"
#include "src/framework/loadable/plugin_handle.h"
#include "src/framework/loadable/views.h"

// Selectors and counts that plugins make. They own them: what they free is deleted here.
namespace berth::framework::loadable {
namespace {

const api::StringMap& LabelsOf(berth_map map) {
  static const api::StringMap kNone;
  return map.map == nullptr ? kNone : *static_cast<const api::StringMap*>(map.map);
}

berth_selector* Own(LabelSelectorMatcher matcher) {
  return std::make_unique<berth_selector>(berth_selector{std::move(matcher)}).release();
}

berth_counts* CountsMake(const berth_nodes* nodes, berth_string namespace_,
                         const berth_selector* selector, bool skip_terminating) {
  PodQuery query;
  query.all_of.push_back(
      {.namespaces = {std::string(Text(namespace_))}, .selector = selector->matcher});
  query.skip_terminating = skip_terminating;
  auto made = std::make_unique<berth_counts>();
  made->kept = SnapshotOf(nodes).CountPods(query);
  return made.release();
}

berth_counts* CountsCopy(const berth_counts* counts) {
  auto made = std::make_unique<berth_counts>();
  made->copy = counts->counts();
  return made.release();
}

void CountsRead(const berth_counts* counts, const uint32_t* rows, int64_t* pods, size_t n) {
  const Counts& by_row = counts->counts();
  for (size_t i = 0; i < n; ++i) pods[i] = by_row.Get(rows[i]);
}

void CountsEach(const berth_counts* counts, bool (*visit)(void*, uint32_t, int64_t),
                void* context) {
  bool more = true;
  counts->counts().ForEach([&](uint32_t row, int32_t pods) {
    if (more) more = visit(context, row, pods);
  });
}

berth_map ObjectSelector(const berth_object* object) {
  const auto* service = api::As<api::Service>(*ObjectOf(object).object);
  return service == nullptr ? berth_map{} : View(service->spec.selector);
}

}  // namespace

void FillCounts(berth_host& host) {
  host.object_selector = ObjectSelector;
  host.selector_of_labels = [](berth_map labels) {
    return Own(LabelSelectorMatcher::OfLabels(LabelsOf(labels)));
  };
  host.selector_of_pod = [](const berth_handle* handle, const berth_pod* pod) -> berth_selector* {
    LabelSelectorMatcher matcher = DefaultSelector(PodOf(pod), handle->handle.listers());
    return matcher.everything() ? nullptr : Own(std::move(matcher));
  };
  host.selector_matches = [](const berth_selector* selector, berth_map labels) {
    return selector->matcher.Matches(LabelsOf(labels));
  };
  host.selector_free = [](berth_selector* selector) {
    const std::unique_ptr<berth_selector> owned(selector);
  };
  host.counts_make = CountsMake;
  host.counts_copy = CountsCopy;
  host.counts_read = CountsRead;
  host.counts_each = CountsEach;
  host.counts_bytes = [](const berth_counts* counts) {
    return counts->copy.bytes() +
           ShareOf(counts->kept, counts->kept ? counts->kept->by_row().bytes() : 0);
  };
  host.counts_free = [](berth_counts* counts) {
    const std::unique_ptr<berth_counts> owned(counts);
  };
}

}  // namespace berth::framework::loadable
