// SPDX-License-Identifier: Apache-2.0
#include "src/documents/known_fields.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "berth/field_errors.h"
#include "src/base/suggestion.h"

namespace berth::documents {
namespace {

constexpr size_t kMostUnknownFields = 12;

struct KnownField {
  std::string_view type;  // "" for what has no fields of its own
  bool is_map = false;    // of values of that type
};

// By name.
struct KnownType {
  absl::flat_hash_map<std::string_view, KnownField> fields;
};

// The parts of the text that are not empty.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t length = std::min(text.find(separator), text.size());
    if (length > 0) parts.push_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return parts;
}

class KnownTypes {
 public:
  static const KnownTypes& Get() {
    static const KnownTypes types;
    return types;
  }

  // nullptr: there is none.
  const KnownType* OfKind(std::string_view api_version, std::string_view kind) const {
    const auto found = kinds_.find(std::pair(api_version, kind));
    return found == kinds_.end() ? nullptr : Find(found->second);
  }
  const KnownType* Find(std::string_view name) const {
    const auto found = types_.find(name);
    return found == types_.end() ? nullptr : &found->second;
  }

 private:
  KnownTypes() {
    KnownType* type = nullptr;
    for (const std::string_view line : Split(kKnownFields, '\n')) {
      const std::vector<std::string_view> words = Split(line, ' ');
      if (line.starts_with('=')) {
        kinds_[std::pair(words[0].substr(1), words[1])] = words[2];
        continue;
      }
      const bool goes_on = line.starts_with(' ');
      if (!goes_on) type = &types_[words[0]];
      for (size_t i = goes_on ? 0 : 1; i < words.size(); ++i) AddField(words[i], *type);
    }
  }
  static void AddField(std::string_view word, KnownType& type) {
    const size_t colon = std::min(word.find(':'), word.size());
    KnownField field{.type = word.substr(std::min(colon + 1, word.size())), .is_map = false};
    if (field.type.starts_with('*')) {
      field.type.remove_prefix(1);
      field.is_map = true;
    }
    type.fields[word.substr(0, colon)] = field;
  }

  absl::flat_hash_map<std::pair<std::string_view, std::string_view>, std::string_view> kinds_;
  absl::flat_hash_map<std::string_view, KnownType> types_;
};

class UnknownFieldSearch {
 public:
  void Visit(const ConfigValue& value, const KnownField& field) {
    if (Full()) return;
    if (const ConfigValue::List* list = value.list()) {
      for (size_t i = 0; i < list->size(); ++i) {
        In("[" + std::to_string(i) + "]", [&] { Visit((*list)[i], field); });
      }
      return;
    }
    const ConfigValue::Map* map = value.map();
    if (map == nullptr) return;  // of another type, which is for the decoder to say
    if (field.is_map) {
      for (const auto& [key, member] : *map) {
        In("[" + Quoted(key) + "]", [&] { Visit(member, {.type = field.type, .is_map = false}); });
      }
      return;
    }
    if (const KnownType* type = KnownTypes::Get().Find(field.type)) VisitObject(*map, *type);
  }
  void VisitObject(const ConfigValue::Map& object, const KnownType& type) {
    for (const auto& [key, member] : object) {
      if (Full()) return;
      const auto known = type.fields.find(key);
      if (known == type.fields.end()) {
        Report(type, key);
      } else if (!known->second.type.empty()) {
        In((path_.empty() ? "" : ".") + key, [&] { Visit(member, known->second); });
      }
    }
  }

  std::vector<std::string> Take() && { return std::move(texts_); }

 private:
  bool Full() const { return texts_.size() == kMostUnknownFields; }
  template <typename F>
  void In(const std::string& step, F visit) {
    const size_t length = path_.size();
    path_ += step;
    visit();
    path_.resize(length);
  }
  void Report(const KnownType& type, const std::string& key) {
    const std::string text = "unknown field " + Quoted(path_ + (path_.empty() ? "" : ".") + key);
    base::Suggestion meant(key);
    for (const auto& [field, unused] : type.fields) meant.Try(field);
    texts_.push_back(text + meant.ToQuotedString());
  }

  std::string path_;
  std::vector<std::string> texts_;
};

}  // namespace

std::vector<std::string> FindUnknownFields(const ConfigValue& object, std::string_view api_version,
                                           std::string_view kind) {
  const KnownType* type = KnownTypes::Get().OfKind(api_version, kind);
  if (type == nullptr || object.map() == nullptr) return {};
  UnknownFieldSearch search;
  search.VisitObject(*object.map(), *type);
  return std::move(search).Take();
}

}  // namespace berth::documents
