// SPDX-License-Identifier: Apache-2.0
#include "src/api/json_scan.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "src/api/wire_types.h"
#include "src/base/utf8.h"

namespace berth::api {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

#define BERTH_RETURN_IF_ERROR(expression) \
  if (const error_code code = (expression)) return code

// The text as the parser takes it: UTF-8 alone, of the same length, so that places stay.
simdjson::padded_string ToPadded(std::string_view text) {
  simdjson::padded_string padded(text);
  if (simdjson::validate_utf8(text.data(), text.size())) return padded;
  for (size_t at = 0; at < text.size();) {
    const size_t length = base::Utf8Length(text.substr(at));
    if (length == 0) padded.data()[at] = '?';
    at += std::max<size_t>(length, 1);
  }
  return padded;
}

// `raw` is a value's text in `padded`; the same bytes in `text`.
std::string_view Original(std::string_view raw, const simdjson::padded_string& padded,
                          std::string_view text) {
  return text.substr(static_cast<size_t>(raw.data() - padded.data()), raw.size());
}

error_code RawText(ondemand::value value, std::string_view& raw) {
  ondemand::json_type type;
  BERTH_RETURN_IF_ERROR(value.type().get(type));
  if (type == ondemand::json_type::object) {
    ondemand::object object;
    BERTH_RETURN_IF_ERROR(value.get_object().get(object));
    return object.raw_json().get(raw);
  }
  if (type == ondemand::json_type::array) {
    ondemand::array array;
    BERTH_RETURN_IF_ERROR(value.get_array().get(array));
    return array.raw_json().get(raw);
  }
  raw = value.raw_json_token();
  return simdjson::SUCCESS;
}

// Calls f(key, value) for each member of the text's root object.
template <typename F>
error_code ForEachMember(const simdjson::padded_string& padded, F f) {
  ondemand::parser parser;
  ondemand::document document;
  BERTH_RETURN_IF_ERROR(parser.iterate(padded).get(document));
  ondemand::object root;
  BERTH_RETURN_IF_ERROR(document.get_object().get(root));
  for (auto next : root) {
    ondemand::field field;
    BERTH_RETURN_IF_ERROR(std::move(next).get(field));
    std::string_view key;
    BERTH_RETURN_IF_ERROR(field.unescaped_key().get(key));
    BERTH_RETURN_IF_ERROR(f(key, field.value()));
  }
  const char* rest = nullptr;  // no location: at the end
  return document.current_location().get(rest) ? simdjson::SUCCESS : simdjson::TRAILING_CONTENT;
}

error_code ReadString(ondemand::value value, std::string& out) {
  std::string_view text;
  BERTH_RETURN_IF_ERROR(value.get_string().get(text));
  out = text;
  return simdjson::SUCCESS;
}

error_code ForEachItem(ondemand::value list, const simdjson::padded_string& padded,
                       std::string_view text,
                       const std::function<void(std::string_view)>& on_item) {
  bool null = false;
  BERTH_RETURN_IF_ERROR(list.is_null().get(null));
  if (null) return simdjson::SUCCESS;
  ondemand::array items;
  BERTH_RETURN_IF_ERROR(list.get_array().get(items));
  for (auto next : items) {
    ondemand::value item;
    BERTH_RETURN_IF_ERROR(std::move(next).get(item));
    std::string_view raw;
    BERTH_RETURN_IF_ERROR(RawText(item, raw));
    on_item(Original(raw, padded, text));
  }
  return simdjson::SUCCESS;
}

constexpr std::string_view kLine = "line ";
constexpr std::string_view kColumn = ", column ";

// Takes `prefix` and the number behind it off `text`; false when it does not begin so.
bool TakeNumber(std::string_view& text, std::string_view prefix, size_t& number) {
  if (!text.starts_with(prefix)) return false;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + prefix.size(), end, number);
  if (error != std::errc{}) return false;
  text = {rest, static_cast<size_t>(end - rest)};
  return true;
}

// Moves the place that `what` begins with, "line 1, column 5: ...", behind `before`.
std::string Shift(std::string_view what, std::string_view before) {
  std::string_view rest = what;
  size_t line = 0;
  size_t column = 0;
  if (!TakeNumber(rest, kLine, line) || !TakeNumber(rest, kColumn, column))
    return std::string(what);
  if (line == 1) column += before.size() - (before.rfind('\n') + 1);
  line += static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
  return std::string(kLine) + std::to_string(line) + std::string(kColumn) + std::to_string(column) +
         std::string(rest);
}

}  // namespace

