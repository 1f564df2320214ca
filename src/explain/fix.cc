// SPDX-License-Identifier: Apache-2.0
#include "src/explain/fix.h"

#include "src/base/json.h"
#include "src/explain/text_table.h"

namespace berth::explain {
namespace {

using base::JsonObject;

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// The nodes that a table names; a document names all.
constexpr size_t kMostNodes = 3;

void AppendTaint(const api::Taint& taint, JsonObject& out) {
  JsonObject object(out.Key("taint"));
  object.Add("effect", taint.effect);
  object.Add("key", taint.key);
  object.AddIfNotEmpty("value", taint.value);
  object.Close();
}

void AppendChange(const Change& change, std::string& out) {
  JsonObject object(out);
  object.Add("change", ChangeName(change));
  std::visit(Overloaded{
                 [&](const LowerRequest& c) {
                   object.Add("from", c.from.ToCanonicalString());
                   object.Add("resource", c.resource);
                   object.Add("to", c.to.ToCanonicalString());
                 },
                 [&](const Tolerate& c) { AppendTaint(c.taint, object); },
                 [&](const AddNode& c) { object.Add("like", c.like); },
                 [&](const Uncordon& c) { object.Add("node", c.node); },
             },
             change);
  object.Close();
}

std::string NodesCell(const Fix& fix) {
  std::string text;
  for (size_t i = 0; i < fix.nodes.size() && i < kMostNodes; ++i) {
    text += (i == 0 ? "" : ", ") + fix.nodes[i];
  }
  if (fix.nodes.size() <= kMostNodes) return text;
  return text + " and " + Counted(fix.nodes.size() - kMostNodes, "other");
}

}  // namespace

std::string_view ChangeName(const Change& change) {
  return std::visit(Overloaded{
                        [](const LowerRequest&) { return "LowerRequest"; },
                        [](const Tolerate&) { return "Tolerate"; },
                        [](const AddNode&) { return "AddNode"; },
                        [](const Uncordon&) { return "Uncordon"; },
                    },
                    change);
}

std::string ToText(const api::Taint& taint) {
  return taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" + taint.effect;
}

std::string ToText(const Change& change) {
  return std::visit(Overloaded{
                        [](const LowerRequest& c) {
                          return "pod: request " + c.resource + " " + c.to.ToCanonicalString() +
                                 " instead of " + c.from.ToCanonicalString();
                        },
                        [](const Tolerate& c) { return "pod: tolerate " + ToText(c.taint); },
                        [](const AddNode& c) { return "cluster: one more node like " + c.like; },
                        [](const Uncordon& c) { return "cluster: uncordon " + c.node; },
                    },
                    change);
}

void AppendFixes(const std::vector<Fix>& fixes, std::string& out) {
  base::JsonList list(out);
  for (const Fix& fix : fixes) {
    JsonObject one(list.Next());
    base::JsonList changes(one.Key("changes"));
    for (const Change& change : fix.changes) AppendChange(change, changes.Next());
    changes.Close();
    one.Add("cost", fix.cost);
    base::AppendJsonList(fix.nodes, one.Key("nodes"));
    one.Close();
  }
  list.Close();
}

void AppendFixTable(const Fixes& fixes, std::string& out) {
  const std::string tried = Counted(fixes.tried, "trial") + (fixes.cut_short ? ", cut short" : "");
  if (fixes.fixes.empty()) {
    out += "\n  No change was found that lets it schedule (" + tried + ").\n";
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
  out += "\n  What would let it schedule, the smallest change first (" + tried + "):\n";
  table.Append("  ", out);
}

}  // namespace berth::explain
