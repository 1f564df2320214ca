// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>

#include "berth/check.h"
#include "src/app/commands/terminal.h"
#include "src/app/flags/offline_flags.h"
#include "src/base/utf8.h"
#include "src/documents/parse.h"
#include "src/documents/write.h"

namespace berth::app {
namespace {

constexpr std::pair<std::string_view, OutputFormat> kFormats[] = {{"table", OutputFormat::kTable},
                                                                  {"wide", OutputFormat::kWide},
                                                                  {"json", OutputFormat::kJson},
                                                                  {"yaml", OutputFormat::kYaml}};

std::optional<OutputFormat> FormatOf(std::string_view value) {
  for (const auto& [name, format] : kFormats) {
    if (name == value) return format;
  }
  return std::nullopt;
}

// The control characters of texts for people.
constexpr std::string_view kLayout = "\n\t";

// The first error of standard output, an errno; 0: none.
int& FirstError() {
  static int error = 0;
  return error;
}

void NoteError() {
  if (FirstError() == 0) FirstError() = errno;
}

}  // namespace

void WriteOut(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) NoteError();
}

void FlushOut() {
  if (std::fflush(stdout) != 0) NoteError();
}

int EndOutput(int code) {
  FlushOut();
  const int error = std::exchange(FirstError(), 0);
  if (error == 0 || error == EPIPE) return code;
  return FailWith("write error: " + std::generic_category().message(error));
}

void PrintNote(const std::string& line) {
  std::fputs((base::Visible(line, kLayout) + '\n').c_str(), stderr);
}

std::string WithVersion(std::string_view document) {
  if (document.starts_with(R"({"apiVersion":)")) return std::string(document);
  BERTH_CHECK(document.starts_with('{'), "a document is an object");
  std::string text = R"({"apiVersion":")" + std::string(kDocumentVersion) + '"';
  const std::string_view members = document.substr(1);
  if (!members.starts_with('}')) text += ',';
  return text.append(members);
}

void AddOutputFormat(FlagSet& flags, OutputFormat& out) {
  flags.Add("output", "table|wide|json|yaml",
            "Form of the output (table); wide: of tables nothing is cut or left out.",
            [&out](const std::string& value) -> Result<void> {
              const auto format = FormatOf(value);
              if (!format) return Fail("must be table, wide, json or yaml");
              out = *format;
              return {};
            });
}

void AddDocumentFormat(FlagSet& flags, OutputFormat& out) {
  const std::string now = out == OutputFormat::kJson ? "json" : "yaml";
  flags.Add("output", "json|yaml", "Form of the output (" + now + ").",
            [&out](const std::string& value) -> Result<void> {
              const auto format = FormatOf(value);
              if (!format || !IsDocument(*format)) return Fail("must be json or yaml");
              out = *format;
              return {};
            });
}

void PrintTable(std::string_view text, OutputFormat format) {
  const std::string visible = base::Visible(text, kLayout);
  const size_t width = format == OutputFormat::kWide ? 0 : TerminalWidth();
  WriteOut(width == 0 ? visible : Fitted(visible, width));
}

void PrintDocuments(std::string_view lines, OutputFormat format) {
  std::string out;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    if (line.empty()) continue;
    const std::string document = WithVersion(line);
    if (format == OutputFormat::kYaml) {
      const auto tree = documents::ParseJson(document, "");
      BERTH_CHECK(tree.has_value(), "a document is JSON");
      out += "---\n" + documents::ToYaml(*tree);
    } else {
      out += document + '\n';
    }
  }
  WriteOut(out);
}

void Print(std::string_view text, OutputFormat format) {
  IsDocument(format) ? PrintDocuments(text, format) : PrintTable(text, format);
}

}  // namespace berth::app
