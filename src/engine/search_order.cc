// SPDX-License-Identifier: Apache-2.0
#include "src/engine/search_order.h"

#include <algorithm>

namespace berth::engine {

void SearchOrder::Refresh(Changes& changes, std::span<const NodeRow> rows) {
  const bool is_new = serial_ == 0;
  if (!is_new && generation_ == changes.cache().generation()) return;
  changes.Read(generation_);
  generation_ = changes.generation();
  if (!is_new && changes.complete() && changes.nodes().empty()) return;
  ++serial_;
  rows_.assign(rows.begin(), rows.end());
  ascending_ = std::ranges::is_sorted(rows_);
  places_.assign(changes.cache().num_rows(), kNoPlace);
  for (size_t place = 0; place < rows_.size(); ++place) {
    places_[rows_[place]] = static_cast<uint32_t>(place);
  }
}

}  // namespace berth::engine
