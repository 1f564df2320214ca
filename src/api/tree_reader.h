// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/functional/function_ref.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/api/decode_value.h"
#include "src/api/field_table.h"

namespace berth::api {

// A number as JSON writes it.
std::string FormatNumber(double number);

// A document, such as parsed JSON.
class Tree {
 public:
  // One of its values. Only the tree knows what the words mean.
  struct Node {
    const void* place = nullptr;
    uint64_t index = 0;
  };
  enum class Type { kNull, kBoolean, kString, kInteger, kOtherNumber, kObject, kList };
  struct Value {
    Type type = Type::kNull;
    bool boolean = false;
    int64_t integer = 0;           // a kOtherNumber has a fraction, or does not fit
    std::string_view string = {};  // good as long as the tree
  };

  virtual Value Get(Node node) const = 0;
  // A number of either type, as JSON writes it.
  virtual std::string NumberText(Node node) const = 0;
  // "a string", ...
  virtual std::string_view TypeName(Node node) const = 0;
  // The value as it was written; nullopt where that is not known.
  virtual std::optional<std::string_view> RawText(Node /*node*/) const { return std::nullopt; }
  // Of an object, or a list, in order. False where `visit` was false, after which it ends.
  virtual bool ForEachMember(
      Node object, absl::FunctionRef<bool(std::string_view key, Node value)> visit) const = 0;
  virtual bool ForEachElement(Node list, absl::FunctionRef<bool(Node element)> visit) const = 0;

 protected:
  ~Tree() = default;
};

// Fills structs from a tree by their field tables. Null leaves a member as it is.
//
// Thread safety: one owner.
class TreeReader {
 public:
  // The tree outlives the reader. `forgiven`: as a Trail's, for one Read.
  TreeReader(const Tree& tree, UnknownFields unknown, size_t forgiven = 0)
      : tree_(tree), unknown_(unknown), trail_(forgiven) {}

  // Whether it could be read; otherwise `out` keeps what was read before. Instantiated for
  // BERTH_API_KINDS, for what wire_types.h and kinds.h have besides, and for what DecodeValue()
  // reads.
  template <typename T>
  bool Read(Tree::Node node, T& out);

  // Why the last Read failed.
  Error TakeError(std::string_view root) { return std::move(trail_).ToError(root); }
  FieldDamage TakeDamage() { return std::move(trail_).ToDamage(); }

 private:
  friend struct MemberReader;

  const Tree& tree_;
  UnknownFields unknown_;
  Trail trail_;
};

}  // namespace berth::api
