// SPDX-License-Identifier: Apache-2.0
#include "src/packing/figures.h"

#include <cstdio>

#include "src/base/json.h"
#include "src/explain/text_table.h"

namespace berth::packing {
namespace {

using base::JsonList;
using base::JsonObject;
using explain::TextTable;

std::string Decimal(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.1f", value);
  std::string short_text = text;
  if (short_text.ends_with(".0")) short_text.erase(short_text.size() - 2);
  return short_text;
}

std::string ShareText(int64_t part, int64_t whole) {
  if (whole <= 0) return "-";
  return Decimal(100 * static_cast<double>(part) / static_cast<double>(whole)) + " %";
}

std::string PodText(const NamedAmounts& requests) {
  std::string text;
  for (const auto& [resource, amount] : requests) {
    text += (text.empty() ? "" : ", ") + resource + " " + AmountText(resource, amount);
  }
  return text.empty() ? "-" : text;
}

std::string PoolName(const PoolFigures& pool) { return pool.name.empty() ? "-" : pool.name; }

void AppendPools(const Figures& figures, std::string& out) {
  TextTable table;
  table.AddColumn("POOL");
  for (const char* header : {"OPEN", "CLOSED", "USED", "AT LEAST", "LARGEST GANG"}) {
    table.AddColumn(header, TextTable::Align::kRight);
  }
  table.AddColumn("OF");
  for (const PoolFigures& pool : figures.pools) {
    table.AddRow({PoolName(pool), std::to_string(pool.open_nodes),
                  std::to_string(pool.closed_nodes), std::to_string(pool.used_nodes),
                  std::to_string(pool.lower_bound),
                  pool.typical_pod.empty() ? "-" : std::to_string(pool.largest_gang),
                  PodText(pool.typical_pod)});
  }
  table.Append("", out);
}

// What the largest pod in the pool's proportion asks of the resource.
std::string LargestPodText(const PoolFigures& pool, std::string_view resource) {
  if (!pool.largest_pod || (resource != "cpu" && resource != "memory")) return "-";
  return AmountText(resource,
                    resource == "cpu" ? pool.largest_pod->milli_cpu : pool.largest_pod->memory);
}

void AppendResources(const Figures& figures, std::string& out) {
  TextTable table;
  table.AddColumn("POOL");
  table.AddColumn("RESOURCE");
  for (const char* header : {"REQUESTED", "OF", "SHARE"}) {
    table.AddColumn(header, TextTable::Align::kRight);
  }
  if (figures.of_namespace) {
    table.AddColumn("BY " + figures.of_namespace->namespace_, TextTable::Align::kRight);
  }
  for (const char* header : {"STRANDED", "LARGEST FREE", "LARGEST POD"}) {
    table.AddColumn(header, TextTable::Align::kRight);
  }
  for (const PoolFigures& pool : figures.pools) {
    for (const ResourceFigures& of : pool.resources) {
      if (of.allocatable == 0 && of.requested == 0) continue;
      std::vector<std::string> row = {
          PoolName(pool), of.resource, AmountText(of.resource, of.requested),
          AmountText(of.resource, of.allocatable), ShareText(of.requested, of.allocatable)};
      if (figures.of_namespace) row.push_back(AmountText(of.resource, of.requested_there));
      row.push_back(AmountText(of.resource, of.stranded));
      row.push_back(AmountText(of.resource, of.largest_free));
      row.push_back(LargestPodText(pool, of.resource));
      table.AddRow(std::move(row));
    }
  }
  table.Append("", out);
}

void AppendOvercommitted(const Figures& figures, std::string& out) {
  if (figures.overcommitted_nodes == 0) return;
  out += '\n' + explain::Counted(figures.overcommitted_nodes, "node") + " overcommitted:";
  for (const auto& [resource, nodes] : figures.overcommitted) {
    if (nodes > 0) out += ' ' + resource + " on " + std::to_string(nodes) + ',';
  }
  out.back() = '.';
  out += '\n';
}

void AppendAmounts(const NamedAmounts& amounts, std::string& out) {
  JsonObject object(out);
  for (const auto& [resource, amount] : amounts) {
    object.Add(resource == "cpu" ? "milliCPU" : std::string_view(resource), amount);
  }
}

void AppendPool(const PoolFigures& pool, bool of_namespace, std::string& out) {
  JsonObject object(out);
  object.Add("nodePool", pool.name);
  object.Add("openNodes", pool.open_nodes);
  object.Add("closedNodes", pool.closed_nodes);
  object.Add("usedNodes", pool.used_nodes);
  object.Add("usedNodesLowerBound", pool.lower_bound);
  constexpr std::pair<std::string_view, int64_t ResourceFigures::*> kMembers[] = {
      {"allocatable", &ResourceFigures::allocatable},
      {"requested", &ResourceFigures::requested},
      {"requestedByNamespace", &ResourceFigures::requested_there},
      {"stranded", &ResourceFigures::stranded},
      {"largestFree", &ResourceFigures::largest_free},
  };
  for (const auto& [name, member] : kMembers) {
    if (member == &ResourceFigures::requested_there && !of_namespace) continue;
    NamedAmounts amounts;
    for (const ResourceFigures& of : pool.resources) amounts.emplace_back(of.resource, of.*member);
    AppendAmounts(amounts, object.Key(name));
  }
  if (pool.largest_pod) {
    AppendAmounts({{"cpu", pool.largest_pod->milli_cpu}, {"memory", pool.largest_pod->memory}},
                  object.Key("largestPod"));
  }
  if (!pool.typical_pod.empty()) {
    AppendAmounts(pool.typical_pod, object.Key("typicalPod"));
    object.Add("largestGang", pool.largest_gang);
  }
}

}  // namespace

size_t Figures::nodes() const {
  size_t nodes = 0;
  for (const PoolFigures& pool : pools) nodes += pool.nodes();
  return nodes;
}

bool IsInBytes(std::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-");
}

std::string AmountText(std::string_view resource, int64_t amount) {
  const auto value = static_cast<double>(amount);
  if (resource == "cpu") {
    const bool hidden = amount % 100 != 0 && amount > -1000 && amount < 1000;
    return hidden ? std::to_string(amount) + "m" : Decimal(value / 1000);
  }
  if (!IsInBytes(resource)) return std::to_string(amount);
  constexpr const char* kUnits[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  size_t unit = 0;
  double scaled = value;
  for (; scaled >= 1024 && unit + 1 < std::size(kUnits); ++unit) scaled /= 1024;
  return Decimal(scaled) + kUnits[unit];
}

void AppendTable(const Figures& figures, std::string& out) {
  out += explain::Counted(figures.nodes(), "node") + " in " +
         explain::Counted(figures.pools.size(), "node pool") + "; " +
         explain::Counted(figures.pods, "pod") + " placed, " + std::to_string(figures.pending) +
         " pending.\n";
  if (const auto& pods = figures.of_namespace) {
    out += "Of them " + std::to_string(pods->placed) + " and " + std::to_string(pods->pending) +
           " in namespace " + pods->namespace_ + ".\n";
  }
  out += '\n';
  AppendPools(figures, out);
  out += '\n';
  AppendResources(figures, out);
  AppendOvercommitted(figures, out);
}

void AppendJson(const Figures& figures, std::string& out) {
  JsonObject object(out);
  object.Add("nodes", figures.nodes());
  object.Add("pods", figures.pods);
  object.Add("pendingPods", figures.pending);
  if (const auto& of_namespace = figures.of_namespace) {
    JsonObject pods(object.Key("ofNamespace"));
    pods.Add("namespace", of_namespace->namespace_);
    pods.Add("pods", of_namespace->placed);
    pods.Add("pendingPods", of_namespace->pending);
  }
  JsonList pools(object.Key("nodePools"));
  for (const PoolFigures& pool : figures.pools) {
    AppendPool(pool, figures.of_namespace.has_value(), pools.Next());
  }
  pools.Close();
  object.Add("overcommittedNodes", figures.overcommitted_nodes);
  JsonObject overcommitted(object.Key("overcommittedNodesByResource"));
  for (const auto& [resource, nodes] : figures.overcommitted) overcommitted.Add(resource, nodes);
  overcommitted.Close();
  object.Close();
  out += '\n';
}

}  // namespace berth::packing