Result<ScannedWatchEvent> ScanWatchEvent(std::string_view text) {
  if (text.empty()) return Fail(DescribeJsonError(text, "empty"));  // may have no data()
  const simdjson::padded_string padded = ToPadded(text);
  ScannedWatchEvent event;
  const error_code error = ForEachMember(padded, [&](std::string_view key, ondemand::value value) {
    if (key == "type") return ReadString(value, event.type);
    if (key != "object") return simdjson::SUCCESS;
    std::string_view raw;
    BERTH_RETURN_IF_ERROR(RawText(value, raw));
    event.object = Original(raw, padded, text);
    return simdjson::SUCCESS;
  });
  if (error) return Fail(DescribeJsonError(text, simdjson::error_message(error)));
  return event;
}

Result<ScannedList> ScanList(std::string_view text,
                             const std::function<void(std::string_view)>& on_item) {
  if (text.empty()) return Fail(DescribeJsonError(text, "empty"));  // may have no data()
  const simdjson::padded_string padded = ToPadded(text);
  ScannedList list;
  std::string_view metadata;
  const error_code error = ForEachMember(padded, [&](std::string_view key, ondemand::value value) {
    if (key == "apiVersion") return ReadString(value, list.type.api_version);
    if (key == "kind") return ReadString(value, list.type.kind);
    if (key == "items") return ForEachItem(value, padded, text, on_item);
    return key == "metadata" ? RawText(value, metadata) : simdjson::SUCCESS;
  });
  if (error) return Fail(DescribeJsonError(text, simdjson::error_message(error)));
  if (!metadata.empty()) {
    if (auto read = ReadJson(metadata, list.meta); !read)
      return Fail(read.error().Within("metadata"));
  }
  return list;
}

namespace {

// Sets `member` to the text of the object's member of this name, from the quote before the name to
// the end of the value; a `below` that is not empty names a member of that in its place.
error_code FindMember(ondemand::value value, std::string_view name, std::string_view below,
                      std::string_view& member) {
  ondemand::object object;
  BERTH_RETURN_IF_ERROR(value.get_object().get(object));
  for (auto next : object) {
    ondemand::field field;
    BERTH_RETURN_IF_ERROR(std::move(next).get(field));
    if (!field.key().unsafe_is_equal(name)) continue;
    if (!below.empty()) {
      BERTH_RETURN_IF_ERROR(FindMember(field.value(), below, "", member));
      continue;
    }
    const char* const begin = field.key().raw() - 1;
    std::string_view raw;
    BERTH_RETURN_IF_ERROR(RawText(field.value(), raw));
    member = {begin, static_cast<size_t>(raw.data() + raw.size() - begin)};
  }
  return simdjson::SUCCESS;
}

// The object without the member of its metadata, or of what that has under `name`.
std::string WithoutMetadata(std::string_view text, std::string_view name, std::string_view below) {
  if (text.empty()) return {};
  const simdjson::padded_string padded = ToPadded(text);
  std::string_view member;
  const error_code error = ForEachMember(padded, [&](std::string_view key, ondemand::value value) {
    return key == "metadata" ? FindMember(value, name, below, member) : simdjson::SUCCESS;
  });
  if (error || member.empty()) return std::string(text);
  const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; };
  auto begin = static_cast<size_t>(member.data() - padded.data());
  size_t end = begin + member.size();
  // One of the commas beside it goes, too.
  while (end < text.size() && is_space(text[end])) ++end;
  if (end < text.size() && text[end] == ',') {
    ++end;
  } else {
    while (begin > 0 && is_space(text[begin - 1])) --begin;
    if (begin > 0 && text[begin - 1] == ',') --begin;
  }
  return std::string(text.substr(0, begin)) + std::string(text.substr(end));
}

}  // namespace

std::string WithoutManagedFields(std::string_view text) {
  return WithoutMetadata(text, "managedFields", "");
}

std::string WithoutAnnotation(std::string_view text, std::string_view key) {
  return WithoutMetadata(text, "annotations", key);
}

#undef BERTH_RETURN_IF_ERROR

Error DescribeJsonError(std::string_view text, std::string_view reason, std::string_view before) {
  try {
    // The callback drops every value, so that nothing is built.
    const auto drop = [](int, nlohmann::json::parse_event_t, nlohmann::json&) { return false; };
    const auto nothing = nlohmann::json::parse(text.begin(), text.end(), drop);
    static_cast<void>(nothing);
  } catch (const nlohmann::json::parse_error& error) {
    std::string_view what = error.what();
    // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
    if (const size_t at = what.find("line "); at != std::string_view::npos)
      return Error{Shift(what.substr(at), before)};
    return Error{std::string(what)};
  } catch (const nlohmann::json::exception& error) {
    return Error{error.what()};
  }
  return Error{std::string(reason)};
}

}  // namespace berth::api
