// SPDX-License-Identifier: Apache-2.0
#include "src/api/tree_reader.h"

#include <array>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "src/api/tables.h"
#include "src/api/time_format.h"
#include "src/api/wire_types.h"
#include "src/base/json.h"

namespace berth::api {

struct MemberReader;

namespace {

using Type = Tree::Type;

// A member of some struct. A struct is read by a loop over its members: to compare a name with each
// of them in code of its own for each struct takes the compiler a minute.
struct Member {
  std::string_view name;
  bool (*read)(MemberReader& reader, Tree::Node node, void* object) = nullptr;
};

}  // namespace

// How values of each type are read.
struct MemberReader {
  using Node = Tree::Node;

  const Tree& tree;
  UnknownFields unknown;
  Trail& trail;

  explicit MemberReader(TreeReader& reader)
      : tree(reader.tree_), unknown(reader.unknown_), trail(reader.trail_) {}

  bool WrongType(std::string_view wanted, Node node) {
    return trail.Fail("expected " + std::string(wanted) + ", got " +
                      std::string(tree.TypeName(node)));
  }

  // `typed`: apiVersion and kind are known to all that look, so they are no unknown fields.
  bool ReadStruct(Node node, void* object, std::span<const Member> members, bool typed) {
    const Type type = tree.Get(node).type;
    if (type == Type::kNull) return true;
    if (type != Type::kObject) return WrongType("an object", node);
    return tree.ForEachMember(node, [&](std::string_view key, Node value) {
      for (const Member& member : members) {
        if (key == member.name)
          return member.read(*this, value, object) || trail.InField(member.name);
      }
      if (unknown == UnknownFields::kSkip || (typed && (key == "apiVersion" || key == "kind")))
        return true;
      return trail.Fail("unknown field") || trail.InField(key);
    });
  }

  template <Struct T>
  bool Read(Node node, T& out);

  bool Read(Node node, bool& out) {
    const auto value = tree.Get(node);
    if (value.type == Type::kNull) return true;
    if (value.type != Type::kBoolean) return WrongType("true or false", node);
    out = value.boolean;
    return true;
  }

  bool Read(Node node, std::string& out) {
    const auto value = tree.Get(node);
    if (value.type == Type::kNull) return true;
    if (value.type != Type::kString) return WrongType("a string", node);
    out = value.string;
    return true;
  }

  bool Read(Node node, int64_t& out) {
    const auto value = tree.Get(node);
    if (value.type == Type::kNull) return true;
    if (value.type == Type::kOtherNumber)
      return trail.Fail("expected an integer, got " + tree.NumberText(node));
    if (value.type != Type::kInteger) return WrongType("an integer", node);
    out = value.integer;
    return true;
  }

  bool Read(Node node, int32_t& out) {
    int64_t value = out;
    if (!Read(node, value)) return false;
    if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
      return trail.Fail(std::to_string(value) + " is out of range");
    out = static_cast<int32_t>(value);
    return true;
  }

  bool Read(Node node, Quantity& out) {
    const auto value = tree.Get(node);
    if (value.type == Type::kNull) return true;
    std::string number;
    std::string_view text = value.string;
    if (value.type == Type::kInteger || value.type == Type::kOtherNumber) {
      number = tree.NumberText(node);
      text = number;
    } else if (value.type != Type::kString) {
      return WrongType("a quantity", node);
    }
    constexpr std::string_view kSpace = " \t\n\r";
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    while (!text.empty() && kSpace.find(text.back()) != std::string_view::npos)
      text.remove_suffix(1);
    const auto parsed = Quantity::Parse(text);
    if (!parsed) return trail.Fail(BadQuantity(text, parsed.error()));
    out = *parsed;
    return true;
  }

  bool Read(Node node, Time& out) {
    const auto value = tree.Get(node);
    if (value.type == Type::kNull) return true;
    if (value.type != Type::kString) return WrongType("a time", node);
    const auto parsed = ParseTime(value.string);
    if (!parsed) return trail.Fail(parsed.error().message);
    out = *parsed;
    return true;
  }

  bool Read(Node node, MicroTime& out) { return Read(node, out.time); }

  bool Read(Node node, IntOrString& out) {
    const auto value = tree.Get(node);
    if (value.type == Type::kNull) return true;
    if (value.type == Type::kString) {
      out = std::string(value.string);
      return true;
    }
    int32_t number = 0;
    if (!Read(node, number)) return false;
    out = number;
    return true;
  }

  bool Read(Node node, RawJson& out) {
    if (tree.Get(node).type == Type::kNull) return true;
    out.text.clear();
    if (const auto raw = tree.RawText(node)) {
      out.text = *raw;
    } else {
      AppendText(node, out.text);
    }
    return true;
  }

