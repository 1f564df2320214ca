// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

// The Prometheus text format, byte for byte as kube-scheduler's library for Go writes it.
namespace berth::metrics {

// The shortest text that reads back as the same number: "0.0032", "1.048576e+06", "+Inf".
std::string FormatValue(double value);

struct Label {
  std::string_view name;
  std::string_view value;
};

// The HELP and TYPE lines. `type` is "counter", "gauge" or "histogram".
void AppendHeader(std::string& text, std::string_view name, std::string_view type,
                  std::string_view help);
// One line: `name` and `suffix` joined, labels in the order given, then the value.
void AppendSample(std::string& text, std::string_view name, std::string_view suffix,
                  std::span<const Label> labels, double value);

}  // namespace berth::metrics
