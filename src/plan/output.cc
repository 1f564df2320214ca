// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "src/api/time_format.h"
#include "src/base/json.h"
#include "src/explain/text_table.h"
#include "src/packing/figures.h"
#include "src/plan/apply.h"

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
    case Plan::Outcome::kRefused:
      return "refused";
    case Plan::Outcome::kNotFound:
      break;
  }
  return "notFound";
}

std::string_view StateName(AppliedMove::State state) {
  using State = AppliedMove::State;
  switch (state) {
    case State::kAllowed:
      return "allowed";
    case State::kDone:
      return "done";
    case State::kSkipped:
      return "skipped";
    case State::kFailed:
      return "failed";
    case State::kNotBegun:
      break;
  }
  return "notBegun";
}

std::string_view OutcomeName(Applied::Outcome outcome) {
  switch (outcome) {
    case Applied::Outcome::kDone:
      return "done";
    case Applied::Outcome::kDryRun:
      return "allowed";
    case Applied::Outcome::kStopped:
      break;
  }
  return "stopped";
}

std::string FreesText(const Move& move) {
  std::string text;
  for (const auto& [resource, amount] : move.frees) {
    text += (text.empty() ? "" : ", ") + packing::AmountText(resource, amount) + ' ' + resource;
  }
  return text.empty() ? "a pod" : text;
}

bool HasMoves(const Plan& plan) {
  return plan.outcome == Plan::Outcome::kFound || plan.outcome == Plan::Outcome::kPartly ||
         plan.outcome == Plan::Outcome::kRefused;
}

// What the plan is for, as the subject of a sentence.
std::string Subject(const Plan& plan) {
  if (plan.goal.kind == Goal::Kind::kSkew) return plan.goal.workload.ToString();
  if (plan.goal.kind == Goal::Kind::kStranded) return "Stranded " + plan.goal.name;
  if (plan.goal.kind != Goal::Kind::kPending) return plan.goal.name;
  const size_t placed = plan.placed();
  const size_t all = placed + plan.left_out.size();
  const std::string pods = Counted(all, "pending pod");
  const bool whole = placed == 0 || plan.left_out.empty();
  return whole ? pods : std::to_string(placed) + " of " + pods;
}

// What is said of the subject.
struct Predicates {
  std::string reached;
  std::string as_it_is;  // to be added where nothing has to move
  std::string not_reached;
};

Predicates PredicatesOf(const Plan& plan, bool many) {
  const bool changes = plan.before != plan.after;
  switch (plan.goal.kind) {
    case Goal::Kind::kEmpty:
      return {" is empty", " already", " cannot be emptied"};
    case Goal::Kind::kSkew: {
      const std::string skew = " a skew of " + std::to_string(plan.after);
      const std::string before = changes ? " instead of " + std::to_string(plan.before) : "";
      const std::string over = " over " + plan.goal.topology_key;
      return {" has" + skew + before + over, " already", " keeps" + skew + over};
    }
    case Goal::Kind::kStranded: {
      const auto text = [&plan](int64_t amount) {
        return packing::AmountText(plan.goal.name, amount);
      };
      const std::string before = changes ? " instead of " + text(plan.before) : "";
      return {": " + text(plan.after) + before, " as it is", " stays " + text(plan.after)};
    }
    case Goal::Kind::kFit:
    case Goal::Kind::kPending:
      break;
  }
  return {many ? " fit" : " fits", " as it is", many ? " get no node" : " gets no node"};
}

// "2 moves", "2 moves and 1 eviction for good".
std::string Disruption(const Plan& plan) {
  const size_t for_good = plan.evicted_for_good();
  const size_t moves = plan.evictions() - for_good;
  if (for_good == 0) return Counted(moves, "move");
  const std::string evictions = Counted(for_good, "eviction") + " for good";
  return moves == 0 ? evictions : Counted(moves, "move") + " and " + evictions;
}

std::string Headline(const Plan& plan) {
  const std::string subject = Subject(plan);
  const Predicates predicates = PredicatesOf(plan, subject.ends_with("pods"));
  if (!HasMoves(plan)) return subject + predicates.not_reached + ": " + plan.why;
  const std::string what = subject + predicates.reached;
  const size_t evictions = plan.evictions();
  if (evictions == 0) return what + predicates.as_it_is + '.';
  std::string proof;
  if (plan.outcome == Plan::Outcome::kRefused) {
    proof = (evictions == 1 ? ", which does not pay: " : ", which do not pay: ") + plan.why;
  } else if (plan.has_fewest()) {
    proof = "; no plan has fewer";
  } else if (plan.outcome == Plan::Outcome::kPartly && plan.most) {
    proof = "; no plan has nodes for more";
  } else if (plan.outcome == Plan::Outcome::kFound && plan.fewest > 0) {
    proof = "; at least " + std::to_string(plan.fewest) + " would be needed";
  }
  return what + " after " + Disruption(plan) + proof + '.';
}

void AppendDomains(const Plan& plan, std::string& out) {
  explain::TextTable table;
  table.AddColumn("DOMAIN");
  for (const char* header : {"PODS", "AFTER"}) {
    table.AddColumn(header, explain::TextTable::Align::kRight);
  }
  for (const Plan::Domain& domain : plan.domains) {
    table.AddRow({domain.value, std::to_string(domain.before), std::to_string(domain.after)});
  }
  out += '\n';
  table.Append("  ", out);
}

