// SPDX-License-Identifier: Apache-2.0
#include "src/api/stored_form.h"

#include <algorithm>
#include <memory>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <utility>

#include "src/api/protobuf_writes.h"
#include "src/api/wire_types.h"
#include "src/api/writes.h"
#include "src/base/json.h"

namespace berth::api {
namespace {

constexpr SplicedField kMetadataField{1, "metadata"};
constexpr SplicedField kManagedFieldsField{17, "managedFields", true};

class ProtobufSplicer final : public Splicer {
 public:
  // Fields of any kind may come again; of one that is no list the payloads make one message.
  Values Get(std::string_view object, const SplicedField& field) const override {
    Values values;
    ForEachRecord(object, [&](uint32_t number, std::string_view, std::string_view payload) {
      if (number == field.number) values.push_back(payload);
    });
    return values;
  }

  std::string Set(std::string_view object, const SplicedField& field,
                  const Values& values) const override {
    std::string out;
    out.reserve(object.size() + 64);
    bool put = false;
    const auto put_once = [&] {
      if (std::exchange(put, true)) return;
      protozero::pbf_writer writer(out);
      for (const std::string_view value : values) {
        writer.add_bytes(field.number, value.data(), value.size());
      }
    };
    ForEachRecord(object, [&](uint32_t number, std::string_view record, std::string_view) {
      // In the order of their numbers, as encoders write.
      if (number >= field.number) put_once();
      if (number != field.number) out += record;
    });
    put_once();
    return out;
  }

  std::string ValueOf(std::string_view text) const override { return std::string(text); }
  std::string_view nothing() const override { return ""; }

 private:
  // Calls visit(number, record, payload) for each field; the payload is "" where it is a number.
  template <typename Visit>
  static void ForEachRecord(std::string_view message, const Visit& visit) {
    protozero::pbf_reader reader(message.data(), message.size());
    const auto rest = [&reader] { return reader.data().size(); };
    try {
      for (size_t begin = rest(); reader.next(); begin = rest()) {
        // A reader that has given the payload out does not know it any more.
        const uint32_t number = reader.tag();
        std::string_view payload;
        if (reader.wire_type() == protozero::pbf_wire_type::length_delimited) {
          const auto view = reader.get_view();
          payload = {view.data(), view.size()};
        } else {
          reader.skip();
        }
        visit(number, message.substr(message.size() - begin, begin - rest()), payload);
      }
    } catch (const protozero::exception&) {
      return;  // What follows is no record.
    }
  }
};

// Reads JSON as far as where values begin and end. Nesting costs no stack: text that is passed on
// unread may have any depth.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  // Whether the next character but for spaces is this one, which is taken.
  bool Take(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string_view TakeValue() {
    SkipSpace();
    const size_t begin = at_;
    size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool closes = c == '}' || c == ']';
      if (depth == 0 && (closes || c == ',' || c == ':' || IsSpace(c))) break;
      if (c == '"') {
        SkipString();
      } else {
        ++at_;
        if (c == '{' || c == '[') ++depth;
        if (closes) --depth;
      }
      if (depth == 0 && (closes || c == '"')) break;
    }
    return text_.substr(begin, at_ - begin);
  }

 private:
  static bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  void SkipString() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  std::string_view text_;
  size_t at_ = 0;
};

class JsonSplicer final : public Splicer {
 public:
  Values Get(std::string_view object, const SplicedField& field) const override {
    Values values;
    for (const auto& [name, value] : MembersOf(object)) {
      if (!Names(name, field) || value == "null") continue;
      values = field.list ? ElementsOf(value) : Values{value};
    }
    return values;
  }

  std::string Set(std::string_view object, const SplicedField& field,
                  const Values& values) const override {
    std::string out = "{";
    const auto add = [&out](std::string_view name, std::string_view value) {
      if (out.size() > 1) out += ',';
      out.append(name).append(":").append(value);
    };
    for (const auto& [name, value] : MembersOf(object)) {
      if (!Names(name, field)) add(name, value);
    }
    if (!values.empty()) {
      std::string list = field.list ? "[" : "";
      for (const std::string_view value : values) {
        if (list.size() > 1) list += ',';
        list += value;
      }
      if (field.list) list += ']';
      add("\"" + std::string(field.name) + "\"", list);
    }
    return out + "}";
  }

  std::string ValueOf(std::string_view text) const override {
    std::string value;
    base::AppendJson(text, value);
    return value;
  }
  std::string_view nothing() const override { return "{}"; }

 private:
  struct Member {
    std::string_view name;  // with its quotes
    std::string_view value;
  };

  static bool Names(std::string_view name, const SplicedField& field) {
    return name.size() == field.name.size() + 2 && name.substr(1, field.name.size()) == field.name;
  }

  static std::vector<Member> MembersOf(std::string_view object) {
    std::vector<Member> members;
    JsonCursor cursor(object);
    if (!cursor.Take('{')) return members;
    do {
      const std::string_view name = cursor.TakeValue();
      if (!name.starts_with('"') || !cursor.Take(':')) break;
      members.push_back({name, cursor.TakeValue()});
    } while (cursor.Take(','));
    return members;
  }

  static Values ElementsOf(std::string_view list) {
    Values elements;
    JsonCursor cursor(list);
    if (!cursor.Take('[')) return elements;
    do {
      const std::string_view element = cursor.TakeValue();
      if (element.empty()) break;
      elements.push_back(element);
    } while (cursor.Take(','));
    return elements;
  }
};

const Splicer& SplicerFor(bool json) {
  static constexpr ProtobufSplicer kProtobuf;
  static constexpr JsonSplicer kJson;
  if (json) return kJson;
  return kProtobuf;
}

}  // namespace

std::string Splicer::Inner(std::string_view object, const SplicedField& field) const {
  const Values values = Get(object, field);
  std::string inner;
  // Several messages that stand for one are their fields one after the other.
  for (const std::string_view value : values) inner += value;
  return values.empty() ? std::string(nothing()) : inner;
}

const Splicer& SplicerOf(const StoredForm& stored) { return SplicerFor(stored.json); }

StoredForm StoredFormOf(Encoding encoding, std::string_view bytes) {
  const bool json = encoding == Encoding::kJson;
  if (!json) {
    if (const auto envelope = OpenEnvelope(bytes)) bytes = envelope->raw;
  }
  const Splicer& splicer = SplicerFor(json);
  const std::string metadata =
      splicer.Set(splicer.Inner(bytes, kMetadataField), kManagedFieldsField, Splicer::Values());
  return {std::make_shared<const std::string>(splicer.Set(bytes, kMetadataField, {metadata})),
          json};
}

std::string BodyOf(const StoredForm& stored, std::string_view api_version, std::string_view kind) {
  if (stored.json) return *stored.bytes;
  std::string body(kProtobufMagic);
  protozero::pbf_writer envelope(body);
  {
    protozero::pbf_writer type(envelope, 1);
    type.add_string(1, api_version.data(), api_version.size());
    type.add_string(2, kind.data(), kind.size());
  }
  envelope.add_bytes(2, *stored.bytes);
  return body;
}

std::string_view ContentTypeOf(const StoredForm& stored) {
  return stored.json ? kJsonContentType : kProtobufContentType;
}

}  // namespace berth::api
