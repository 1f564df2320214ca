// SPDX-License-Identifier: Apache-2.0
#include "src/extender/messages.h"

#include <algorithm>

#include "berth/config_value.h"
#include "src/api/decode.h"
#include "src/base/json.h"
#include "src/base/utf8.h"
#include "src/documents/json_values.h"
#include "src/documents/parse.h"

namespace berth::extender {
namespace {

template <typename T>
void AppendObject(const T& object, std::string& out) {
  if (object.source.json != nullptr) {
    out += *object.source.json;
  } else {
    out += api::EncodeJson(object);
  }
}

// The victim as the scheduler knows it: one that was assumed on a node has not got it in its text.
void AppendVictim(const api::Pod& victim, const std::string& node, std::string& out) {
  if (!victim.spec.node_name.empty()) return AppendObject(victim, out);
  constexpr std::string_view kSpec = "\"spec\":{";
  const std::string* text = victim.source.json.get();
  const size_t spec = text == nullptr ? std::string::npos : text->find(kSpec);
  if (spec == std::string::npos) {
    api::Pod placed = victim;
    placed.spec.node_name = node;
    out += api::EncodeJson(placed);
    return;
  }
  const size_t members = spec + kSpec.size();
  out.append(*text, 0, members);
  out += "\"nodeName\":";
  base::AppendJson(node, out);
  if (text->at(members) != '}') out += ',';
  out.append(*text, members);
}

// "a,b,c"
template <typename List, typename Append>
void AppendJoined(const List& list, std::string& out, Append append) {
  bool first = true;
  for (const auto& element : list) {
    if (!std::exchange(first, false)) out += ',';
    append(element);
  }
}

// Why a value cannot be read. The path is put together from the inside out.
class Problem {
 public:
  bool Expected(std::string_view what, const ConfigValue& got) {
    reason_ = "expected " + std::string(what) + ", got " + std::string(got.TypeName());
    return false;
  }
  bool In(std::string_view member) {
    path_ = path_.empty() ? std::string(member) : std::string(member) + "." + path_;
    return false;
  }
  bool In(size_t index) { return In("[" + std::to_string(index) + "]"); }
  Error ToError() const { return Error{path_.empty() ? reason_ : path_ + ": " + reason_}; }

