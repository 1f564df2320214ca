// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "src/api/time_format.h"
#include "src/base/json.h"
#include "src/explain/text_table.h"
#include "src/packing/figures.h"
#include "src/plan/plan.h"

namespace berth::plan {
namespace {

using explain::Counted;

std::string_view OutcomeName(Plan::Outcome outcome) {
  switch (outcome) {
    case Plan::Outcome::kFound:
      return "found";
    case Plan::Outcome::kPartly:
      return "partly";
    case Plan::Outcome::kImpossible:
      return "impossible";
    case Plan::Outcome::kNotFound:
      break;
  }
  return "notFound";
}

std::string FreesText(const Move& move) {
  std::string text;
  for (const auto& [resource, amount] : move.frees) {
    text += (text.empty() ? "" : ", ") + packing::AmountText(resource, amount) + ' ' + resource;
  }
  return text.empty() ? "a pod" : text;
}

// What the plan is for, as the subject of a sentence.
std::string Subject(const Plan& plan) {
  if (plan.goal.kind != Goal::Kind::kPending) return plan.goal.name;
  const size_t placed = plan.moves.size() - plan.evictions();
  const size_t all = placed + plan.left_out.size();
  const std::string pods = Counted(all, "pending pod");
  return plan.left_out.empty() ? pods : std::to_string(placed) + " of " + pods;
}

std::string Headline(const Plan& plan) {
  const std::string subject = Subject(plan);
  const bool empty = plan.goal.kind == Goal::Kind::kEmpty;
  const bool many = subject.ends_with("pods");
  if (plan.outcome == Plan::Outcome::kImpossible || plan.outcome == Plan::Outcome::kNotFound) {
    return subject +
           (empty  ? " cannot be emptied: "
            : many ? " get no node: "
                   : " gets no node: ") +
           plan.why + '\n';
  }
  const std::string what = subject + (empty ? " is empty" : many ? " fit" : " fits");
  const size_t evictions = plan.evictions();
  if (evictions == 0) return what + (empty ? " already.\n" : " as it is.\n");
  std::string proof;
  if (plan.has_fewest()) {
    proof = "; no plan has fewer";
  } else if (plan.outcome == Plan::Outcome::kFound && plan.fewest > 0) {
    proof = "; at least " + std::to_string(plan.fewest) + " would be needed";
  }
  return what + " after " + Counted(evictions, "move") + proof + ".\n";
}

}  // namespace

void AppendTable(const Plan& plan, std::string& out) {
  out += Headline(plan);
  if (!plan.moves.empty()) {
    explain::TextTable table;
    table.AddColumn("WAVE", explain::TextTable::Align::kRight);
    for (const char* header : {"POD", "FROM", "TO", "FREES"}) table.AddColumn(header);
    for (const Move& move : plan.moves) {
      const bool waits = move.from.empty();
      table.AddRow({std::to_string(move.wave), move.pod, waits ? "-" : move.from, move.to,
                    waits ? "" : FreesText(move)});
    }
    out += '\n';
    table.Append("  ", out);
  }
  if (!plan.left_out.empty()) {
    const bool empty = plan.goal.kind == Goal::Kind::kEmpty;
    explain::TextTable table;
    table.AddColumn("POD");
    table.AddColumn(empty ? "STAYS, SINCE" : "WAITS, SINCE");
    for (const LeftOut& one : plan.left_out) table.AddRow({one.pod, one.why});
    out += '\n';
    table.Append("  ", out);
  }
}

void AppendJson(const Plan& plan, std::string& out) {
  base::JsonObject document(out);
  document.Add("goal", plan.goal.ToString());
  if (plan.made) document.Add("made", api::FormatTime(*plan.made));
  document.AddIfNotEmpty("namespace", plan.goal.namespace_);
  document.Add("outcome", OutcomeName(plan.outcome));
  document.AddIfNotEmpty("why", plan.why);
  if (plan.outcome == Plan::Outcome::kFound || plan.outcome == Plan::Outcome::kPartly) {
    std::string& moves = document.Key("moves");
    moves += '[';
    for (size_t i = 0; i < plan.moves.size(); ++i) {
      const Move& move = plan.moves[i];
      if (i > 0) moves += ',';
      base::JsonObject one(moves);
      one.Add("pod", move.pod);
      one.AddIfNotEmpty("uid", move.uid);
      one.AddIfNotEmpty("from", move.from);
      one.Add("to", move.to);
      one.Add("wave", move.wave);
      if (!move.from.empty()) {
        base::JsonObject frees(one.Key("frees"));
        for (const auto& [resource, amount] : move.frees) frees.Add(resource, amount);
        frees.Close();
      }
      one.Close();
    }
    moves += ']';
    document.Add("fewest", plan.fewest);
    document.Key("proved") += plan.has_fewest() ? "true" : "false";
  }
  if (!plan.left_out.empty()) {
    std::string& left_out = document.Key("leftOut");
    left_out += '[';
    for (size_t i = 0; i < plan.left_out.size(); ++i) {
      if (i > 0) left_out += ',';
      base::JsonObject one(left_out);
      one.Add("pod", plan.left_out[i].pod);
      one.Add("why", plan.left_out[i].why);
      one.Close();
    }
    left_out += ']';
  }
  document.Add("judged", plan.judged);
  document.Close();
  out += '\n';
}

}  // namespace berth::plan