void AppendMoves(const std::vector<Move>& moves, std::string& out) {
  base::JsonList list(out);
  for (const Move& move : moves) {
    base::JsonObject one(list.Next());
    one.Add("pod", move.pod);
    one.AddIfNotEmpty("uid", move.uid);
    one.AddIfNotEmpty("from", move.from);
    one.AddIfNotEmpty("to", move.to);
    one.Add("wave", move.wave);
    if (!move.from.empty()) {
      base::JsonObject frees(one.Key("frees"));
      for (const auto& [resource, amount] : move.frees) frees.Add(resource, amount);
    }
  }
}

// What the goal is about, before and after.
void AppendMeasure(const Plan& plan, base::JsonObject& document) {
  document.Add("before", plan.before);
  document.Add("after", plan.after);
  if (plan.domains.empty()) return;
  base::JsonList domains(document.Key("domains"));
  for (const Plan::Domain& domain : plan.domains) {
    base::JsonObject one(domains.Next());
    one.Add("domain", domain.value);
    one.Add("before", domain.before);
    one.Add("after", domain.after);
  }
}

}  // namespace

void AppendTable(const Plan& plan, std::string& out) {
  out += Headline(plan) + '\n';
  if (!plan.moves.empty()) {
    explain::TextTable table;
    table.AddColumn("WAVE", explain::TextTable::Align::kRight);
    for (const char* header : {"POD", "FROM", "TO", "FREES"}) table.AddColumn(header);
    for (const Move& move : plan.moves) {
      const bool waits = move.from.empty();
      table.AddRow({std::to_string(move.wave), move.pod, waits ? "-" : move.from,
                    move.to.empty() ? "-" : move.to, waits ? "" : FreesText(move)});
    }
    out += '\n';
    table.Append("  ", out);
  }
  if (!plan.domains.empty()) AppendDomains(plan, out);
  if (!plan.left_out.empty()) {
    explain::TextTable table;
    table.AddColumn("POD");
    table.AddColumn(plan.goal.serves_pods() ? "WAITS, SINCE" : "STAYS, SINCE");
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
  if (plan.goal.evict) document.Add("evict", true);
  document.Add("outcome", OutcomeName(plan.outcome));
  document.Add("summary", Headline(plan));
  document.AddIfNotEmpty("why", plan.why);
  if (HasMoves(plan)) {
    AppendMoves(plan.moves, document.Key("moves"));
    if (plan.outcome != Plan::Outcome::kRefused) {
      document.Add("fewest", plan.fewest);
      document.Add("proved", plan.has_fewest());
    }
    if (const auto gain = GainOf(plan)) {
      document.Key("gain") += gain->JsonText();
      document.Add("gainUnit", gain->unit);
    }
  }
  if (plan.goal.kind == Goal::Kind::kPending) document.Add("most", plan.most);
  if (plan.goal.is_measured()) AppendMeasure(plan, document);
  if (!plan.left_out.empty()) {
    std::string& left_out = document.Key("leftOut");
    left_out += '[';
    for (size_t i = 0; i < plan.left_out.size(); ++i) {
      if (i > 0) left_out += ',';
      base::JsonObject one(left_out);
      one.Add("pod", plan.left_out[i].pod);
      one.Add("why", plan.left_out[i].why);
    }
    left_out += ']';
  }
  document.Add("judged", plan.judged);
  document.Close();
  out += '\n';
}

void AppendTable(const Plan& plan, const Applied& applied, std::string& out) {
  out += plan.goal.ToString();
  const std::string moves = Counted(plan.moves.size(), "move");
  if (applied.outcome == Applied::Outcome::kDone) {
    out += ": " + moves + " of the plan carried out.\n";
  } else if (applied.outcome == Applied::Outcome::kDryRun) {
    out += ": the plan is allowed now. Nothing was done.\n";
  } else {
    out += ": stopped at " + applied.why + ".\n";
    if (applied.cordoned) out += plan.goal.name + " stays cordoned.\n";
  }
  if (plan.moves.empty()) return;
  explain::TextTable table;
  table.AddColumn("WAVE", explain::TextTable::Align::kRight);
  for (const char* header : {"POD", "FROM", "TO", "STATE", "WHY"}) table.AddColumn(header);
  for (size_t i = 0; i < plan.moves.size(); ++i) {
    const Move& move = plan.moves[i];
    const AppliedMove& one = applied.moves[i];
    const std::string& node = one.node.empty() ? move.to : one.node;
    table.AddRow({std::to_string(move.wave), move.pod, move.from.empty() ? "-" : move.from,
                  node.empty() ? "-" : node, std::string(StateName(one.state)), one.why});
  }
  out += '\n';
  table.Append("  ", out);
}

void AppendJson(const Plan& plan, const Applied& applied, std::string& out) {
  base::JsonObject document(out);
  document.Add("goal", plan.goal.ToString());
  document.Add("outcome", OutcomeName(applied.outcome));
  document.AddIfNotEmpty("why", applied.why);
  if (plan.goal.kind == Goal::Kind::kEmpty) document.Add("cordoned", applied.cordoned);
  base::JsonList moves(document.Key("moves"));
  for (size_t i = 0; i < plan.moves.size(); ++i) {
    const Move& move = plan.moves[i];
    const AppliedMove& one = applied.moves[i];
    base::JsonObject object(moves.Next());
    object.Add("pod", move.pod);
    object.Add("uid", move.uid);
    object.AddIfNotEmpty("from", move.from);
    object.AddIfNotEmpty("to", move.to);
    object.Add("wave", move.wave);
    object.Add("state", StateName(one.state));
    object.AddIfNotEmpty("node", one.node);
    if (!move.from.empty()) object.Add("evictions", one.evictions);
    object.AddIfNotEmpty("why", one.why);
  }
  moves.Close();
  document.Close();
  out += '\n';
}

}  // namespace berth::plan