 private:
  std::string path_;
  std::string reason_;
};

bool Read(const ConfigValue& value, std::string& out, Problem& problem) {
  if (value.string() == nullptr) return problem.Expected("a string", value);
  out = *value.string();
  return true;
}

bool Read(const ConfigValue& value, int64_t& out, Problem& problem) {
  if (value.integer() == nullptr) return problem.Expected("an integer", value);
  out = *value.integer();
  return true;
}

// Calls read(name, member) for each member; it tells whether to go on.
template <typename ReadMember>
bool ReadAllMembers(const ConfigValue& value, Problem& problem, ReadMember read) {
  if (value.is_null()) return true;
  if (value.map() == nullptr) return problem.Expected("an object", value);
  for (const auto& [name, member] : *value.map()) {
    if (!read(name, member)) return problem.In(name);
  }
  return true;
}

// The same for each member that is not null.
template <typename ReadMember>
bool ReadMembers(const ConfigValue& value, Problem& problem, ReadMember read) {
  return ReadAllMembers(value, problem, [&](const std::string& name, const ConfigValue& member) {
    return member.is_null() || read(name, member);
  });
}

// Calls read(element) for each element; it tells whether to go on.
template <typename ReadElement>
bool ReadElements(const ConfigValue& value, Problem& problem, ReadElement read) {
  if (value.is_null()) return true;
  if (value.list() == nullptr) return problem.Expected("a list", value);
  size_t index = 0;
  for (const ConfigValue& element : *value.list()) {
    if (!read(element)) return problem.In(index);
    ++index;
  }
  return true;
}

// Whether it is that member, in whatever case.
bool Is(std::string_view name, std::string_view member) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(name.begin(), name.end(), member.begin(), member.end(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

bool ReadNames(const ConfigValue& value, std::vector<std::string>& out, Problem& problem) {
  out.clear();
  return ReadElements(value, problem, [&](const ConfigValue& element) {
    out.emplace_back();
    return element.is_null() || Read(element, out.back(), problem);
  });
}

// The names in a NodeList.
bool ReadNodeList(const ConfigValue& value, std::vector<std::string>& out, Problem& problem) {
  const auto read_meta = [&](std::string_view name, const ConfigValue& member) {
    return !Is(name, "name") || Read(member, out.back(), problem);
  };
  const auto read_node = [&](std::string_view name, const ConfigValue& member) {
    return !Is(name, "metadata") ||
           ReadMembers(member, problem,
                       [&](std::string_view n, const ConfigValue& m) { return read_meta(n, m); });
  };
  out.clear();
  return ReadMembers(value, problem, [&](std::string_view name, const ConfigValue& member) {
    if (!Is(name, "items")) return true;
    return ReadElements(member, problem, [&](const ConfigValue& node) {
      out.emplace_back();
      return ReadMembers(node, problem, read_node);
    });
  });
}

bool ReadReasons(const ConfigValue& value, FilterAnswer::Reasons& out, Problem& problem) {
  out.clear();
  return ReadAllMembers(value, problem, [&](const std::string& name, const ConfigValue& member) {
    out.emplace_back(name, "");
    return member.is_null() || Read(member, out.back().second, problem);
  });
}

bool ReadVictims(const ConfigValue& value, NodeVictims& out, Problem& problem) {
  const auto read_pod = [&](const ConfigValue& pod) {
    out.pod_uids.emplace_back();
    return ReadMembers(pod, problem, [&](std::string_view name, const ConfigValue& member) {
      return !Is(name, "UID") || Read(member, out.pod_uids.back(), problem);
    });
  };
  return ReadMembers(value, problem, [&](std::string_view name, const ConfigValue& member) {
    if (Is(name, "Pods")) return ReadElements(member, problem, read_pod);
    return !Is(name, "NumPDBViolations") || Read(member, out.num_pdb_violations, problem);
  });
}

// The first value of the text, as Go's decoder reads it: what comes behind it does not count, nor
// does each but the last of equal members.
Result<ConfigValue> ParseFirst(std::string_view body) {
  documents::JsonValues values(body);
  if (const auto first = values.Next(); first && *first) {
    body = body.substr((*first)->begin, (*first)->end - (*first)->begin);
  }
  const auto ignore = [](std::string_view) {};
  if (base::IsUtf8(body)) return documents::ParseJson(body, "", ignore);
  return documents::ParseJson(base::ToUtf8(body), "", ignore);
}

// Parses `body` and has `read` fill a T from it.
template <typename T, typename ReadBody>
Result<T> ReadAs(std::string_view body, ReadBody read) {
  const auto value = ParseFirst(body);
  if (!value) return Fail(value.error());
  T out;
  Problem problem;
  if (!read(*value, out, problem)) return Fail(problem.ToError());
  return out;
}

}  // namespace

std::string ArgsBody(const api::Pod& pod, const Snapshot& snapshot, std::span<const NodeRow> nodes,
                     bool names_only) {
  std::string body = "{\"Pod\":";
  AppendObject(pod, body);
  if (names_only) {
    body += ",\"Nodes\":null,\"NodeNames\":[";
    AppendJoined(nodes, body,
                 [&](NodeRow row) { base::AppendJson(snapshot.node(row).metadata.name, body); });
    body += "]}";
  } else {
    body += ",\"Nodes\":{\"metadata\":{},\"items\":[";
    AppendJoined(nodes, body, [&](NodeRow row) { AppendObject(snapshot.node(row), body); });
    body += "]},\"NodeNames\":null}";
  }
  return body;
}

std::string PreemptionArgsBody(const api::Pod& pod, const Snapshot& snapshot,
                               std::span<const PreemptionCandidate> candidates, bool uids_only) {
  const auto name_of = [&](const PreemptionCandidate* candidate) -> const std::string& {
    return snapshot.node(candidate->row).metadata.name;
  };
  std::vector<const PreemptionCandidate*> sorted;
  for (const PreemptionCandidate& candidate : candidates) sorted.push_back(&candidate);
  std::sort(sorted.begin(), sorted.end(),
            [&](const auto* a, const auto* b) { return name_of(a) < name_of(b); });

  std::string body = "{\"Pod\":";
  AppendObject(pod, body);
  body += uids_only ? ",\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{"
                    : ",\"NodeNameToVictims\":{";
  AppendJoined(sorted, body, [&](const PreemptionCandidate* candidate) {
    base::AppendJson(name_of(candidate), body);
    body += ":{\"Pods\":[";
    AppendJoined(candidate->victims, body, [&](const PodInfo* victim) {
      if (!uids_only) return AppendVictim(*victim->pod, name_of(candidate), body);
      body += "{\"UID\":";
      base::AppendJson(victim->pod->metadata.uid, body);
      body += '}';
    });
    body += "],\"NumPDBViolations\":" + std::to_string(candidate->num_pdb_violations) + "}";
  });
  body += uids_only ? "}}" : "},\"NodeNameToMetaVictims\":null}";
  return body;
}

std::string BindingArgsBody(const api::Pod& pod, std::string_view node_name) {
  ConfigValue::Map args;
  args.emplace_back("PodName", ConfigValue(pod.metadata.name));
  args.emplace_back("PodNamespace", ConfigValue(pod.metadata.namespace_));
  args.emplace_back("PodUID", ConfigValue(pod.metadata.uid));
  args.emplace_back("Node", ConfigValue(std::string(node_name)));
  return ConfigValue(std::move(args)).ToJson();
}

Result<FilterAnswer> ReadFilterAnswer(std::string_view body) {
  return ReadAs<FilterAnswer>(
      body, [](const ConfigValue& value, FilterAnswer& out, Problem& problem) {
        return ReadMembers(value, problem, [&](std::string_view name, const ConfigValue& member) {
          if (Is(name, "Nodes")) return ReadNodeList(member, out.nodes.emplace(), problem);
          if (Is(name, "NodeNames")) return ReadNames(member, out.node_names.emplace(), problem);
          if (Is(name, "FailedNodes")) return ReadReasons(member, out.failed_nodes, problem);
          if (Is(name, "FailedAndUnresolvableNodes")) {
            return ReadReasons(member, out.failed_and_unresolvable_nodes, problem);
          }
          return !Is(name, "Error") || Read(member, out.error, problem);
        });
      });
}

Result<std::vector<HostScore>> ReadHostPriorityList(std::string_view body) {
  using List = std::vector<HostScore>;
  return ReadAs<List>(body, [](const ConfigValue& value, List& out, Problem& problem) {
    return ReadElements(value, problem, [&](const ConfigValue& element) {
      HostScore& score = out.emplace_back();
      return ReadMembers(element, problem, [&](std::string_view name, const ConfigValue& member) {
        if (Is(name, "Host")) return Read(member, score.host, problem);
        return !Is(name, "Score") || Read(member, score.score, problem);
      });
    });
  });
}

Result<std::vector<NodeVictims>> ReadPreemptionAnswer(std::string_view body) {
  using List = std::vector<NodeVictims>;
  return ReadAs<List>(body, [](const ConfigValue& value, List& out, Problem& problem) {
    return ReadMembers(value, problem, [&](std::string_view name, const ConfigValue& nodes) {
      if (!Is(name, "NodeNameToMetaVictims")) return true;
      if (nodes.map() == nullptr) return problem.Expected("an object", nodes);
      out.clear();
      for (const auto& [node, victims] : *nodes.map()) {
        out.push_back({node, {}, 0});
        if (!ReadVictims(victims, out.back(), problem)) return problem.In(node);
      }
      return true;
    });
  });
}

Result<std::string> ReadBindingAnswer(std::string_view body) {
  return ReadAs<std::string>(
      body, [](const ConfigValue& value, std::string& out, Problem& problem) {
        return ReadMembers(value, problem, [&](std::string_view name, const ConfigValue& member) {
          return !Is(name, "Error") || Read(member, out, problem);
        });
      });
}

}  // namespace berth::extender
