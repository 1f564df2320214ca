// SPDX-License-Identifier: Apache-2.0
#include "berth/fit_error.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace berth {

void ReasonHistogram::Add(const ReasonSet& reasons, size_t count) {
  for (auto& [known, n] : sets_) {
    if (known == &reasons) {
      n += count;
      return;
    }
  }
  sets_.emplace_back(&reasons, count);
}

std::string ReasonHistogram::ToString() const {
  std::map<std::string_view, size_t> counts;
  for (const auto& [reasons, n] : sets_)
    for (const std::string& reason : *reasons) counts[reason] += n;
  std::vector<std::string> lines;
  for (const auto& [reason, n] : counts) {
    lines.push_back(std::to_string(n) + ' ' + std::string(reason));
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? " " : ", ") + line;
  return text.empty() ? text : text + '.';
}

std::string FitErrorHead(size_t nodes) {
  return "0/" + std::to_string(nodes) + " nodes are available:";
}

}  // namespace berth
