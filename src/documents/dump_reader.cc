// SPDX-License-Identifier: Apache-2.0
#include "src/documents/dump_reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "src/api/decode.h"
#include "src/api/json_error.h"
#include "src/api/json_object_reader.h"
#include "src/documents/json_values.h"
#include "src/documents/parse.h"

namespace berth::documents {

std::string DumpPlace::ToString() const {
  std::string text = file_name_.empty() ? "line " : std::string(file_name_) + ":";
  text += std::to_string(line()) + ": document " + std::to_string(document_);
  const char* separator = ", ";
  for (const size_t index : items_) {
    text += separator + ("items[" + std::to_string(index) + "]");
    separator = ".";
  }
  return text;
}

int DumpPlace::line() const {
  if (line_ != 0) return line_;
  return 1 + static_cast<int>(std::count(head_.begin(), head_.end(), '\n'));
}

void DumpPlace::SetOffset(std::string_view text, size_t offset) {
  line_ = 0;
  head_ = text.substr(0, offset);
}

namespace {

constexpr size_t kMaxNestedLists = 8;
constexpr size_t kDumpProgressStep = size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kListSuffix = "List";

std::string_view GroupOf(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

// An object that can be read as any kind: the last one that a api::JsonObjectReader parsed, or a
// document tree.
struct JsonSource {
  const api::JsonObjectReader& reader;

  template <typename T>
  Result<void> Read(T& out) const {
    return reader.Read(out);
  }
};

struct YamlSource {
  const ConfigValue& value;
  std::string_view path = "";

  template <typename T>
  Result<void> Read(T& out) const {
    auto read = api::DecodeValue<T>(value, path);
    if (!read) return Fail(read.error());
    out = *std::move(read);
    return {};
  }
};

template <typename T, typename Source>
Result<api::ObjectPtr> ReadAs(const Source& source) {
  auto object = std::make_shared<T>();
  if (auto read = source.Read(*object); !read) return Fail(read.error());
  return api::ObjectPtr(std::shared_ptr<const T>(std::move(object)));
}

template <typename Source>
struct DumpKind {
  std::string_view api_version;
  std::string_view kind;
  Result<api::ObjectPtr> (*read)(const Source&);
};

template <typename Source, typename... Kinds>
constexpr auto MakeDumpKinds(
    std::type_identity<std::variant<std::monostate, std::shared_ptr<const Kinds>...>>) {
  return std::array{DumpKind<Source>{api::KindOf<Kinds>::kApiVersion, api::KindOf<Kinds>::kKind,
                                     ReadAs<Kinds, Source>}...};
}

// Every kind that an api::ObjectPtr can hold.
template <typename Source>
constexpr auto kDumpKinds = MakeDumpKinds<Source>(std::type_identity<api::ObjectPtr>());

// The kind that Berth reads, or nullptr. Errors: it is in a version that Berth does not read.
template <typename Source>
Result<const DumpKind<Source>*> FindKind(const api::TypeMeta& type) {
  for (const DumpKind<Source>& known : kDumpKinds<Source>) {
    if (known.kind != type.kind || GroupOf(known.api_version) != GroupOf(type.api_version))
      continue;
    if (known.api_version == type.api_version) return &known;
    return Fail("apiVersion: " + type.kind + " is read in version " +
                std::string(known.api_version) + ", not " + type.api_version);
  }
  return nullptr;
}

// What an object says it is; "" where it does not.
Result<api::TypeMeta> StatedType(const ConfigValue& value) {
  if (value.map() == nullptr)
    return Fail("expected an object, got " + std::string(value.TypeName()));
  api::TypeMeta type;
  for (const auto& [name, out] :
       {std::pair("apiVersion", &type.api_version), std::pair("kind", &type.kind)}) {
    const ConfigValue* member = value.Find(name);
    if (member == nullptr) continue;
    if (member->string() == nullptr)
      return Fail(std::string(name) + ": expected a string, got " +
                  std::string(member->TypeName()));
    *out = *member->string();
  }
  return type;
}

class DumpReader {
 public:
  DumpReader(std::string_view text, std::string_view file_name, const DumpVisitor& visit,
             const DumpProgress& progress)
      : text_(text),
        file_name_(file_name),
        visit_(visit),
        progress_(progress),
        place_(file_name, 0) {}

  Result<DumpStats> Read() {
    const size_t mark = text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    const size_t first = text_.find_first_not_of(" \t\r\n", mark);
    const bool json =
        first != std::string_view::npos && (text_[first] == '{' || text_[first] == '[');
    if (auto read = json ? ReadJson(first) : ReadYaml(); !read) return Fail(read.error());
    if (progress_ != nullptr) progress_(text_.size());
    return std::move(stats_);
  }

 private:
  tl::unexpected<Error> FailHere(const Error& error) const {
    return Fail(error.Within(place_.ToString()));
  }
  tl::unexpected<Error> FailHere(std::string_view reason) const {
    return FailHere(Error{std::string(reason)});
  }

  // Fills in what the list around says of its items.
  Result<api::TypeMeta> Complete(api::TypeMeta type, const api::TypeMeta& inherited) const {
    if (type.api_version.empty()) type.api_version = inherited.api_version;
    if (type.kind.empty()) type.kind = inherited.kind;
    if (type.kind.empty()) return FailHere("kind: must be stated");
    if (type.api_version.empty()) return FailHere("apiVersion: must be stated");
    return type;
  }

  // Whether `type` is a list; kinds of others may end so too.
  static bool IsList(const api::TypeMeta& type, bool has_items) {
    if (!type.kind.ends_with(kListSuffix)) return false;
    return has_items || type.kind == kListSuffix ||
           std::any_of(kDumpKinds<JsonSource>.begin(), kDumpKinds<JsonSource>.end(),
                       [&](const auto& known) {
                         return known.api_version == type.api_version &&
                                type.kind.starts_with(known.kind) &&
                                type.kind.size() == known.kind.size() + kListSuffix.size();
                       });
  }
  // The type of a list's items, where they do not state one.
  static api::TypeMeta ItemTypeOf(const api::TypeMeta& list) {
    if (list.kind == kListSuffix) return {};
    return {list.api_version, list.kind.substr(0, list.kind.size() - kListSuffix.size())};
  }

  template <typename Source>
  Result<void> ReadObject(const api::TypeMeta& type, const Source& source) {
    const auto known = FindKind<Source>(type);
    if (!known) return FailHere(known.error());
    if (*known == nullptr) {
      const std::string_view group = GroupOf(type.api_version);
      ++stats_.skipped[group.empty() ? type.kind : type.kind + "." + std::string(group)];
      return {};
    }
    auto object = (*known)->read(source);
    if (!object) return FailHere(object.error());
    ++stats_.objects;
    if (auto visited = visit_(*std::move(object), place_); !visited)
      return FailHere(visited.error());
    return {};
  }

  // `read(i)` for each of a list's items, with the place set to it.
  template <typename F>
  Result<void> ForEachItem(size_t count, F read) {
    if (place_.items().size() == kMaxNestedLists) return FailHere("lists are nested too deeply");
    place_.EnterItem();
    for (size_t i = 0; i < count; ++i) {
      place_.SetItem(i);
      if (auto done = read(i); !done) return done;
    }
    place_.LeaveItem();
    return {};
  }

  Result<void> ReadJson(size_t begin) {
    JsonValues values(text_, begin);
    for (;;) {
      const auto next = values.Next();
      place_ = DumpPlace(file_name_, stats_.documents + 1);
      if (!next) {
        place_.SetOffset(text_, next.error().offset);
        return FailHere(next.error().reason);
      }
      if (!*next) return {};
      ++stats_.documents;
      if (auto read = ReadJsonDocument(**next); !read) return read;
    }
  }

  Result<void> ReadJsonDocument(const JsonValue& value) {
    place_.SetOffset(text_, value.begin);
    const std::string_view text = Between(value.begin, value.end);
    if (!value.has_items) return ReadJsonObject(text, {});
    // Items are parsed one by one; the rest of the list, on either side of them, as one object.
    const std::string head = std::string(Between(value.begin, value.items_begin)) +
                             std::string(Between(value.items_end, value.end));
    auto type = json_.Parse(head);
    if (!type)
      return FailHere(api::DescribeJsonError(text, type.error().message, Between(0, value.begin)));
    type = Complete(*std::move(type), {});
    if (!type) return Fail(type.error());
    if (IsList(*type, true)) return ReadJsonItems(value, ItemTypeOf(*type));
    return ReadObject(*type, JsonSource{json_});
  }

  // An object that may be a list, but not one too large to be parsed whole.
  Result<void> ReadJsonObject(std::string_view text, const api::TypeMeta& inherited) {
    const auto begin = static_cast<size_t>(text.data() - text_.data());
    auto type = json_.Parse(text, Between(0, begin));
    if (!type) return FailHere(type.error());
    type = Complete(*std::move(type), inherited);
    if (!type) return Fail(type.error());
    if (type->kind.ends_with(kListSuffix)) {
      const auto value = JsonValues(Between(0, begin + text.size()), begin).Next();
      if (!value || !*value) return FailHere("cannot be read as a list");
      if (IsList(*type, (*value)->has_items)) return ReadJsonItems(**value, ItemTypeOf(*type));
    }
    return ReadObject(*type, JsonSource{json_});
  }

  Result<void> ReadJsonItems(const JsonValue& list, const api::TypeMeta& inherited) {
    if (list.items_is_no_list) return FailHere("items: expected a list");
    return ForEachItem(list.items.size(), [&](size_t i) {
      const JsonValue::Item& item = list.items[i];
      place_.SetOffset(text_, item.begin);
      TellProgress(item.begin);
      return ReadJsonObject(Between(item.begin, item.end), inherited);
    });
  }

  Result<void> ReadYaml() {
    return ForEachYamlDocument(
        text_, file_name_,
        [this](ConfigValue&& document, size_t number) {
          ++stats_.documents;
          place_ = DumpPlace(file_name_, number);
          return ReadYamlObject(document, {});
        },
        progress_);
  }

  Result<void> ReadYamlObject(const ConfigValue& value, const api::TypeMeta& inherited) {
    place_.SetLine(value.line());
    auto type = StatedType(value);
    if (!type) return FailHere(type.error());
    const auto complete = Complete(*std::move(type), inherited);
    if (!complete) return Fail(complete.error());
    const ConfigValue* items = value.Find("items");
    if (!IsList(*complete, items != nullptr && items->list() != nullptr))
      return ReadObject(*complete, YamlSource{value});
    if (items == nullptr) return {};
    if (items->list() == nullptr) return FailHere("items: expected a list");
    return ForEachItem(items->list()->size(), [&](size_t i) {
      return ReadYamlObject((*items->list())[i], ItemTypeOf(*complete));
    });
  }

  std::string_view Between(size_t begin, size_t end) const {
    return text_.substr(begin, end - begin);
  }

  void TellProgress(size_t bytes) {
    if (progress_ == nullptr || bytes < told_ + kDumpProgressStep) return;
    told_ = bytes;
    progress_(bytes);
  }

  std::string_view text_;
  std::string_view file_name_;
  const DumpVisitor& visit_;
  const DumpProgress& progress_;
  api::JsonObjectReader json_;
  DumpStats stats_;
  DumpPlace place_;
  size_t told_ = 0;
};

}  // namespace

Result<DumpStats> ReadDump(std::string_view text, std::string_view file_name,
                           const DumpVisitor& visit, const DumpProgress& progress) {
  return DumpReader(text, file_name, visit, progress).Read();
}

Result<api::ObjectPtr> ReadObject(const ConfigValue& value, std::string_view path,
                                  std::string_view kind) {
  const auto fail = [&](const Error& error) { return Fail(error.Within(path)); };
  auto type = StatedType(value);
  if (!type) return fail(type.error());
  if (type->kind.empty() && type->api_version.empty()) {
    const auto known = std::ranges::find(kDumpKinds<YamlSource>, kind, &DumpKind<YamlSource>::kind);
    if (known != kDumpKinds<YamlSource>.end()) {
      *type = {std::string(known->api_version), std::string(known->kind)};
    }
  }
  if (type->kind.empty()) return fail(Error{"kind: must be stated"});
  if (type->api_version.empty()) return fail(Error{"apiVersion: must be stated"});
  const auto known = FindKind<YamlSource>(*type);
  if (!known) return fail(known.error());
  if (*known == nullptr) {
    return fail(Error{"kind: scheduling does not read " + type->kind + " of " + type->api_version});
  }
  return (*known)->read(YamlSource{value, path});
}

}  // namespace berth::documents
