// SPDX-License-Identifier: Apache-2.0
#include "src/documents/dump_reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "berth/field_errors.h"
#include "berth/plugin_kinds.h"
#include "src/api/decode.h"
#include "src/api/json_object_reader.h"
#include "src/api/json_scan.h"
#include "src/api/plugin_object.h"
#include "src/documents/json_values.h"
#include "src/documents/known_fields.h"
#include "src/documents/parse.h"

namespace berth::documents {
namespace {

// "cluster.yaml:812", "line 812" without a name.
std::string LinePlace(std::string_view file_name, int line) {
  return (file_name.empty() ? "line " : std::string(file_name) + ":") + std::to_string(line);
}

}  // namespace

std::string DumpPlace::ToString() const {
  std::string text = LinePlace(file_name_, line()) + ": document " + std::to_string(document_);
  const char* separator = ", ";
  for (const size_t index : items_) {
    text += separator + ("items[" + std::to_string(index) + "]");
    separator = ".";
  }
  return text;
}

int LineCounter::LineAt(size_t offset) {
  if (offset < at_) {
    at_ = 0;
    line_ = 1;
  }
  const std::string_view passed = text_.substr(at_, offset - at_);
  line_ += static_cast<int>(std::count(passed.begin(), passed.end(), '\n'));
  at_ = offset;
  return line_;
}

Result<api::TypeMeta> StatedTypeOf(const ConfigValue& value) {
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

ManifestFields ManifestFieldsOf(const ConfigValue& object) {
  const auto find = [&object](std::string_view part, std::string_view name) {
    const ConfigValue* value = object.Find(part);
    return value == nullptr ? nullptr : value->Find(name);
  };
  const auto text = [&find](std::string_view part, std::string_view name) {
    const ConfigValue* value = find(part, name);
    return value == nullptr || value->string() == nullptr ? "" : *value->string();
  };
  ManifestFields fields;
  if (const ConfigValue* name = find("metadata", "name");
      name == nullptr || (name->string() != nullptr && name->string()->empty())) {
    fields.generate_name = text("metadata", "generateName");
  }
  fields.runtime_class_name = text("spec", "runtimeClassName");
  return fields;
}

namespace {

constexpr size_t kMaxNestedLists = 8;
constexpr size_t kDumpProgressStep = size_t{1} << 20;
// What is no JSON may be flow-style YAML, which takes more time and memory to read; larger texts
// are dumps that were cut off.
constexpr size_t kMostReadAgain = size_t{64} << 20;
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
  std::string_view text;

  template <typename T>
  Result<void> Read(T& out) const {
    return reader.Read(out);
  }
};

struct YamlSource {
  const ConfigValue& value;

  template <typename T>
  Result<void> Read(T& out) const {
    return api::ReadValue(value, out);
  }
};

// One that must be whole.
struct WholeSource {
  const ConfigValue& value;
  std::string_view path;

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

// A source's object as JSON.
std::string JsonOf(const JsonSource& source) { return std::string(source.text); }
std::string JsonOf(const YamlSource& source) { return source.value.ToJson(); }
std::string JsonOf(const WholeSource& source) { return source.value.ToJson(); }

template <typename Source>
struct DumpKind {
  std::string_view api_version;
  std::string_view kind;
  Result<api::ObjectPtr> (*read)(const Source&);
};

// A kind that Berth reads: one that has a struct, or one that a plugin asks for.
template <typename Source>
class FoundKind {
 public:
  FoundKind() = default;
  explicit FoundKind(const DumpKind<Source>& known) : known_(&known) {}
  explicit FoundKind(api::PluginKindId own) : own_(own) {}

  // False: Berth reads no such kind.
  explicit operator bool() const { return known_ != nullptr || own_; }
  bool of_plugin() const { return own_.has_value(); }
  Result<api::ObjectPtr> Read(const Source& source) const {
    if (known_ != nullptr) return known_->read(source);
    auto object = api::ReadPluginObject(*own_, JsonOf(source));
    if (!object) return Fail(object.error());
    return api::ObjectPtr(std::make_shared<const api::PluginObject>(*std::move(object)));
  }

 private:
  const DumpKind<Source>* known_ = nullptr;
  std::optional<api::PluginKindId> own_;
};

// Every kind that has a struct.
template <typename Source>
constexpr std::array kDumpKinds = {
#define BERTH_DUMP_KIND(type)                                                          \
  DumpKind<Source>{api::KindOf<api::type>::kApiVersion, api::KindOf<api::type>::kKind, \
                   ReadAs<api::type, Source>},
    BERTH_WATCHED_KINDS(BERTH_DUMP_KIND)
#undef BERTH_DUMP_KIND
};

// The kind that Berth reads, or none. Errors: it is in a version that Berth does not read.
template <typename Source>
Result<FoundKind<Source>> FindKind(const api::TypeMeta& type) {
  const auto is_of = [&type](std::string_view api_version, std::string_view kind) {
    return kind == type.kind && GroupOf(api_version) == GroupOf(type.api_version);
  };
  const auto other_version = [&type](std::string_view api_version) {
    return Fail("apiVersion: " + type.kind + " is read in version " + std::string(api_version) +
                ", not " + type.api_version);
  };
  for (const DumpKind<Source>& known : kDumpKinds<Source>) {
    if (!is_of(known.api_version, known.kind)) continue;
    if (known.api_version == type.api_version) return FoundKind<Source>(known);
    return other_version(known.api_version);
  }
  for (size_t i = 0; i < PluginKinds().size(); ++i) {
    const auto id = static_cast<api::PluginKindId>(i);
    const std::string api_version = PluginKinds()[id].ApiVersion();
    if (!is_of(api_version, PluginKinds()[id].kind)) continue;
    if (api_version == type.api_version) return FoundKind<Source>(id);
    return other_version(api_version);
  }
  return FoundKind<Source>();
}

bool IsStored(const api::ObjectPtr& object) {
  const api::ObjectMeta* meta = api::MetaOf(object);
  return meta != nullptr && !meta->uid.empty();
}

class DumpReader {
 public:
  DumpReader(std::string_view text, std::string_view file_name, const DumpVisitor& visit,
             const DumpProgress& progress, const DumpTrees& trees)
      : text_(text),
        file_name_(file_name),
        visit_(visit),
        progress_(progress),
        trees_(trees),
        lines_(text),
        place_(file_name, 0, lines_) {}

  Result<DumpStats> Read() {
    const size_t mark = text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    const size_t first = text_.find_first_not_of(" \t\r\n", mark);
    const bool json = first != std::string_view::npos && MayBeJson(first);
    if (auto read = json ? ReadJson(first) : ReadYaml(0); !read) return Fail(read.error());
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

  void WarnHere(std::string_view text) {
    stats_.warnings.push_back(Error{std::string(text)}.Within(place_.ToString()).message);
  }

  // No type is known: of an item that costs the item, of a document the reading.
  Result<void> NoType(const Error& error) {
    if (place_.items().empty()) return FailHere(error);
    WarnHere(error.message + "; it is left out");
    return {};
  }

  // Fills in what the list around says of its items. False, with a warning: the object does not say
  // what it is.
  bool Complete(api::TypeMeta& type, const api::TypeMeta& inherited) {
    if (type.api_version.empty()) type.api_version = inherited.api_version;
    if (type.kind.empty()) type.kind = inherited.kind;
    if (!type.kind.empty() && !type.api_version.empty()) return true;
    WarnHere(std::string(type.kind.empty() ? "kind" : "apiVersion") +
             ": must be stated; the object is left out");
    return false;
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

  void RemarkRepeatedKey(const std::string& place, std::string_view key) {
    stats_.remarks.push_back(place + ": key " + Quoted(key) +
                             " already set in map; the last one counts");
  }

  // An object that no API server has stored may hold what none would send.
  Result<api::ObjectPtr> ReadManifest(const YamlSource& source, api::ObjectPtr&& object,
                                      const api::TypeMeta& type) {
    RemarkUnknownFields(source.value, type);
    place_.SetManifest(ManifestFieldsOf(source.value));
    return std::move(object);
  }
  Result<api::ObjectPtr> ReadManifest(const JsonSource& source, api::ObjectPtr&& object,
                                      const api::TypeMeta& type) {
    bool repeated = false;
    const auto value = ParseJson(source.text, "", [&](std::string_view key) {
      repeated = true;
      RemarkRepeatedKey(place_.ToString(), key);
    });
    // What a tree cannot hold was read without it.
    if (!value) return std::move(object);
    RemarkUnknownFields(*value, type);
    place_.SetManifest(ManifestFieldsOf(*value));
    if (!repeated) return std::move(object);
    return FindKind<YamlSource>(type)->Read(YamlSource{*value});
  }
  void RemarkUnknownFields(const ConfigValue& value, const api::TypeMeta& type) {
    for (std::string& text : FindUnknownFields(value, type.api_version, type.kind))
      stats_.remarks.push_back(Error{std::move(text)}.Within(place_.ToString()).message);
  }

  template <typename Source>
  Result<void> ReadObject(const api::TypeMeta& type, const Source& source) {
    const auto known = FindKind<Source>(type);
    ++taken_;
    if (!known) {
      WarnHere(known.error().message);
      return {};
    }
    const bool wanted = trees_.wants && trees_.wants(type);
    if (!*known) {
      if (wanted) {
        const auto taken = ShowTree(source, type, true);
        if (!taken) return FailHere(taken.error());
        if (*taken) return {};
      }
      const std::string_view group = GroupOf(type.api_version);
      ++stats_.skipped[group.empty() ? type.kind : type.kind + "." + std::string(group)];
      return {};
    }
    auto object = known->Read(source);
    if (!object && known->of_plugin()) {
      WarnHere(object.error().message + "; the object is left out");
      return {};
    }
    const bool stored = object && IsStored(*object);
    place_.SetManifest({});
    if (object && !stored) object = ReadManifest(source, *std::move(object), type);
    if (!object) return FailHere(object.error());
    ++stats_.objects;
    if (auto visited = visit_(*std::move(object), place_); !visited)
      return FailHere(visited.error());
    if (!wanted || (stored && !trees_.stored_too)) return {};
    if (const auto taken = ShowTree(source, type, false); !taken) return FailHere(taken.error());
    return {};
  }

  // Whether the tree was taken.
  Result<bool> ShowTree(const YamlSource& source, const api::TypeMeta& type, bool check_fields) {
    return ShowTree(source.value, type, check_fields);
  }
  Result<bool> ShowTree(const JsonSource& source, const api::TypeMeta& type, bool check_fields) {
    const auto value = ParseJson(source.text, "");
    if (!value) return false;  // a tree cannot hold it
    return ShowTree(*value, type, check_fields);
  }
  Result<bool> ShowTree(const ConfigValue& object, const api::TypeMeta& type, bool check_fields) {
    const ConfigValue* metadata = object.Find("metadata");
    const ConfigValue* uid = metadata == nullptr ? nullptr : metadata->Find("uid");
    const bool stored = uid != nullptr && uid->string() != nullptr && !uid->string()->empty();
    if (check_fields && !stored) RemarkUnknownFields(object, type);
    return trees_.visit(object, type, stored, place_);
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

  bool MayBeJson(size_t at) const { return text_[at] == '{' || text_[at] == '['; }

  Result<void> ReadJson(size_t begin) {
    JsonValues values(text_, begin);
    for (size_t behind = begin; values.Advance(); behind = values.at()) {
      const size_t at = values.at();
      if (!MayBeJson(at)) return ReadYaml(behind);
      place_ = DumpPlace(file_name_, stats_.documents + 1, lines_);
      const uint64_t taken = taken_;
      const auto next = values.Next();
      if (!next) {
        place_.SetOffset(next.error().offset);
        return ReadAgainAsYaml(behind, at, FailHere(next.error().reason).value());
      }
      if (auto read = ReadJsonDocument(**next); !read) {
        if (taken_ > taken) return read;
        return ReadAgainAsYaml(behind, at, read.error());
      }
      ++stats_.documents;
    }
    return {};
  }

  // What follows the offset `behind`, where a document that begins at `at` could not be read as
  // JSON. Errors: if that document is no YAML either, why it is no JSON.
  Result<void> ReadAgainAsYaml(size_t behind, size_t at, const Error& no_json) {
    const size_t separator = std::min(text_.find("\n---", at), text_.size());
    if (separator - at > kMostReadAgain) return Fail(no_json);
    const uint64_t documents = stats_.documents;
    auto read = ReadYaml(behind);
    if (!read && stats_.documents == documents) return Fail(no_json);
    return read;
  }

  Result<void> ReadJsonDocument(const JsonValue& value) {
    place_.SetOffset(value.begin);
    const std::string_view text = Between(value.begin, value.end);
    if (!value.has_items) return ReadJsonObject(text, {});
    // Items are parsed one by one; the rest of the list, on either side of them, as one object.
    const std::string head = std::string(Between(value.begin, value.items_begin)) +
                             std::string(Between(value.items_end, value.end));
    auto type = json_.Parse(head);
    if (!type)
      return FailHere(api::DescribeJsonError(text, type.error().message, Between(0, value.begin)));
    if (!Complete(*type, {})) return {};
    if (IsList(*type, true)) return ReadJsonItems(value, ItemTypeOf(*type));
    return ReadObject(*type, JsonSource{json_, head});
  }

  // An object that may be a list, but not one too large to be parsed whole.
  Result<void> ReadJsonObject(std::string_view text, const api::TypeMeta& inherited) {
    const auto begin = static_cast<size_t>(text.data() - text_.data());
    auto type = json_.Parse(text, Between(0, begin), inherited.kind);
    if (!type) return ParseJson(text, "") ? NoType(type.error()) : FailHere(type.error());
    if (!Complete(*type, inherited)) return {};
    if (type->kind.ends_with(kListSuffix)) {
      const auto value = JsonValues(Between(0, begin + text.size()), begin).Next();
      if (!value || !*value) return FailHere("cannot be read as a list");
      if (IsList(*type, (*value)->has_items)) return ReadJsonItems(**value, ItemTypeOf(*type));
    }
    return ReadObject(*type, JsonSource{json_, text});
  }

  Result<void> ReadJsonItems(const JsonValue& list, const api::TypeMeta& inherited) {
    if (list.items_is_no_list) return FailHere("items: expected a list");
    return ForEachItem(list.items.size(), [&](size_t i) {
      const JsonValue::Item& item = list.items[i];
      place_.SetOffset(item.begin);
      TellProgress(item.begin);
      return ReadJsonObject(Between(item.begin, item.end), inherited);
    });
  }

  Result<void> ReadYaml(size_t begin) {
    stats_.has_yaml = true;
    YamlOptions options;
    options.first_line = lines_.LineAt(begin);
    options.first_document = stats_.documents + 1;
    options.on_repeated_key = [this](int line, std::string_view key) {
      RemarkRepeatedKey(LinePlace(file_name_, line), key);
    };
    return ForEachYamlDocument(
        text_.substr(begin), file_name_,
        [this](ConfigValue&& document, size_t number) {
          ++stats_.documents;
          place_ = DumpPlace(file_name_, number, lines_);
          return ReadYamlObject(document, {});
        },
        progress_, options);
  }

  Result<void> ReadYamlObject(const ConfigValue& value, const api::TypeMeta& inherited) {
    place_.SetLine(value.line());
    auto complete = StatedTypeOf(value);
    if (!complete) return NoType(complete.error());
    if (!Complete(*complete, inherited)) return {};
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
  const DumpTrees& trees_;
  api::JsonObjectReader json_;
  DumpStats stats_;
  LineCounter lines_;
  DumpPlace place_;
  uint64_t taken_ = 0;  // objects, of kinds that are skipped too
  size_t told_ = 0;
};

}  // namespace

Result<DumpStats> ReadDump(std::string_view text, std::string_view file_name,
                           const DumpVisitor& visit, const DumpProgress& progress,
                           const DumpTrees& trees) {
  return DumpReader(text, file_name, visit, progress, trees).Read();
}

bool IsRead(const api::TypeMeta& type) {
  const auto known = FindKind<WholeSource>(type);
  return known && *known;
}

Result<api::ObjectPtr> ReadObject(const ConfigValue& value, std::string_view path,
                                  std::string_view kind) {
  const auto fail = [&](const Error& error) { return Fail(error.Within(path)); };
  auto type = StatedTypeOf(value);
  if (!type) return fail(type.error());
  if (type->kind.empty() && type->api_version.empty()) {
    const auto known =
        std::ranges::find(kDumpKinds<WholeSource>, kind, &DumpKind<WholeSource>::kind);
    if (known != kDumpKinds<WholeSource>.end()) {
      *type = {std::string(known->api_version), std::string(known->kind)};
    }
  }
  if (type->kind.empty()) return fail(Error{"kind: must be stated"});
  if (type->api_version.empty()) return fail(Error{"apiVersion: must be stated"});
  const auto known = FindKind<WholeSource>(*type);
  if (!known) return fail(known.error());
  if (!*known) {
    return fail(Error{"kind: scheduling does not read " + type->kind + " of " + type->api_version});
  }
  auto object = known->Read(WholeSource{value, path});
  if (!object && known->of_plugin()) return fail(object.error());
  return object;
}

}  // namespace berth::documents
