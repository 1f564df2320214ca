// SPDX-License-Identifier: Apache-2.0
#include "src/cel/value.h"

#include <cmath>
#include <functional>
#include <limits>

#include "src/cel/go_text.h"

namespace berth::cel {
namespace {

struct TextObject : Object {
  explicit TextObject(std::string made) : text(std::move(made)) {}
  std::string text;
};

struct HeldObject : Object {
  explicit HeldObject(Value made) : value(std::move(made)) {}
  Value value;
};

// Below this many entries a map is searched from front to back.
constexpr size_t kIndexedFrom = 9;

size_t HashOf(const Value& key) {
  const auto mixed = [&](auto value) {
    return std::hash<decltype(value)>{}(value) * 31 + static_cast<size_t>(key.kind());
  };
  switch (key.kind()) {
    case Kind::kBool:
      return mixed(key.boolean());
    case Kind::kInt:
    case Kind::kDuration:
      return mixed(key.integer());
    case Kind::kUint:
      return mixed(key.natural());
    case Kind::kDouble:
      return mixed(key.real());
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kType:
      return mixed(std::string_view(key.text()));
    default:
      return static_cast<size_t>(key.kind());
  }
}

// Of two keys of one kind. What is looked at in a key that is no scalar is limited.
bool SameKey(const Value& a, const Value& b) {
  uint64_t steps = 1'000;
  return a.kind() == b.kind() && AreEqual(a, b, steps);
}

int Sign(bool less, bool greater) { return less ? -1 : greater ? 1 : 0; }

int CompareDoubleInt(double d, int64_t i) {
  if (d < static_cast<double>(std::numeric_limits<int64_t>::min())) return -1;
  if (d > static_cast<double>(std::numeric_limits<int64_t>::max())) return 1;
  return Sign(d<static_cast<double>(i), d> static_cast<double>(i));
}

int CompareDoubleUint(double d, uint64_t u) {
  if (d < 0) return -1;
  if (d > static_cast<double>(std::numeric_limits<uint64_t>::max())) return 1;
  return Sign(d<static_cast<double>(u), d> static_cast<double>(u));
}

int CompareIntUint(int64_t i, uint64_t u) {
  if (i < 0 || u > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return -1;
  return Sign(i<static_cast<int64_t>(u), i> static_cast<int64_t>(u));
}

bool IsNumber(const Value& value) {
  return value.kind() == Kind::kInt || value.kind() == Kind::kUint || value.kind() == Kind::kDouble;
}

bool IsNan(const Value& value) { return value.kind() == Kind::kDouble && std::isnan(value.real()); }

// Of two numbers, neither of them NaN.
int CompareNumbers(const Value& a, const Value& b) {
  if (a.kind() == Kind::kInt) {
    if (b.kind() == Kind::kInt) return Sign(a.integer() < b.integer(), a.integer() > b.integer());
    if (b.kind() == Kind::kUint) return CompareIntUint(a.integer(), b.natural());
    return -CompareDoubleInt(b.real(), a.integer());
  }
  if (a.kind() == Kind::kUint) {
    if (b.kind() == Kind::kUint) return Sign(a.natural() < b.natural(), a.natural() > b.natural());
    if (b.kind() == Kind::kInt) return -CompareIntUint(b.integer(), a.natural());
    return -CompareDoubleUint(b.real(), a.natural());
  }
  if (b.kind() == Kind::kDouble) return Sign(a.real() < b.real(), a.real() > b.real());
  if (b.kind() == Kind::kInt) return CompareDoubleInt(a.real(), b.integer());
  return CompareDoubleUint(a.real(), b.natural());
}

int CompareTimes(const Timestamp& a, const Timestamp& b) {
  if (a.seconds != b.seconds) return Sign(a.seconds < b.seconds, true);
  return Sign(a.nanos<b.nanos, a.nanos> b.nanos);
}

// Elements that cannot be compared do not make two lists unequal.
bool EqualLists(const List& a, const List& b, uint64_t& steps) {
  if (a.items.size() != b.items.size()) return false;
  for (size_t i = 0; i < a.items.size(); ++i)
    if (steps == 0 || Equal(a.items[i], b.items[i], steps).IsBool(false)) return false;
  return true;
}

bool EqualMaps(const Map& a, const Map& b, uint64_t& steps) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.entries()) {
    const Value* const other = b.Find(key);
    if (steps == 0 || other == nullptr || Equal(value, *other, steps).IsBool(false)) return false;
  }
  return true;
}

Value EqualOptionals(const Value& a, const Value& b, uint64_t& steps) {
  if (b.kind() != Kind::kOptional) return Value::Bool(false);
  if (a.held() == nullptr || b.held() == nullptr) return Value::Bool(a.held() == b.held());
  return Equal(*a.held(), *b.held(), steps);
}

constexpr size_t kLongText = 4'096;

std::string MapText(const Map& map) {
  std::string text = "{";
  for (const auto& [key, value] : map.entries()) {
    if (text.size() > kLongText) break;
    if (text.size() > 1) text += ", ";
    text += DebugText(key) + ": " + DebugText(value);
  }
  return text += '}';
}

}  // namespace

