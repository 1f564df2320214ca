// SPDX-License-Identifier: Apache-2.0
#include "src/explain/fix.h"

#include "src/explain/text_table.h"

namespace berth::explain {
namespace {

using base::JsonObject;

// The nodes that a table names; a document names all.
constexpr size_t kMostNodes = 3;

std::string NodesCell(const Fix& fix) {
  std::string text;
  for (size_t i = 0; i < fix.nodes.size() && i < kMostNodes; ++i) {
    text += (i == 0 ? "" : ", ") + fix.nodes[i];
  }
  if (fix.nodes.size() <= kMostNodes) return text;
  return text + " and " + Counted(fix.nodes.size() - kMostNodes, "other");
}

}  // namespace

void AddFixFacts(const Fixes& fixes, base::JsonObject& document) {
  if (fixes.cut_short) document.Add("fixesCutShort", true);
  document.AddIfNotEmpty("fixesOf", fixes.of);
}

void AppendFixes(const std::vector<Fix>& fixes, std::string& out) {
  base::JsonList list(out);
  for (const Fix& fix : fixes) {
    JsonObject one(list.Next());
    base::JsonList applications(one.Key("apply"));
    for (const Application& application : fix.applications) {
      AppendApplication(application, applications.Next());
    }
    applications.Close();
    base::JsonList changes(one.Key("changes"));
    for (const Change& change : fix.changes) AppendChange(change, changes.Next());
    changes.Close();
    one.Add("cost", fix.cost);
    base::AppendJsonList(fix.nodes, one.Key("nodes"));
  }
}

void AppendFixTable(const Fixes& fixes, bool commands, std::string& out) {
  const std::string tried = Counted(fixes.tried, "trial") + (fixes.cut_short ? ", cut short" : "");
  if (fixes.fixes.empty()) {
    out += "\n  No change was found that lets " +
           (fixes.of.empty() ? "it schedule" : "its pod group " + fixes.of + " start") + " (" +
           tried + ").\n";
    return;
  }
  TextTable table;
  table.AddColumn("COST", TextTable::Align::kRight);
  table.AddColumn("CHANGE");
  table.AddColumn("SCHEDULES ON");
  for (const Fix& fix : fixes.fixes) {
    for (size_t i = 0; i < fix.changes.size(); ++i) {
      const std::string text = ToText(fix.changes[i]);
      if (i == 0) {
        table.AddRow({std::to_string(fix.cost), text, NodesCell(fix)});
      } else {
        table.AddRow({"", "and " + text, ""});
      }
    }
  }
  const std::string whom = fixes.of.empty() ? "it" : fixes.of + ", which its pod group waits for,";
  out += "\n  What would let " + whom + " schedule, the smallest change first (" + tried + "):\n";
  table.Append("  ", out);
  if (!commands) return;
  out += "\n  The same with kubectl:\n";
  for (const Fix& fix : fixes.fixes) {
    out += '\n';
    for (size_t i = 0; i < fix.changes.size(); ++i) {
      out += (i == 0 ? "# " : "# and ") + ToText(fix.changes[i]) + '\n';
      for (const std::string& command : fix.applications[i].commands) out += command + '\n';
    }
  }
}

}  // namespace berth::explain
