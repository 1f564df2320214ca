// SPDX-License-Identifier: Apache-2.0
#include "src/explain/verdict_json.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "berth/status.h"
#include "src/base/json.h"
#include "src/explain/in_the_way.h"

namespace berth::explain {
namespace {

using base::AppendJson;
using base::JsonObject;
using engine::Judgement;

// The text of a rejected node without its first brace; many nodes share one.
class Rejections {
 public:
  explicit Rejections(const Judgement& judgement) : statuses_(judgement.statuses()) {
    absent_ =
        Text(Status(Code::kUnschedulableAndUnresolvable), "", {std::string(kPreFilterReason)});
  }

  const std::string& Of(NodeRow row) {
    if (!statuses_.explicit_nodes().Test(row)) return absent_;
    const Status status = statuses_.Get(row);
    const std::string_view plugin = statuses_.plugin(row);
    // Interned reasons and plugins' names differ by their addresses.
    const auto [it, is_new] =
        texts_.try_emplace(std::tuple(&status.reasons(), status.code(), plugin.data()));
    if (is_new) it->second = Text(status, plugin, status.reasons());
    return it->second;
  }

 private:
  static std::string Text(const Status& status, std::string_view plugin, ReasonSet reasons) {
    std::sort(reasons.begin(), reasons.end());
    std::string out;
    JsonObject node(out);
    node.Add("code", CodeName(status.code()));
    node.Add("feasible", false);
    if (!plugin.empty()) node.Add("plugin", plugin);
    if (!reasons.empty()) base::AppendJsonList(reasons, node.Key("reasons"));
    node.Close();
    return out.substr(1);
  }

