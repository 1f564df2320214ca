// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

// What expressions compute with. An error is a value, too: it passes through what it is an argument
// of, and && || ?: may do without it.
//
// Thread safety: a Value is immutable but for assignment; what it points to is shared and never
// changes, so copies may go to other threads.
namespace berth::cel {

enum class Kind : uint8_t {
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kList,
  kMap,
  kDuration,
  kTimestamp,
  kType,
  kOptional,
  kExtension,  // a quantity, a version, an address, ...
  kError,
};

struct Object {
  virtual ~Object() = default;
};

class List;
class Map;
class Extension;

// Of a timestamp: seconds since the epoch, and what the text it was read from said of its zone.
struct Timestamp {
  int64_t seconds = 0;
  int32_t nanos = 0;
  int16_t offset_minutes = 0;
};

class Value {
 public:
  Value() = default;  // null
  static Value Bool(bool value) { return Value(Kind::kBool, Number{.boolean = value}); }
  static Value Int(int64_t value) { return Value(Kind::kInt, Number{.integer = value}); }
  static Value Uint(uint64_t value) { return Value(Kind::kUint, Number{.natural = value}); }
  static Value Double(double value) { return Value(Kind::kDouble, Number{.real = value}); }
  static Value Duration(int64_t nanos) { return Value(Kind::kDuration, Number{.integer = nanos}); }
  static Value Time(const Timestamp& time);
  static Value String(std::string text) { return Text(Kind::kString, std::move(text)); }
  static Value Bytes(std::string text) { return Text(Kind::kBytes, std::move(text)); }
  static Value TypeNamed(std::string name) { return Text(Kind::kType, std::move(name)); }
  static Value Error(std::string message) { return Text(Kind::kError, std::move(message)); }
  static Value Of(std::shared_ptr<const List> list);
  static Value Of(std::shared_ptr<const Map> map);
  static Value Of(std::shared_ptr<const Extension> extension);
  static Value ListOf(std::vector<Value> items);
  static Value None() { return Value(Kind::kOptional, Number{}); }
  static Value Some(Value value);

  Kind kind() const { return kind_; }
  bool IsError() const { return kind_ == Kind::kError; }
  bool IsBool(bool value) const { return kind_ == Kind::kBool && number_.boolean == value; }

  // Each asks for a value of its kind.
  bool boolean() const { return number_.boolean; }
  int64_t integer() const { return number_.integer; }  // of a duration its nanoseconds
  uint64_t natural() const { return number_.natural; }
  double real() const { return number_.real; }
  Timestamp time() const { return {number_.integer, nanos_, offset_minutes_}; }
  // Of a string, bytes, the name of a type, or an error's message.
  const std::string& text() const;
  const List& list() const;
  const Map& map() const;
  const Extension& extension() const;
  // nullptr: optional.none().
  const Value* held() const;

  // The list or map itself when this is its only holder, so that it may be changed; else nullptr.
  List* SoleList();
  Map* SoleMap();

  // A value on its way through a chain of selections: it came out of an optional, so the end of the
  // chain is an optional again; or the chain has ended early.
  enum Chain : uint8_t { kPlain, kThroughOptional, kEnded };
  Chain chain() const { return chain_; }
  void set_chain(Chain chain) { chain_ = chain; }

 private:
  union Number {
    bool boolean;
    int64_t integer = 0;
    uint64_t natural;
    double real;
  };

  Value(Kind kind, Number number) : number_(number), kind_(kind) {}
  static Value Text(Kind kind, std::string text);

  std::shared_ptr<const Object> object_;
  Number number_;
  int32_t nanos_ = 0;
  int16_t offset_minutes_ = 0;
  Kind kind_ = Kind::kNull;
  Chain chain_ = kPlain;
};

class List : public Object {
 public:
  std::vector<Value> items;
};

// Keys in the order they were put in. Keys of number kinds find each other when their values are
// exactly equal, as the language asks for.
class Map : public Object {
 public:
  using Entry = std::pair<Value, Value>;

  // Puts an entry in, or replaces the value of exactly this key.
  void Put(Value key, Value value);
  // What any other key leads to in place of "no such key"; Contains and the size know only what was
  // put in.
  void SetFallback(Value value) { fallback_ = std::move(value); }
  // What the caller made, of names: it may be asked for what can be no key, and has it not.
  void TakeAnyKey() { takes_any_key_ = true; }
  bool takes_any_key() const { return takes_any_key_; }

  // nullptr: no such key, and no fallback.
  const Value* Find(const Value& key) const;
  bool Contains(const Value& key) const { return FindPut(key) != nullptr; }

  const std::vector<Entry>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }

 private:
  const Value* FindPut(const Value& key) const;
  const Entry* FindExact(const Value& key) const;

  std::vector<Entry> entries_;
  std::unordered_multimap<size_t, uint32_t> index_;  // by hash; empty while entries are few
  std::optional<Value> fallback_;
  bool takes_any_key_ = false;
};

// A type that a library adds.
class Extension : public Object {
 public:
  virtual std::string_view type_name() const = 0;
  // A bool, or an error.
  virtual Value Equal(const Value& other) const = 0;
  // What size-dependent costs count; nullopt: it has no size and counts 1.
  virtual std::optional<uint64_t> size() const { return std::nullopt; }
};

// The extension in `value` when it is a T, else nullptr.
template <typename T>
const T* As(const Value& value) {
  return value.kind() == Kind::kExtension ? dynamic_cast<const T*>(&value.extension()) : nullptr;
}

// "int", "google.protobuf.Timestamp", "kubernetes.Quantity", ...
std::string_view TypeNameOf(const Value& value);

// Equality across kinds, as == has it: numbers by value, anything else of two kinds is unequal. A
// bool, or an error where an extension compares with no other type.
//
// A list may hold the same large list many times, so `steps` says how many more values may be
// looked at, here and by those who share it; at 0 the answer means nothing.
Value Equal(const Value& a, const Value& b, uint64_t& steps);
inline bool AreEqual(const Value& a, const Value& b, uint64_t& steps) {
  return Equal(a, b, steps).IsBool(true);
}

// Whether values of the kind compare by < and >.
bool HasOrder(Kind kind);

// -1, 0 or 1 as an int, or an error when the two have no order.
Value Compare(const Value& a, const Value& b);

// Code points of a string, bytes, elements, entries; 1 for anything else (and for an error).
uint64_t SizeOf(const Value& value);
// As SizeOf, but nullopt for what has no size.
std::optional<uint64_t> MeasuredSize(const Value& value);

size_t CodePoints(std::string_view text);

// As messages show a value ("%v"); cut off where it gets long.
std::string DebugText(const Value& value);

inline Value NoSuchOverload() { return Value::Error("no such overload"); }
// `value` when it is an error, else "no such overload".
inline Value OrNoSuchOverload(const Value& value) {
  return value.IsError() ? value : NoSuchOverload();
}

// An integer that the double is exactly equal to.
std::optional<int64_t> ExactInt(double value);
std::optional<uint64_t> ExactUint(double value);

}  // namespace berth::cel
