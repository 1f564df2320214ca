// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::explain {

// Columns of text for people to read. A header may have several lines; the last ones stand side by
// side.
//
// Thread safety: one owner.
class TextTable {
 public:
  enum class Align { kLeft, kRight };

  void AddColumn(const std::string& header, Align align = Align::kLeft);
  // One cell a column, on one line; control characters are made visible.
  void AddRow(std::vector<std::string> cells);
  // Every line begins with `indent` and ends without blanks.
  void Append(std::string_view indent, std::string& out) const;

 private:
  struct Column {
    std::vector<std::string> header;  // its lines
    Align align = Align::kLeft;
    size_t width = 0;
  };

  void AppendLine(std::string_view indent, const std::vector<std::string_view>& cells,
                  std::string& out) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// A plugin's name on several short lines: "Node\nResources\nFit".
std::string WrapPluginName(std::string_view name);

// "7 pods", "1 pod".
std::string Counted(size_t count, std::string_view noun);

}  // namespace berth::explain
