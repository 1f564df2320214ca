// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/cel/type.h"
#include "src/cel/value.h"

// What an expression may name: variables, the fields of object types, and functions.
//
// Thread safety: built on one thread; then any number of threads may compile and evaluate with it.
namespace berth::cel {

// What an evaluation may still spend.
class Budget {
 public:
  explicit Budget(uint64_t cost_limit) : cost_limit_(cost_limit) {}

  // False: it is used up. Whatever a function returns then is dropped.
  bool Spend(uint64_t cost) {
    if (__builtin_add_overflow(spent_, cost, &spent_)) spent_ = ~uint64_t{0};
    return !exhausted();
  }
  // What is about to be done costs more than is left.
  void Refuse() { refused_ = true; }
  // Gives back what was spent.
  void Refund(uint64_t cost) { spent_ -= cost; }
  // Bytes that a function is about to take; what was given back still counts.
  bool Allocate(uint64_t bytes) {
    if (bytes > memory_left_) out_of_memory_ = true;
    memory_left_ -= bytes > memory_left_ ? memory_left_ : bytes;
    return !out_of_memory_;
  }
  // How many values may yet be looked at in comparisons and traversals, whose cost counts too
  // little where values hold each other many times.
  uint64_t& steps() { return steps_; }
  bool exhausted() const { return refused_ || steps_ == 0 || spent_ > cost_limit_; }
  bool out_of_memory() const { return out_of_memory_; }
  uint64_t cost_left() const { return exhausted() ? 0 : cost_limit_ - spent_; }
  uint64_t spent() const { return spent_; }

 private:
  static constexpr uint64_t kMemory = 64 << 20;

  const uint64_t cost_limit_;
  uint64_t spent_ = 0;
  uint64_t memory_left_ = kMemory;
  uint64_t steps_ = 20'000'000;
  bool refused_ = false;
  bool out_of_memory_ = false;
};

// What a function does with arguments that fit an overload. It may take from `args`.
using Implementation = Value (*)(Budget& budget, std::span<Value> args);

// The implementation of overloads that the machine runs itself: their rows are for the checker.
inline Value NotCalled(Budget&, std::span<Value>) { return NoSuchOverload(); }

// How a call's cost follows from its arguments and its result (sizes as SizeOf counts them).
enum class Cost : uint8_t {
  kDefault,      // 1, or as the function says for overloads without a rule
  kOne,          // 1
  kFirst,        // a tenth of the first argument
  kFirstTwice,   // a fifth of it
  kSecond,       // a tenth of the second argument
  kSecondWhole,  // the second argument
  kSmaller,      // a tenth of the smaller of two
  kBoth,         // a tenth of the two together
  kProduct,      // a tenth of the first, times a tenth of the second
  kRegex,        // a tenth of the text, times a quarter of the pattern
  kResultTwice,  // a fifth of the result
  kTraversal,    // all that the first argument holds
  kMadeList,     // 11 and the result
  kFlatten,      // 11 and the first argument, times the depth
  kSelfCompare,  // 11 and twice the square of the first argument
  kKeysCompare,  // the same of the second argument
  kSets,         // 1 and the product of both
  kSetsTwice,    // 1 and twice the product
  kWithin,       // of an address in a network
  kWithinText,   // the same, of an address to be parsed
  kSubnet,       // of a network in a network
  kSubnetText,   // the same, of a network to be parsed
  kFormat,       // a tenth of the text, times a quarter of the format's pattern
};

struct Overload {
  std::string id;
  bool member = false;
  std::vector<const Type*> params;  // of a member call the target first
  const Type* result = nullptr;
  std::vector<std::string> type_params;
  Implementation implement = nullptr;
  Cost cost = Cost::kDefault;
};

// How a call finds the overload to run.
enum class Dispatch : uint8_t {
  kGuarded,   // the first whose types the arguments have
  kUnguarded  // they share one implementation, which looks at the arguments itself
};

struct Function {
  std::string name;
  std::vector<std::unique_ptr<Overload>> overloads;
  Dispatch dispatch = Dispatch::kGuarded;
  // When the checker left more than one overload, or for overloads without a rule of their own.
  Cost cost = Cost::kDefault;
};

// A line of a library's table.
struct FunctionRow {
  const char* function;
  const char* id;
  const char* signature;  // "(string, int) bool"; "string.(int) bool" is a member call
  Implementation implement;
  Cost cost = Cost::kDefault;
};

class Environment {
 public:
  // With the standard library: operators, conversions, size, matches, dates, optional values.
  Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  void Add(std::span<const FunctionRow> rows, Dispatch dispatch = Dispatch::kGuarded);
  // Whatever its overloads say, `function` costs this when they have no rule.
  void SetCost(std::string_view function, Cost cost);
  // `type` as declarations write it. Variables are numbered in the order they are added.
  void AddVariable(std::string name, std::string_view type);
  // The fields of an object type, again with their types.
  void AddField(const std::string& object, const std::string& name, std::string_view type);
  // Makes the name stand for the type in expressions (`type(x) == net.IP`).
  void AddTypeName(const std::string& name, std::string_view type);

  const Function* FindFunction(const std::string& name) const;
  // nullptr: no such field.
  const Type* FindField(const std::string& object, const std::string& field) const;
  // Whether the fields of the object type are declared: some types have functions only.
  bool HasFields(const std::string& object) const { return objects_.contains(object); }
  const Type* FindTypeName(const std::string& name) const;
  struct Variable {
    std::string name;
    const Type* type = nullptr;
    size_t index = 0;
  };
  const Variable* FindVariable(const std::string& name) const;

 private:
  Function& FunctionNamed(const std::string& name);

  TypeArena types_;
  absl::flat_hash_map<std::string, std::unique_ptr<Function>> functions_;
  std::vector<Variable> variables_;
  absl::flat_hash_map<std::string, const Type*> fields_;  // "object.field"
  absl::flat_hash_set<std::string> objects_;
  absl::flat_hash_map<std::string, const Type*> type_names_;
};

// Whether a value may be passed where an overload has this type.
bool FitsAtRunTime(const Type& param, const Value& value);

// The tables of the standard library, and those that a program may add.
void AddOperators(Environment& environment);
void AddArithmetic(Environment& environment);
void AddMatches(Environment& environment);
void AddConversions(Environment& environment);
void AddTimes(Environment& environment);
void AddOptionals(Environment& environment);
void AddStrings(Environment& environment);
void AddLists(Environment& environment);
void AddSets(Environment& environment);
void AddTransforms(Environment& environment);

// Kubernetes' own functions, as its API server offers them everywhere.
void AddKubernetesLists(Environment& environment);
void AddRegex(Environment& environment);
void AddQuantity(Environment& environment);
void AddSemver(Environment& environment);
void AddUrls(Environment& environment);
void AddAddresses(Environment& environment);
void AddFormats(Environment& environment);
// Names that only admission has values for.
void AddAuthorizer(Environment& environment);

}  // namespace berth::cel