  bool Read(Node node, std::vector<bool>& out) {
    return ReadList(
        node,
        [&](Node element) {
          bool value = false;
          if (!Read(element, value)) return trail.InElement(out.size());
          out.push_back(value);
          return true;
        },
        [&] { out.clear(); });
  }

  template <Optional T>
  bool Read(Node node, T& out) {
    if (tree.Get(node).type == Type::kNull) return true;
    if (!out) out.emplace();
    return Read(node, *out);
  }

  template <typename T>
  bool Read(Node node, std::vector<T>& out) {
    if constexpr (kIsMap<std::vector<T>>) {
      return ReadMap(node, out);
    } else {
      return ReadList(
          node,
          [&](Node element) {
            return Read(element, out.emplace_back()) || trail.InElement(out.size() - 1);
          },
          [&] { out.clear(); });
    }
  }

  // `begin` is called ahead of the first element, where it is a list.
  bool ReadList(Node node, absl::FunctionRef<bool(Node)> visit, absl::FunctionRef<void()> begin) {
    const Type type = tree.Get(node).type;
    if (type == Type::kNull) return true;
    if (type != Type::kList) return WrongType("a list", node);
    begin();
    return tree.ForEachElement(node, visit);
  }

  template <typename T>
  bool ReadMap(Node node, std::vector<std::pair<std::string, T>>& out) {
    const Type type = tree.Get(node).type;
    if (type == Type::kNull) return true;
    if (type != Type::kObject) return WrongType("an object", node);
    const bool ok = tree.ForEachMember(node, [&](std::string_view key, Node value) {
      auto& entry = out.emplace_back();
      entry.first = key;
      return Read(value, entry.second) || trail.InKey(key);
    });
    SortMap(out);
    return ok;
  }

  void AppendText(Node node, std::string& out) {
    const auto value = tree.Get(node);
    switch (value.type) {
      case Type::kObject: {
        base::JsonObject object(out);
        tree.ForEachMember(node, [&](std::string_view key, Node member) {
          AppendText(member, object.Key(key));
          return true;
        });
        object.Close();
        return;
      }
      case Type::kList: {
        base::JsonList list(out);
        tree.ForEachElement(node, [&](Node element) {
          AppendText(element, list.Next());
          return true;
        });
        list.Close();
        return;
      }
      case Type::kString:
        return base::AppendJson(value.string, out);
      case Type::kBoolean:
        return base::AppendJson(value.boolean, out);
      case Type::kInteger:
      case Type::kOtherNumber:
        out += tree.NumberText(node);
        return;
      case Type::kNull:
        out += "null";
    }
  }
};

namespace {

template <typename T, typename... Fields>
constexpr void Collect(const FieldList<Fields...>& fields, Member*& next);

template <typename T, typename FieldOrNested>
constexpr void CollectOne(const FieldOrNested& field, Member*& next) {
  if constexpr (kIsNested<FieldOrNested>) {
    Collect<T>(field.fields, next);
  } else {
    *next++ = {field.name, [](MemberReader& reader, Tree::Node node, void* object) {
                 return reader.Read(node, static_cast<T*>(object)->*FieldOrNested::kMember);
               }};
  }
}

template <typename T, typename... Fields>
constexpr void Collect(const FieldList<Fields...>& fields, Member*& next) {
  fields.Apply([&](const auto&... field) { (CollectOne<T>(field, next), ...); });
}

template <Struct T>
constexpr auto MembersOf() {
  std::array<Member, CountFields(kFieldsOf<T>)> members;
  Member* next = members.data();
  Collect<T>(kFieldsOf<T>, next);
  return members;
}

template <typename T>
concept Kind = requires { KindOf<T>::kKind; };

}  // namespace

template <Struct T>
bool MemberReader::Read(Tree::Node node, T& out) {
  static constexpr auto kMembers = MembersOf<T>();
  return ReadStruct(node, &out, kMembers, Kind<T>);
}

template <typename T>
bool TreeReader::Read(Tree::Node node, T& out) {
  return MemberReader(*this).Read(node, out);
}

#define BERTH_INSTANTIATE(type) template bool TreeReader::Read(Tree::Node, type&);
BERTH_API_KINDS(BERTH_INSTANTIATE)
BERTH_INSTANTIATE(TypeMeta)
BERTH_INSTANTIATE(ListMeta)
BERTH_INSTANTIATE(ObjectHead)
BERTH_INSTANTIATE(BindingMessage)
BERTH_INSTANTIATE(EventMessage)
BERTH_INSTANTIATE(MetadataOnly)
BERTH_INSTANTIATE(NodeAffinity)
BERTH_INSTANTIATE(LabelSelector)
BERTH_INSTANTIATE(TopologySpreadConstraint)
BERTH_INSTANTIATE(Toleration)
#undef BERTH_INSTANTIATE

}  // namespace berth::api