Value Value::Text(Kind kind, std::string text) {
  Value value(kind, Number{});
  value.object_ = std::make_shared<const TextObject>(std::move(text));
  return value;
}

Value Value::Time(const Timestamp& time) {
  Value value(Kind::kTimestamp, Number{.integer = time.seconds});
  value.nanos_ = time.nanos;
  value.offset_minutes_ = time.offset_minutes;
  return value;
}

Value Value::Of(std::shared_ptr<const List> list) {
  Value value(Kind::kList, Number{});
  value.object_ = std::move(list);
  return value;
}

Value Value::Of(std::shared_ptr<const Map> map) {
  Value value(Kind::kMap, Number{});
  value.object_ = std::move(map);
  return value;
}

Value Value::Of(std::shared_ptr<const Extension> extension) {
  Value value(Kind::kExtension, Number{});
  value.object_ = std::move(extension);
  return value;
}

Value Value::ListOf(std::vector<Value> items) {
  auto list = std::make_shared<List>();
  list->items = std::move(items);
  return Of(std::shared_ptr<const List>(std::move(list)));
}

Value Value::Some(Value held) {
  Value value(Kind::kOptional, Number{});
  value.object_ = std::make_shared<const HeldObject>(std::move(held));
  return value;
}

const std::string& Value::text() const {
  return static_cast<const TextObject*>(object_.get())->text;
}
const List& Value::list() const { return *static_cast<const List*>(object_.get()); }
const Map& Value::map() const { return *static_cast<const Map*>(object_.get()); }
const Extension& Value::extension() const { return *static_cast<const Extension*>(object_.get()); }
const Value* Value::held() const {
  return object_ == nullptr ? nullptr : &static_cast<const HeldObject*>(object_.get())->value;
}

List* Value::SoleList() {
  if (kind_ != Kind::kList || object_.use_count() != 1) return nullptr;
  // Every list and map is made as one that is not const, and no other holder can see the change.
  return const_cast<List*>(static_cast<const List*>(object_.get()));
}

Map* Value::SoleMap() {
  if (kind_ != Kind::kMap || object_.use_count() != 1) return nullptr;
  return const_cast<Map*>(static_cast<const Map*>(object_.get()));
}

const Map::Entry* Map::FindExact(const Value& key) const {
  if (index_.empty()) {
    for (const Entry& entry : entries_)
      if (SameKey(entry.first, key)) return &entry;
    return nullptr;
  }
  const auto [begin, end] = index_.equal_range(HashOf(key));
  for (auto at = begin; at != end; ++at)
    if (SameKey(entries_[at->second].first, key)) return &entries_[at->second];
  return nullptr;
}

void Map::Put(Value key, Value value) {
  if (const Entry* const entry = FindExact(key)) {
    const_cast<Entry*>(entry)->second = std::move(value);
    return;
  }
  entries_.emplace_back(std::move(key), std::move(value));
  if (entries_.size() < kIndexedFrom) return;
  const size_t begin = index_.empty() ? 0 : entries_.size() - 1;
  for (size_t i = begin; i < entries_.size(); ++i)
    index_.emplace(HashOf(entries_[i].first), static_cast<uint32_t>(i));
}

const Value* Map::FindPut(const Value& key) const {
  if (const Entry* const entry = FindExact(key)) return &entry->second;
  std::optional<Value> also[2];
  if (key.kind() == Kind::kDouble) {
    if (const auto integer = ExactInt(key.real())) also[0] = Value::Int(*integer);
    if (const auto natural = ExactUint(key.real())) also[1] = Value::Uint(*natural);
  } else if (key.kind() == Kind::kInt && key.integer() >= 0) {
    also[0] = Value::Uint(static_cast<uint64_t>(key.integer()));
  } else if (key.kind() == Kind::kUint &&
             key.natural() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    also[0] = Value::Int(static_cast<int64_t>(key.natural()));
  }
  for (const std::optional<Value>& other : also)
    if (other)
      if (const Entry* const entry = FindExact(*other)) return &entry->second;
  return nullptr;
}

const Value* Map::Find(const Value& key) const {
  if (const Value* const value = FindPut(key)) return value;
  return fallback_ ? &*fallback_ : nullptr;
}

std::string_view TypeNameOf(const Value& value) {
  constexpr std::string_view kNames[] = {"null_type",
                                         "bool",
                                         "int",
                                         "uint",
                                         "double",
                                         "string",
                                         "bytes",
                                         "list",
                                         "map",
                                         "google.protobuf.Duration",
                                         "google.protobuf.Timestamp",
                                         "type",
                                         "optional_type",
                                         "",
                                         "error"};
  if (value.kind() == Kind::kExtension) return value.extension().type_name();
  return kNames[static_cast<size_t>(value.kind())];
}

