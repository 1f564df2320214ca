// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/container/flat_hash_map.h>

#include <string>
#include <utility>
#include <vector>

#include "src/cel/type.h"

// Finds out what type parameters stand for.
//
// Thread safety: one thread.
namespace berth::cel {

class Unifier {
 public:
  explicit Unifier(TypeArena& arena) : arena_(arena) {}

  // A type parameter that no other type mentions.
  const Type* Fresh();

  // Whether a value of type `from` may stand where `to` is asked for. Yes: the parameters in both
  // are bound as that takes; no: nothing is bound.
  bool Assign(const Type* from, const Type* to);
  // The same for each of two lists at once.
  bool Assign(const std::vector<const Type*>& from, const std::vector<const Type*>& to);

  // With each bound parameter replaced by what it stands for. `free_to_dyn`: the others become dyn.
  const Type* Substitute(const Type* type, bool free_to_dyn);
  // With the named parameters replaced by the given types.
  const Type* Rename(const Type* type, const std::vector<std::string>& names,
                     const std::vector<const Type*>& types);

  // Of two types that unify the one that says less.
  static const Type* MoreGeneral(const Type* a, const Type* b);

 private:
  enum class Fit : uint8_t { kYes, kNo, kNoAndBound };

  bool TryAssign(const Type* from, const Type* to);
  Fit TrySubstitution(const Type* type, const Type* param);
  bool IsFreeOf(const Type* param, const Type* within) const;
  const Type* Bound(const Type* type) const;
  void Bind(const Type* param, const Type* type);
  void Undo(size_t mark);

  TypeArena& arena_;
  absl::flat_hash_map<std::string, const Type*> bound_;
  // What each binding replaced, to take it back.
  std::vector<std::pair<std::string, const Type*>> journal_;
  int made_ = 0;
};

}  // namespace berth::cel
