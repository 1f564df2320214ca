// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/text_format.h"

#include <array>
#include <charconv>
#include <cmath>

namespace berth::metrics {
namespace {

// Quotation marks end a label's value, but are plain text in a help line.
enum class QuotationMarks { kPlain, kEscaped };

void AppendEscaped(std::string& text, std::string_view value, QuotationMarks marks) {
  for (const char c : value) {
    if (c == '\n') {
      text.append("\\n");
    } else {
      if (c == '\\' || (c == '"' && marks == QuotationMarks::kEscaped)) text.push_back('\\');
      text.push_back(c);
    }
  }
}

}  // namespace

std::string FormatValue(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> buffer{};
  char* const begin = buffer.data();
  const auto written = [&](std::chars_format format) {
    return std::string_view(begin, std::to_chars(begin, begin + buffer.size(), value, format).ptr);
  };
  std::string scientific(written(std::chars_format::scientific));
  int exponent = 0;
  const char* digits = scientific.data() + scientific.find('e') + 1;
  if (*digits == '+') ++digits;
  std::from_chars(digits, scientific.data() + scientific.size(), exponent);
  // Go decides between the two forms by the exponent alone, C++ by length.
  if (exponent < -4 || exponent >= 6) return scientific;
  return std::string(written(std::chars_format::fixed));
}

void AppendHeader(std::string& text, std::string_view name, std::string_view type,
                  std::string_view help) {
  text.append("# HELP ").append(name).append(" ");
  AppendEscaped(text, help, QuotationMarks::kPlain);
  text.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
}

void AppendSample(std::string& text, std::string_view name, std::string_view suffix,
                  std::span<const Label> labels, double value) {
  text.append(name).append(suffix);
  char separator = '{';
  for (const Label& label : labels) {
    text.push_back(separator);
    text.append(label.name).append("=\"");
    AppendEscaped(text, label.value, QuotationMarks::kEscaped);
    text.push_back('"');
    separator = ',';
  }
  if (!labels.empty()) text.push_back('}');
  text.append(" ").append(FormatValue(value)).append("\n");
}

}  // namespace berth::metrics
