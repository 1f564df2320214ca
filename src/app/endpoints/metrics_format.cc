// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/metrics_format.h"

#include <algorithm>
#include <string_view>

#include "src/serving/accept.h"

namespace berth::app {
namespace {

using serving::MediaRange;

constexpr std::string_view kText = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kProtobuf =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";
constexpr std::string_view kEscapings[] = {"allow-utf-8", "underscores", "dots", "values"};

std::string_view Parameter(const MediaRange& range, const std::string& name) {
  const auto found = range.parameters.find(name);
  return found == range.parameters.end() ? "" : std::string_view(found->second);
}

bool IsProtobuf(const MediaRange& range) {
  return range.type == "application" && range.subtype == "vnd.google.protobuf" &&
         Parameter(range, "proto") == "io.prometheus.client.MetricFamily" &&
         Parameter(range, "encoding") == "delimited";
}

bool IsText(const MediaRange& range) {
  const std::string_view version = Parameter(range, "version");
  return range.type == "text" && range.subtype == "plain" &&
         (version.empty() || version == "0.0.4");
}

}  // namespace

MetricsFormat MetricsFormatFor(const serving::Request& request) {
  const std::string* const accept = request.FindHeader("accept");
  std::string_view escaping = "underscores";
  const auto chosen = [&escaping](metrics::Format format, std::string_view type) {
    return MetricsFormat{format, std::string(type) + "; escaping=" + std::string(escaping)};
  };
  if (accept == nullptr) return chosen(metrics::Format::kText, kText);
  const std::vector<MediaRange> ranges = serving::ParseAccept(*accept);
  for (const MediaRange& range : ranges) {
    // What a better format asks for holds for the next ones, too.
    const auto known = std::ranges::find(kEscapings, Parameter(range, "escaping"));
    if (known != std::end(kEscapings)) escaping = *known;
    if (IsProtobuf(range)) return chosen(metrics::Format::kProtobuf, kProtobuf);
    if (IsText(range)) break;
  }
  return chosen(metrics::Format::kText, kText);
}

}  // namespace berth::app
