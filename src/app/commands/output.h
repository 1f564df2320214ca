// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "src/app/flags/flag_set.h"

namespace berth::app {

// kWide: a table of which nothing is cut or left out.
enum class OutputFormat { kTable, kWide, kJson, kYaml };

constexpr bool IsDocument(OutputFormat format) {
  return format == OutputFormat::kJson || format == OutputFormat::kYaml;
}

// --output, as kubectl's. `out` must outlive the set of flags.
void AddOutputFormat(FlagSet& flags, OutputFormat& out);
// The same where there is no table: JSON or YAML, whichever `out` stands at.
void AddDocumentFormat(FlagSet& flags, OutputFormat& out);

// Writes on standard output. What goes wrong EndOutput() tells.
void WriteOut(std::string_view text);
// For what is read while the command goes on.
void FlushOut();
// Ends the output of a command that returned `code`, and returns the program's exit code. That is
// kBadInput, with a line on standard error, where not all could be written. A reader that has gone
// away, as `head` does, asked for no more: `code` stays what it is, however much was read.
int EndOutput(int code);

// Prints a table, or what else people read, on standard output, fitted to its terminal. Control
// characters but line ends and tabs are made visible: names and messages come from strangers.
void PrintTable(std::string_view text, OutputFormat format);
// Prints a line on standard error; control characters as there.
void PrintNote(const std::string& line);
// The version of the documents, which is their first member: they may get further members, but none
// goes or changes its meaning without another version.
inline constexpr std::string_view kDocumentVersion = "berth.dev/v1";
// The JSON object with its version, which it may have already.
std::string WithVersion(std::string_view document);
// Prints JSON documents, each on a line of its own, or these as YAML documents, with their version.
void PrintDocuments(std::string_view lines, OutputFormat format);
// Prints documents or a table, as the format says.
void Print(std::string_view text, OutputFormat format);

}  // namespace berth::app
