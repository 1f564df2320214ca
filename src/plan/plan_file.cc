// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <utility>

#include "berth/config_value.h"
#include "berth/field_errors.h"
#include "src/api/time_format.h"
#include "src/documents/parse.h"
#include "src/plan/plan.h"

namespace berth::plan {
namespace {

constexpr std::string_view kVersion = "berth.dev/v1";
// `leading` is in those of a running scheduler.
constexpr std::string_view kFields[] = {"apiVersion", "goal",   "made",    "namespace", "outcome",
                                        "summary",    "moves",  "fewest",  "proved",    "gain",
                                        "gainUnit",   "before", "after",   "domains",   "leftOut",
                                        "judged",     "why",    "leading", "most",      "evict"};
// Clocks of two machines may differ by so much.
constexpr Duration kClockSkew = std::chrono::minutes(5);

bool IsPodKey(std::string_view key) {
  const size_t slash = key.find('/');
  return slash != std::string_view::npos && slash > 0 && slash + 1 < key.size() &&
         key.find('/', slash + 1) == std::string_view::npos;
}

Move ReadMove(const ConfigValue& value, const std::string& path, size_t least_wave,
              const Goal& goal, FieldReader& plan) {
  Move move;
  FieldReader fields(value, path);
  const auto require = [&fields](std::string_view field, std::string& out, std::string_view why) {
    const bool read = fields.Read(field, out);
    if (!read && fields.Get(field) == nullptr) {
      fields.Problem(RequiredField(fields.PathOf(field), why));
    }
  };
  require("pod", move.pod, "namespace/name");
  if (!move.pod.empty() && !IsPodKey(move.pod)) {
    fields.Invalid("pod", Quoted(move.pod), "must be namespace/name");
  }
  require("uid", move.uid, "tells whether the pod is still the same");
  fields.Read("from", move.from);
  if (goal.evict && !move.from.empty()) {
    fields.Read("to", move.to);
  } else {
    require("to", move.to, "the node that the pod goes to");
  }
  if (!move.to.empty() && move.to == move.from) {
    fields.Invalid("to", Quoted(move.to), "the pod is there already");
  }
  int64_t wave = 0;
  if (fields.Read("wave", wave)) {
    if (wave < static_cast<int64_t>(least_wave)) {
      fields.Invalid("wave", std::to_string(wave),
                     "must be at least " + std::to_string(least_wave));
    } else {
      move.wave = static_cast<size_t>(wave);
    }
  } else if (fields.Get("wave") == nullptr) {
    fields.Problem(RequiredField(fields.PathOf("wave"), "from 1"));
  }
  (void)fields.Get("frees");  // for people
  plan.Merge(fields);
  return move;
}

void ReadMoves(FieldReader& fields, Plan& plan) {
  size_t least_wave = 1;
  std::map<std::string, std::string> nodes;  // where the moves so far have left pods, by UID
  const ConfigValue::List& moves = fields.GetList("moves");
  for (size_t i = 0; i < moves.size(); ++i) {
    const std::string path = IndexedPath(fields.PathOf("moves"), i);
    Move move = ReadMove(moves[i], path, least_wave, plan.goal, fields);
    least_wave = std::max(least_wave, move.wave);
    const auto [known, is_first] = nodes.try_emplace(move.uid, move.to);
    if (!move.uid.empty() && !is_first) {
      // One that is moved once more, or gets a node after all.
      const bool follows = known->second == move.from && (plan.goal.evict || !move.from.empty());
      if (!follows) fields.Problem(DuplicateField(path + ".uid", Quoted(move.uid)));
      known->second = move.to;
    }
    plan.moves.push_back(std::move(move));
  }
}

void ReadGoal(FieldReader& fields, Plan& plan) {
  std::string text;
  if (!fields.Read("goal", text)) {
    if (fields.Get("goal") == nullptr) {
      fields.Problem(RequiredField("goal", "what the plan is for"));
    }
    return;
  }
  auto goal = Goal::Parse(text);
  if (goal && goal->kind == Goal::Kind::kSkew && goal->workload.namespace_.empty()) {
    fields.Invalid("goal", Quoted(text), "names the workload without its namespace");
  } else if (goal) {
    plan.goal = std::move(*goal);
  } else {
    fields.Invalid("goal", Quoted(text), goal.error().message);
  }
  fields.Read("namespace", plan.goal.namespace_);
  fields.Read("evict", plan.goal.evict);
  if (plan.goal.evict && !plan.goal.serves_pods()) fields.Invalid("evict", "true", kEvictsForPods);
}

void ReadMade(FieldReader& fields, Plan& plan) {
  std::string text;
  if (!fields.Read("made", text)) {
    if (fields.Get("made") == nullptr) {
      fields.Problem(RequiredField("made", "a plan of a dump has none; make it of the cluster"));
    }
    return;
  }
  const auto made = api::ParseTime(text);
  if (made) {
    plan.made = *made;
  } else {
    fields.Invalid("made", Quoted(text), made.error().message);
  }
}

void ReadOutcome(FieldReader& fields, Plan& plan) {
  constexpr std::string_view kUsable[] = {"found", "partly"};
  std::string text;
  if (!fields.Read("outcome", text)) {
    if (fields.Get("outcome") == nullptr) {
      fields.Problem(RequiredField("outcome", "found or partly"));
    }
    return;
  }
  plan.outcome = text == "partly" ? Plan::Outcome::kPartly : Plan::Outcome::kFound;
  if (text == "impossible" || text == "notFound") {
    fields.Invalid("outcome", Quoted(text), "there is nothing to carry out");
  } else if (text == "refused") {
    fields.Invalid("outcome", Quoted(text),
                   "its moves gain too little; make it without --min-gain");
  } else if (std::ranges::find(kUsable, text) == std::end(kUsable)) {
    fields.Problem(UnsupportedField("outcome", Quoted(text), kUsable));
  }
}

}  // namespace

Result<Plan> ReadPlan(std::string_view text, std::string_view file) {
  const auto documents = documents::ParseYaml(text, file);
  if (!documents) return Fail(documents.error());
  const std::string name(file);
  if (documents->size() != 1) {
    return Fail(name + ": holds " + std::to_string(documents->size()) +
                " documents, and one plan was expected");
  }
  const ConfigValue& document = documents->front();
  if (document.map() == nullptr) return Fail(name + ": a plan is a map");
  Plan plan;
  FieldReader fields(document, "");
  std::string version;
  if (!fields.Read("apiVersion", version) || version != kVersion) {
    return Fail(InvalidField(name + ": apiVersion", Quoted(version),
                             "a plan has " + std::string(kVersion)));
  }
  ReadGoal(fields, plan);
  ReadMade(fields, plan);
  ReadOutcome(fields, plan);
  ReadMoves(fields, plan);
  for (const std::string_view field : kFields) (void)fields.Get(field);
  if (auto error = fields.Finish()) return Fail(error->Within(name));
  return plan;
}

Result<void> CheckAge(const Plan& plan, Time now, Duration most) {
  if (!plan.made) return Fail("made: the plan is of no live cluster");
  const std::string made = api::FormatTime(*plan.made);
  if (*plan.made > now + kClockSkew) {
    return Fail(InvalidField("made", Quoted(made), "lies in the future"));
  }
  const Duration age = std::max(now - *plan.made, Duration::zero());
  if (most <= Duration::zero() || age <= most) return {};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(age);
  return Fail(InvalidField("made", Quoted(made),
                           "the plan is " + FormatGoDuration(seconds) +
                               " old; make it again, or raise --max-age (" +
                               FormatGoDuration(most) + ")"));
}

std::string DigestOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

}  // namespace berth::plan
