// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/replay_report.h"

#include <optional>
#include <utility>
#include <vector>

#include "src/app/version.h"
#include "src/base/json.h"
#include "src/explain/text_table.h"

namespace berth::app {
namespace {

using recording::AttemptEnded;
using recording::Difference;
using recording::ReplayReport;

// Messages of a hundred nodes' reasons would push the columns apart.
constexpr size_t kMostText = 120;

std::string Shortened(std::string text) {
  if (text.size() > kMostText) text = text.substr(0, kMostText - 3) + "...";
  return text;
}

std::string Cell(const std::optional<AttemptEnded>& decision) {
  if (!decision) return "(no decision)";
  if (!decision->node_name.empty()) return decision->node_name;
  return "none: " + Shortened(decision->message);
}

std::string SecondsAfter(Time start, Time at) {
  return FormatGoDuration(std::chrono::duration_cast<std::chrono::milliseconds>(at - start));
}

void AppendAttemptEnded(std::string_view name, const std::optional<AttemptEnded>& decision,
                        base::JsonObject& to) {
  if (!decision) {
    to.AddNull(name);
    return;
  }
  base::JsonObject object(to.Key(name));
  object.Add("code", CodeName(decision->code));
  object.AddIfNotEmpty("node", decision->node_name);
  object.AddIfNotEmpty("message", decision->message);
  object.Close();
}

}  // namespace

void AppendReplayTable(const std::string& id, const recording::Header& header,
                       const ReplayReport& report, std::string& out) {
  out += "Recording " + id + " of Berth " + header.berth_version + ", replayed by " +
         std::string(kVersion) + ": " + explain::Counted(report.messages, "message") + ", " +
         explain::Counted(report.decisions, "decision") + " in " +
         SecondsAfter(header.start, report.ended) + ".\n";
  if (report.problem) {
    out += *report.problem + (report.torn ? "; all that stands before it was replayed.\n" : "\n");
  }
  if (report.identical()) {
    out += "Every decision is the recorded one, bit for bit.\n";
    return;
  }
  out += explain::Counted(report.num_differences, "difference") + ", " +
         std::to_string(report.equal) + " decisions as recorded.";
  if (report.differences.size() < report.num_differences) {
    out += " The first " + std::to_string(report.differences.size()) + ":";
  }
  out += "\n\n";
  explain::TextTable table;
  table.AddColumn("DECISION", explain::TextTable::Align::kRight);
  table.AddColumn("AFTER", explain::TextTable::Align::kRight);
  for (const char* column : {"WHAT", "POD", "RECORDED", "NOW", "WHY"}) table.AddColumn(column);
  for (const Difference& difference : report.differences) {
    table.AddRow({std::to_string(difference.number), SecondsAfter(header.start, difference.at),
                  std::string(NameOf(difference.kind)), difference.pod, Cell(difference.recorded),
                  Cell(difference.replayed), Shortened(difference.why)});
  }
  table.Append("", out);
}

void AppendReplayJson(const std::string& id, const recording::Header& header,
                      const ReplayReport& report, std::string& out) {
  base::JsonObject object(out);
  object.Add("recording", id);
  object.Add("recordedBy", header.berth_version);
  object.Add("replayedBy", kVersion);
  object.Add("messages", report.messages);
  object.Add("cycles", report.cycles);
  object.Add("decisions", report.decisions);
  object.Add("identical", report.identical());
  object.Add("equal", report.equal);
  object.Add("differences", report.num_differences);
  if (report.problem) {
    object.Add("problem", *report.problem);
    object.Add("torn", report.torn);
  }
  base::JsonList list(object.Key("first"));
  for (const Difference& difference : report.differences) {
    base::JsonObject one(list.Next());
    one.Add("kind", NameOf(difference.kind));
    one.Add("decision", difference.number);
    one.Add("nanosecondsAfterStart", (difference.at - header.start).count());
    one.Add("pod", difference.pod);
    AppendAttemptEnded("recorded", difference.recorded, one);
    AppendAttemptEnded("replayed", difference.replayed, one);
    one.AddIfNotEmpty("why", difference.why);
    one.Close();
  }
  list.Close();
  object.Close();
  out += '\n';
}

}  // namespace berth::app
