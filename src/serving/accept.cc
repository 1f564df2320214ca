// SPDX-License-Identifier: Apache-2.0
#include "src/serving/accept.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "src/base/text.h"

namespace berth::serving {
namespace {

// The text up to `separator`, trimmed; `rest` keeps what follows.
std::string_view Cut(std::string_view& rest, char separator) {
  const size_t at = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return base::Trim(part);
}

// What is no number counts as 0: not acceptable.
double ParseQuality(std::string_view text) {
  double quality = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quality);
  return error == std::errc() && end == text.data() + text.size() ? quality : 0;
}

// nullopt: no media range.
std::optional<MediaRange> ParseRange(std::string_view clause) {
  MediaRange range;
  std::string_view names = Cut(clause, ';');
  range.type = Cut(names, '/');
  range.subtype = names.empty() && range.type == "*" ? "*" : base::Trim(names);
  if (range.type.empty() || range.subtype.empty() || names.find('/') != names.npos) {
    return std::nullopt;
  }
  while (!clause.empty()) {
    std::string_view value = Cut(clause, ';');
    const std::string_view name = Cut(value, '=');
    value = base::Trim(value);
    if (value.empty()) continue;
    if (name == "q") {
      range.quality = ParseQuality(value);
    } else {
      range.parameters[std::string(name)] = value;
    }
  }
  return range;
}

int LeftOpen(const MediaRange& range) {
  return (range.type == "*" ? 1 : 0) + (range.subtype == "*" ? 1 : 0);
}

}  // namespace

bool MediaRange::Includes(std::string_view other_type, std::string_view other_subtype) const {
  if (type == "*") return subtype == "*";
  return type == other_type && (subtype == "*" || subtype == other_subtype);
}

std::vector<MediaRange> ParseAccept(std::string_view header) {
  std::vector<MediaRange> ranges;
  while (!header.empty()) {
    if (auto range = ParseRange(Cut(header, ','))) ranges.push_back(*std::move(range));
  }
  std::ranges::stable_sort(ranges, [](const MediaRange& a, const MediaRange& b) {
    if (a.quality != b.quality) return a.quality > b.quality;
    return LeftOpen(a) < LeftOpen(b);
  });
  return ranges;
}

bool AcceptsGzip(std::string_view header) {
  while (!header.empty()) {
    std::string_view clause = Cut(header, ',');
    const std::string_view coding = Cut(clause, ';');
    if (coding != "gzip" && coding != "*") continue;
    std::string_view quality = clause;
    return quality.empty() || Cut(quality, '=') != "q" || ParseQuality(base::Trim(quality)) > 0;
  }
  return false;
}

}  // namespace berth::serving