Value Equal(const Value& a, const Value& b, uint64_t& steps) {
  if (steps > 0) --steps;
  if (a.IsError()) return a;
  if (a.kind() == Kind::kNull || b.kind() == Kind::kNull) return Value::Bool(a.kind() == b.kind());
  if (a.kind() == Kind::kExtension) return b.IsError() ? b : a.extension().Equal(b);
  if (a.kind() == Kind::kOptional) return EqualOptionals(a, b, steps);
  if (IsNumber(a))
    return Value::Bool(IsNumber(b) && !IsNan(a) && !IsNan(b) && CompareNumbers(a, b) == 0);
  if (a.kind() != b.kind()) return Value::Bool(false);
  switch (a.kind()) {
    case Kind::kBool:
      return Value::Bool(a.boolean() == b.boolean());
    case Kind::kDuration:
      return Value::Bool(a.integer() == b.integer());
    case Kind::kTimestamp:
      return Value::Bool(CompareTimes(a.time(), b.time()) == 0);
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kType:
      return Value::Bool(a.text() == b.text());
    case Kind::kList:
      return Value::Bool(EqualLists(a.list(), b.list(), steps));
    case Kind::kMap:
      return Value::Bool(EqualMaps(a.map(), b.map(), steps));
    default:
      return Value::Bool(false);
  }
}

bool HasOrder(Kind kind) {
  switch (kind) {
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kDuration:
    case Kind::kTimestamp:
      return true;
    default:
      return false;
  }
}

Value Compare(const Value& a, const Value& b) {
  if (IsNan(a)) return Value::Error("NaN values cannot be ordered");
  if (IsNumber(a) && IsNumber(b)) {
    if (IsNan(b)) return Value::Error("NaN values cannot be ordered");
    return Value::Int(CompareNumbers(a, b));
  }
  if (a.kind() != b.kind()) return OrNoSuchOverload(b);
  switch (a.kind()) {
    case Kind::kBool:
      return Value::Int(Sign(!a.boolean() && b.boolean(), a.boolean() && !b.boolean()));
    case Kind::kString:
    case Kind::kBytes: {
      const int order = a.text().compare(b.text());
      return Value::Int(Sign(order < 0, order > 0));
    }
    case Kind::kDuration:
      return Value::Int(Sign(a.integer() < b.integer(), a.integer() > b.integer()));
    case Kind::kTimestamp:
      return Value::Int(CompareTimes(a.time(), b.time()));
    default:
      return NoSuchOverload();
  }
}

size_t CodePoints(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

std::optional<uint64_t> MeasuredSize(const Value& value) {
  switch (value.kind()) {
    case Kind::kString:
      return CodePoints(value.text());
    case Kind::kBytes:
      return value.text().size();
    case Kind::kList:
      return value.list().items.size();
    case Kind::kMap:
      return value.map().size();
    case Kind::kExtension:
      return value.extension().size();
    default:
      return std::nullopt;
  }
}

uint64_t SizeOf(const Value& value) { return MeasuredSize(value).value_or(1); }

std::string DebugText(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "NULL_VALUE";
    case Kind::kBool:
      return value.boolean() ? "true" : "false";
    case Kind::kInt:
      return std::to_string(value.integer());
    case Kind::kUint:
      return std::to_string(value.natural());
    case Kind::kDouble:
      return FormatDouble(value.real());
    case Kind::kDuration:
      return FormatGoDuration(value.integer());
    case Kind::kTimestamp:
      return FormatTimestamp(value.time());
    case Kind::kList: {
      std::string text = "[";
      for (const Value& item : value.list().items) {
        if (text.size() > kLongText) break;
        if (text.size() > 1) text += ", ";
        text += DebugText(item);
      }
      return text += ']';
    }
    case Kind::kMap:
      return MapText(value.map());
    case Kind::kOptional:
      return value.held() == nullptr ? "optional.none()"
                                     : "optional(" + DebugText(*value.held()) + ")";
    case Kind::kExtension:
      return std::string(value.extension().type_name());
    default:
      return value.text();
  }
}

std::optional<int64_t> ExactInt(double value) {
  if (!(value > -9223372036854775808.0 && value < 9223372036854775808.0)) return std::nullopt;
  const auto integer = static_cast<int64_t>(value);
  if (static_cast<double>(integer) != value) return std::nullopt;
  return integer;
}

std::optional<uint64_t> ExactUint(double value) {
  if (!(value >= 0 && value < 18446744073709551616.0)) return std::nullopt;
  const auto natural = static_cast<uint64_t>(value);
  if (static_cast<double>(natural) != value) return std::nullopt;
  return natural;
}

}  // namespace berth::cel
