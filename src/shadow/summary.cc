// SPDX-License-Identifier: Apache-2.0
#include "src/shadow/summary.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/base/json.h"
#include "src/explain/text_table.h"

namespace berth::shadow {
namespace {

using explain::TextTable;

struct AgreementNames {
  std::string_view name;
  std::string_view text;
};

constexpr std::array<AgreementNames, kNumAgreements> kNames = {{
    {"same_node", "the same node"},
    {"tie", "another node of the same score"},
    {"lower_than_berth", "the other's node has the lower score"},
    {"higher_than_berth", "Berth's node has the lower score"},
    {"refused_by_berth", "Berth's plugins reject the other's node"},
}};

// What a table shows of each list; JSON has all.
constexpr size_t kMostRows = 20;

std::string Milliseconds(Duration duration) {
  const auto tenths = duration.count() / 100'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " ms";
}

std::string Share(uint64_t part, uint64_t of) {
  if (of == 0) return "-";
  const uint64_t tenths = (part * 1000 + of / 2) / of;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

std::string Score(const std::optional<int64_t>& score) {
  return score ? std::to_string(*score) : "-";
}

void AppendAgreements(const Summary& summary, std::string& out) {
  TextTable table;
  table.AddColumn("PODS", TextTable::Align::kRight);
  table.AddColumn("SHARE", TextTable::Align::kRight);
  table.AddColumn("COMPARED WITH BERTH'S CHOICE");
  for (size_t i = 0; i < kNumAgreements; ++i) {
    if (summary.pods[i] == 0) continue;
    table.AddRow({std::to_string(summary.pods[i]), Share(summary.pods[i], summary.compared()),
                  std::string(kNames[i].text)});
  }
  table.Append("", out);
}

void AppendSchedulers(const Summary& summary, std::string& out) {
  TextTable table;
  table.AddColumn("SCHEDULER");
  for (const char* column : {"P50", "P99", "SCORE GIVEN AWAY"}) {
    table.AddColumn(column, TextTable::Align::kRight);
  }
  const auto row = [&table](const char* name, const Durations& took, int64_t gave_away) {
    table.AddRow({name, Milliseconds(took.Percentile(0.5)), Milliseconds(took.Percentile(0.99)),
                  std::to_string(gave_away)});
  };
  row("Berth, until decided", summary.berth_took, summary.berth_gave_away);
  row("the other, until bound", summary.other_took, summary.other_gave_away);
  table.Append("", out);
}

void AppendDisagreements(const Summary& summary, std::string& out) {
  TextTable table;
  for (const char* column : {"POD", "BERTH", "OTHER", "SCORES", "WHY"}) table.AddColumn(column);
  size_t rows = 0;
  for (const Disagreement& found : summary.disagreements) {
    if (found.agreement == Agreement::kTie || rows == kMostRows) continue;
    ++rows;
    table.AddRow({found.pod, found.berth_node.empty() ? "-" : found.berth_node, found.other_node,
                  Score(found.berth_score) + " to " + Score(found.other_score), found.why});
  }
  if (rows == 0) return;
  out += "\nOther nodes that are no ties, the first " + std::to_string(rows) + ":\n";
  table.Append("", out);
}

void AppendOnlyOne(const std::vector<OnlyOne>& pods, uint64_t count, std::string_view what,
                   std::string& out) {
  if (count == 0) return;
  out += '\n' + explain::Counted(count, what) + ":\n";
  TextTable table;
  for (const char* column : {"POD", "NODE", "BERTH SAID"}) table.AddColumn(column);
  for (size_t i = 0; i < std::min(kMostRows, pods.size()); ++i) {
    table.AddRow({pods[i].pod, pods[i].node, pods[i].why});
  }
  table.Append("", out);
}

void AppendJson(std::string_view name, const std::vector<OnlyOne>& pods, base::JsonObject& to) {
  base::JsonList list(to.Key(name));
  for (const OnlyOne& found : pods) {
    base::JsonObject one(list.Next());
    one.Add("pod", found.pod);
    one.Add("node", found.node);
    one.AddIfNotEmpty("why", found.why);
  }
}

void AppendDurations(std::string_view name, const Durations& durations, base::JsonObject& to) {
  base::JsonObject object(to.Key(name));
  object.Add("count", durations.count());
  object.Add("p50Nanoseconds", durations.Percentile(0.5).count());
  object.Add("p99Nanoseconds", durations.Percentile(0.99).count());
}

void AppendJson(const Disagreement& found, std::string& out) {
  base::JsonObject object(out);
  object.Add("pod", found.pod);
  object.Add("comparison", NameOf(found.agreement));
  object.AddIfNotEmpty("berthNode", found.berth_node);
  object.Add("otherNode", found.other_node);
  if (found.berth_score) object.Add("berthScore", *found.berth_score);
  if (found.other_score) object.Add("otherScore", *found.other_score);
  object.Add("why", found.why);
}

}  // namespace

std::string_view NameOf(Agreement agreement) { return kNames[static_cast<size_t>(agreement)].name; }

void Durations::Add(Duration duration) {
  const double microseconds = std::max(1.0, static_cast<double>(duration.count()) / 1e3);
  const auto bucket = static_cast<size_t>(std::log2(microseconds) * kPerDoubling);
  ++buckets_[std::min(bucket, kBuckets - 1)];
  ++count_;
}

Duration Durations::Percentile(double share) const {
  if (count_ == 0) return {};
  const auto wanted = static_cast<uint64_t>(std::ceil(share * static_cast<double>(count_)));
  uint64_t seen = 0;
  size_t bucket = 0;
  while (bucket + 1 < kBuckets && (seen += buckets_[bucket]) < wanted) ++bucket;
  const double end = std::exp2(static_cast<double>(bucket + 1) / kPerDoubling);
  return Duration(static_cast<Duration::rep>(end * 1e3));
}

uint64_t Summary::compared() const {
  return std::accumulate(pods.begin(), pods.end(), uint64_t{0});
}

void AppendTable(const Summary& summary, std::string& out) {
  out += "In the shadow of another scheduler: " + explain::Counted(summary.compared(), "pod") +
         " bound by it.\n\n";
  AppendAgreements(summary, out);
  out += '\n';
  AppendSchedulers(summary, out);
  AppendDisagreements(summary, out);
  AppendOnlyOne(summary.only_other, summary.num_only_other,
                "bound pod of which Berth had said that it fits nowhere", out);
  AppendOnlyOne(summary.only_berth, summary.only_berth.size(),
                "pending pod that only Berth has a node for", out);
}

void AppendJson(const Summary& summary, std::string& out) {
  base::JsonObject object(out);
  object.Add("compared", summary.compared());
  base::JsonObject pods(object.Key("pods"));
  for (size_t i = 0; i < kNumAgreements; ++i) pods.Add(kNames[i].name, summary.pods[i]);
  pods.Close();
  base::JsonObject given_away(object.Key("scoreGivenAway"));
  given_away.Add("berth", summary.berth_gave_away);
  given_away.Add("other", summary.other_gave_away);
  given_away.Close();
  AppendDurations("berthTook", summary.berth_took, object);
  AppendDurations("otherTook", summary.other_took, object);
  object.Add("numDisagreements", summary.num_disagreements);
  base::JsonList disagreements(object.Key("disagreements"));
  for (const Disagreement& found : summary.disagreements) AppendJson(found, disagreements.Next());
  disagreements.Close();
  object.Add("numOnlyOther", summary.num_only_other);
  AppendJson("onlyOther", summary.only_other, object);
  AppendJson("onlyBerth", summary.only_berth, object);
  object.Close();
  out += '\n';
}

}  // namespace berth::shadow
