// SPDX-License-Identifier: Apache-2.0
#include "src/explain/text_table.h"

#include <algorithm>
#include <utility>

#include "berth/check.h"
#include "src/base/utf8.h"

namespace berth::explain {
namespace {

constexpr size_t kWrappedWidth = 10;

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

}  // namespace

void TextTable::AddColumn(const std::string& header, Align align) {
  Column& column = columns_.emplace_back();
  column.align = align;
  for (size_t begin = 0; begin <= header.size();) {
    const size_t end = std::min(header.find('\n', begin), header.size());
    column.header.push_back(header.substr(begin, end - begin));
    column.width = std::max(column.width, end - begin);
    begin = end + 1;
  }
}

void TextTable::AddRow(std::vector<std::string> cells) {
  BERTH_CHECK(cells.size() == columns_.size(), "a row has one cell a column");
  for (size_t i = 0; i < cells.size(); ++i) {
    cells[i] = base::Visible(cells[i]);
    columns_[i].width = std::max(columns_[i].width, cells[i].size());
  }
  rows_.push_back(std::move(cells));
}

void TextTable::Append(std::string_view indent, std::string& out) const {
  size_t header_lines = 0;
  for (const Column& column : columns_) header_lines = std::max(header_lines, column.header.size());
  for (size_t line = 0; line < header_lines; ++line) {
    std::vector<std::string_view> cells;
    for (const Column& column : columns_) {
      const size_t missing = header_lines - column.header.size();
      cells.push_back(line < missing ? std::string_view() : column.header[line - missing]);
    }
    AppendLine(indent, cells, out);
  }
  for (const auto& row : rows_) AppendLine(indent, {row.begin(), row.end()}, out);
}

void TextTable::AppendLine(std::string_view indent, const std::vector<std::string_view>& cells,
                           std::string& out) const {
  std::string line(indent);
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += "  ";
    const std::string blanks(columns_[i].width - cells[i].size(), ' ');
    if (columns_[i].align == Align::kRight) line += blanks;
    line += cells[i];
    if (columns_[i].align == Align::kLeft) line += blanks;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

std::string WrapPluginName(std::string_view name) {
  std::string out;
  size_t line = 0;  // characters in the last line
  for (size_t begin = 0; begin < name.size();) {
    size_t end = begin + 1;
    while (end < name.size() && !(IsUpper(name[end]) && !IsUpper(name[end - 1]))) ++end;
    if (line > 0 && line + (end - begin) > kWrappedWidth) {
      out += '\n';
      line = 0;
    }
    out += name.substr(begin, end - begin);
    line += end - begin;
    begin = end;
  }
  return out;
}

std::string Counted(size_t count, std::string_view noun) {
  return std::to_string(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace berth::explain