  const engine::NodeStatuses& statuses_;
  std::string absent_;
  std::map<std::tuple<const ReasonSet*, Code, const char*>, std::string> texts_;
};

// The score plugins of a judgement by name, with the text that comes before each raw score.
struct ScoreColumn {
  const framework::PluginScores* scores = nullptr;
  std::string before_raw;
};

std::vector<ScoreColumn> ColumnsByName(const Judgement& judgement) {
  std::vector<ScoreColumn> columns;
  for (const framework::PluginScores& scores : judgement.scores()) columns.push_back({&scores, ""});
  std::sort(columns.begin(), columns.end(), [](const ScoreColumn& a, const ScoreColumn& b) {
    return a.scores->entry->name < b.scores->entry->name;
  });
  for (ScoreColumn& column : columns) {
    if (&column != &columns.front()) column.before_raw += ',';
    AppendJson(column.scores->entry->name, column.before_raw);
    column.before_raw += ":{\"raw\":";
  }
  return columns;
}

// The entry of the feasible node at `index`, without its first brace.
void AppendFeasible(const Judgement& judgement, const std::vector<ScoreColumn>& columns,
                    size_t index, std::string& out) {
  out += "\"feasible\":true";
  if (!columns.empty()) {
    out += ",\"scores\":{";
    for (const ScoreColumn& column : columns) {
      out += column.before_raw;
      AppendJson(column.scores->raw[index], out);
      out += ",\"weighted\":";
      AppendJson(column.scores->normalised[index] * column.scores->entry->weight, out);
      out += '}';
    }
    out += '}';
  }
  if (const int64_t total = judgement.totals()[index]; total != 0) {
    out += ",\"total\":";
    AppendJson(total, out);
  }
  out += '}';
}

// The member that the entry of a node begins with, and a comma; nothing without claims.
void AppendClaims(const std::vector<ClaimPreview>& claims, std::string& out) {
  if (claims.empty()) return;
  out += "\"claims\":";
  base::JsonList list(out);
  for (const ClaimPreview& preview : claims) {
    JsonObject claim(list.Next());
    claim.Add("claim", preview.claim);
    if (preview.has_devices) base::AppendJsonList(preview.devices, claim.Key("devices"));
    claim.AddIfNotEmpty("problem", preview.problem);
    claim.AddIfNotEmpty("provisioner", preview.provisioner);
    claim.AddIfNotEmpty("volume", preview.volume);
  }
  list.Close();
  out += ',';
}

// Why PreFilter did not leave all nodes.
void AppendPreFilter(const Judgement& judgement, std::string& out) {
  JsonObject object(out);
  base::AppendJsonList(judgement.pre_filter_plugins(), object.Key("plugins"));
  base::AppendJsonList(judgement.statuses().absent().reasons(), object.Key("reasons"));
}

void AppendCandidate(const PreemptionCandidate& candidate, std::string& out) {
  std::vector<std::string> victims;
  for (const PodInfo* victim : candidate.victims) victims.push_back(victim->pod->metadata.Key());
  JsonObject object(out);
  if (candidate.num_pdb_violations != 0) object.Add("pdbViolations", candidate.num_pdb_violations);
  base::AppendJsonList(victims, object.Key("victims"));
}

void AppendPodGroup(const engine::PodGroupPreview& group, bool holds_pod, std::string& out) {
  JsonObject object(out);
  object.AddIfNotEmpty("compositePodGroup", group.composite_pod_group);
  object.Add("existing", group.existing);
  object.Add("fitting", group.fitting);
  if (holds_pod) object.Add("holdsPod", true);
  object.AddIfNotEmpty("message", group.message);
  if (group.min_count) object.Add("minCount", *group.min_count);
  if (group.min_group_count) object.Add("minGroupCount", *group.min_group_count);
  object.Add("missing", !group.exists);
  object.Add("placed", group.placed);
  object.Add("podGroup", group.pod_group);
  object.Add("starts", group.starts);
  base::JsonList waiting(object.Key("waiting"));
  for (const engine::PodGroupPreview::Member& member : group.waiting) {
    JsonObject pod(waiting.Next());
    pod.AddIfNotEmpty("message", member.message);
    pod.AddIfNotEmpty("node", member.node);
    pod.Add("pod", member.pod);
  }
}

}  // namespace

std::string_view ResultName(Judgement::Kind kind) {
  switch (kind) {
    case Judgement::Kind::kScheduled:
      return "scheduled";
    case Judgement::Kind::kUnschedulable:
      return "unschedulable";
    case Judgement::Kind::kGated:
      return "gated";
    case Judgement::Kind::kIgnored:
      return "ignored";
    case Judgement::Kind::kError:
      break;
  }
  return "error";
}

VerdictWriter::VerdictWriter(const Snapshot& snapshot, bool in_the_way)
    : snapshot_(snapshot), in_the_way_(in_the_way) {
  snapshot.nodes().ForEach([this](NodeRow row) { by_name_.push_back(row); });
  std::sort(by_name_.begin(), by_name_.end(), [&](NodeRow a, NodeRow b) {
    return snapshot.node(a).metadata.name < snapshot.node(b).metadata.name;
  });
  for (const NodeRow row : by_name_) {
    AppendJson(snapshot.node(row).metadata.name, names_.emplace_back());
    names_.back() += ':';
  }
}

void VerdictWriter::Append(const Judgement& judgement, const Explanation* beside,
                           std::string& out) const {
  JsonObject document(out);
  if (const std::vector<NodeRow> best = judgement.Best(); !best.empty()) {
    AppendNames(best, document.Key("best"));
  }
  if (!judgement.extenders_not_asked().empty()) {
    base::AppendJsonList(judgement.extenders_not_asked(), document.Key("extendersNotAsked"));
  }
  if (beside != nullptr && beside->fixes) {
    AppendFixes(beside->fixes->fixes, document.Key("fixes"));
    AddFixFacts(*beside->fixes, document);
  }
  if (in_the_way_ && judgement.kind() == Judgement::Kind::kUnschedulable) {
    AppendInTheWay(judgement, document.Key("inTheWay"));
  }
  if (!judgement.message().empty()) document.Add("message", judgement.message());
  AppendNodes(judgement, document.Key("nodes"));
  if (beside != nullptr && beside->placed != nullptr) {
    document.Add("placedOn", beside->placed->spec.node_name);
  }
  document.Add("pod", judgement.pod().metadata.Key());
  if (beside != nullptr && beside->group != nullptr) {
    AppendPodGroup(*beside->group, beside->held_by_group(), document.Key("podGroup"));
  }
  if (judgement.LeavesNodesOut()) AppendPreFilter(judgement, document.Key("preFilter"));
  if (judgement.preemption()) AppendPreemption(*judgement.preemption(), document.Key("preemption"));
  if (judgement.profile() != nullptr) {
    document.Add("profile", judgement.profile()->scheduler_name());
  }
  if (beside != nullptr && beside->position) {
    JsonObject queue(document.Key("queue"));
    AddPosition(*beside->position, queue);
  }
  document.AddIfNotEmpty("remark", judgement.remark());
  document.AddIfNotEmpty("resizeOn", judgement.resize_on());
  document.Add("result", ResultName(judgement.kind()));
  document.Close();
  out += '\n';
}

void VerdictWriter::AppendNames(const std::vector<NodeRow>& rows, std::string& out) const {
  std::vector<std::string_view> names;
  for (const NodeRow row : rows) names.push_back(snapshot_.node(row).metadata.name);
  std::sort(names.begin(), names.end());
  base::AppendJsonList(names, out);
}

void VerdictWriter::AppendInTheWay(const Judgement& judgement, std::string& out) const {
  InTheWay in_the_way(judgement);
  JsonObject nodes(out);
  for (const NodeRow row : by_name_) {
    nodes.AddIfNotEmpty(snapshot_.node(row).metadata.name, in_the_way.On(row));
  }
}

void VerdictWriter::AppendPreemption(const PreemptionPreview& preview, std::string& out) const {
  JsonObject object(out);
  if (!preview.best.empty()) {
    std::vector<NodeRow> best;
    for (const size_t i : preview.best) best.push_back(preview.candidates[i].row);
    AppendNames(best, object.Key("best"));
  }
  if (!preview.candidates.empty()) {
    std::map<std::string_view, const PreemptionCandidate*> by_name;
    for (const PreemptionCandidate& candidate : preview.candidates) {
      by_name.emplace(snapshot_.node(candidate.row).metadata.name, &candidate);
    }
    JsonObject candidates(object.Key("candidates"));
    for (const auto& [name, candidate] : by_name) AppendCandidate(*candidate, candidates.Key(name));
  }
  if (!preview.message.empty()) object.Add("message", preview.message);
  if (preview.moved) object.Add("moved", true);
}

void VerdictWriter::AppendNodes(const Judgement& judgement, std::string& out) const {
  out += '{';
  if (judgement.kind() == Judgement::Kind::kError && judgement.has_claims()) {
    for (size_t i = 0; i < by_name_.size(); ++i) {
      if (i > 0) out += ',';
      out += names_[i] + '{';
      AppendClaims(judgement.ClaimsOn(by_name_[i]), out);
      if (out.back() == ',') out.pop_back();
      out += '}';
    }
  } else if (judgement.kind() == Judgement::Kind::kScheduled ||
             judgement.kind() == Judgement::Kind::kUnschedulable) {
    constexpr size_t kRejected = SIZE_MAX;
    std::vector<size_t> index_of(snapshot_.num_rows(), kRejected);
    for (size_t i = 0; i < judgement.feasible().size(); ++i) index_of[judgement.feasible()[i]] = i;
    const std::vector<ScoreColumn> columns = ColumnsByName(judgement);
    Rejections rejections(judgement);
    for (size_t i = 0; i < by_name_.size(); ++i) {
      if (i > 0) out += ',';
      out += names_[i];
      const NodeRow row = by_name_[i];
      const size_t index = index_of[row];
      out += '{';
      if (judgement.has_claims()) AppendClaims(judgement.ClaimsOn(row), out);
      if (index == kRejected) {
        out += rejections.Of(row);
      } else {
        AppendFeasible(judgement, columns, index, out);
      }
    }
  }
  out += '}';
}

}  // namespace berth::explain
