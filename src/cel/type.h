// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

// The types of the Common Expression Language as the type checker knows them.
//
// Thread safety: a Type never changes; an arena belongs to one thread while types are made in it.
namespace berth::cel {

enum class TypeKind : uint8_t {
  kDyn,
  kError,
  kBool,
  kBytes,
  kDouble,
  kInt,
  kUint,
  kString,
  kNull,
  kDuration,
  kTimestamp,
  kList,    // one parameter: the elements
  kMap,     // two parameters: keys, values
  kStruct,  // an object type with declared fields, or with functions only
  kOpaque,  // optional_type(V), net.IP, ...
  kType,    // one parameter, or none
  kTypeParam,
};

struct Type {
  TypeKind kind = TypeKind::kDyn;
  // As a value of the type reports it at run time ("int", "google.protobuf.Duration", "list"); of a
  // type parameter its own name.
  std::string name;
  std::vector<const Type*> params;
  // How many types it is written with.
  size_t weight = 1;
};

// As the type checker writes it in messages: "map(string, dyn)", "duration", "null".
std::string DisplayName(const Type& type);
// As a program reports the type of its result: "google.protobuf.Duration", "null_type".
std::string ResultName(const Type& type);

bool SameType(const Type& a, const Type& b);

inline bool IsDyn(const Type& type) { return type.kind == TypeKind::kDyn; }
inline bool IsDynOrError(const Type& type) {
  return type.kind == TypeKind::kDyn || type.kind == TypeKind::kError;
}
inline bool IsOptional(const Type& type) {
  return type.kind == TypeKind::kOpaque && type.name == "optional_type";
}

// Types without parameters live as long as the program.
const Type* BasicType(TypeKind kind);

// Makes types and owns them; they live as long as it.
class TypeArena {
 public:
  TypeArena() = default;
  TypeArena(const TypeArena&) = delete;
  TypeArena& operator=(const TypeArena&) = delete;

  // The error type when it would be heavier than kMaxWeight: {{a: a}: {a: a}} and so on doubles.
  const Type* Make(TypeKind kind, std::string name, std::vector<const Type*> params = {});
  const Type* List(const Type* elements) { return Make(TypeKind::kList, "list", {elements}); }
  const Type* Map(const Type* keys, const Type* values);
  const Type* Optional(const Type* value);
  const Type* TypeOf(const Type* type) { return Make(TypeKind::kType, "type", {type}); }

  // A type was refused, or more than kMaxTypes were made.
  bool overflowed() const { return refused_ || types_.size() > kMaxTypes; }

 private:
  static constexpr size_t kMaxWeight = 5'000;
  static constexpr size_t kMaxTypes = 300'000;

  std::deque<Type> types_;
  bool refused_ = false;
};

// Reads types as declarations write them: "int", "list(A)", "map(string, list(string))",
// "kubernetes.Quantity" (a struct), "net.IP!" (an opaque type); one capital letter is a type
// parameter. Aborts on what it cannot read: declarations are part of the program.
class TypeReader {
 public:
  TypeReader(TypeArena& arena, std::string_view text) : arena_(arena), rest_(text) {}

  const Type* Read();
  // True, and past it, when `c` comes next.
  bool Take(char c);
  bool AtEnd();

 private:
  void SkipBlanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }

  TypeArena& arena_;
  std::string_view rest_;
};

}  // namespace berth::cel
