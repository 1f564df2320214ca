// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <utility>

#include "src/cel/value_ops.h"

namespace berth::cel {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;

Value Overflow(Kind kind) {
  if (kind == Kind::kUint) return Value::Error("unsigned integer overflow");
  return Value::Error("integer overflow");
}

Value Whole(Kind kind, int64_t number) {
  return kind == Kind::kDuration ? Value::Duration(number) : Value::Int(number);
}

Value AddTexts(Budget& budget, const Value& a, const Value& b) {
  budget.Allocate(a.text().size() + b.text().size());
  if (budget.out_of_memory()) return NoSuchOverload();
  std::string text = a.text() + b.text();
  return a.kind() == Kind::kBytes ? Value::Bytes(std::move(text)) : Value::String(std::move(text));
}

Value AddLists(Budget& budget, Value& a, const Value& b) {
  const std::vector<Value>& more = b.list().items;
  if (a.list().items.empty()) return b;
  if (more.empty()) return a;
  List* const sole = a.SoleList();
  budget.Allocate((more.size() + (sole == nullptr ? a.list().items.size() : 0)) * sizeof(Value));
  if (budget.out_of_memory()) return NoSuchOverload();
  if (sole != nullptr) {
    sole->items.insert(sole->items.end(), more.begin(), more.end());
    return std::move(a);
  }
  std::vector<Value> items = a.list().items;
  items.insert(items.end(), more.begin(), more.end());
  return Value::ListOf(std::move(items));
}

// The operators with "no such overload" worded as cel-go words it: of operands that never have the
// operator, with its name.
Value Unknown(const Value& a, const char* op) {
  const bool receives =
      a.kind() == Kind::kString || a.kind() == Kind::kDuration || a.kind() == Kind::kTimestamp;
  return receives ? NoSuchOverload() : Value::Error(std::string("no such overload: ") + op);
}

Value ImplementAdd(Budget& budget, std::span<Value> args) { return Add(budget, args[0], args[1]); }

Value Subtract(Budget&, std::span<Value> args) {
  const Value& a = args[0];
  const Value& b = args[1];
  switch (a.kind()) {
    case Kind::kInt:
    case Kind::kDuration: {
      int64_t difference = 0;
      if (a.kind() != b.kind()) return NoSuchOverload();
      if (__builtin_sub_overflow(a.integer(), b.integer(), &difference)) return Overflow(a.kind());
      return Whole(a.kind(), difference);
    }
    case Kind::kUint:
      if (b.kind() != Kind::kUint) return NoSuchOverload();
      if (b.natural() > a.natural()) return Overflow(Kind::kUint);
      return Value::Uint(a.natural() - b.natural());
    case Kind::kDouble:
      if (b.kind() != Kind::kDouble) return NoSuchOverload();
      return Value::Double(a.real() - b.real());
    case Kind::kTimestamp:
      if (b.kind() == Kind::kTimestamp) return TimeBetween(a.time(), b.time());
      if (b.kind() != Kind::kDuration) return NoSuchOverload();
      if (b.integer() == std::numeric_limits<int64_t>::min()) return Overflow(Kind::kInt);
      return MoveTime(a.time(), -b.integer());
    default:
      return Unknown(a, "_-_");
  }
}

Value Multiply(Budget&, std::span<Value> args) {
  const Value& a = args[0];
  const Value& b = args[1];
  const bool same = a.kind() == b.kind();
  switch (a.kind()) {
    case Kind::kInt: {
      int64_t product = 0;
      if (!same) return NoSuchOverload();
      if (__builtin_mul_overflow(a.integer(), b.integer(), &product)) return Overflow(a.kind());
      return Value::Int(product);
    }
    case Kind::kUint: {
      uint64_t product = 0;
      if (!same) return NoSuchOverload();
      if (__builtin_mul_overflow(a.natural(), b.natural(), &product)) return Overflow(a.kind());
      return Value::Uint(product);
    }
    case Kind::kDouble:
      return same ? Value::Double(a.real() * b.real()) : NoSuchOverload();
    default:
      return Unknown(a, "_*_");
  }
}

bool IsLeastByMinusOne(int64_t a, int64_t b) {
  return a == std::numeric_limits<int64_t>::min() && b == -1;
}

Value Divide(Budget&, std::span<Value> args) {
  const Value& a = args[0];
  const Value& b = args[1];
  const bool same = a.kind() == b.kind();
  switch (a.kind()) {
    case Kind::kInt:
      if (!same) return NoSuchOverload();
      if (b.integer() == 0) return Value::Error("division by zero");
      if (IsLeastByMinusOne(a.integer(), b.integer())) return Overflow(a.kind());
      return Value::Int(a.integer() / b.integer());
    case Kind::kUint:
      if (!same) return NoSuchOverload();
      if (b.natural() == 0) return Value::Error("division by zero");
      return Value::Uint(a.natural() / b.natural());
    case Kind::kDouble:
      return same ? Value::Double(a.real() / b.real()) : NoSuchOverload();
    default:
      return Unknown(a, "_/_");
  }
}

Value Modulo(Budget&, std::span<Value> args) {
  const Value& a = args[0];
  const Value& b = args[1];
  const bool same = a.kind() == b.kind();
  if (a.kind() == Kind::kInt) {
    if (!same) return NoSuchOverload();
    if (b.integer() == 0) return Value::Error("modulus by zero");
    if (IsLeastByMinusOne(a.integer(), b.integer())) return Overflow(a.kind());
    return Value::Int(a.integer() % b.integer());
  }
  if (a.kind() == Kind::kUint) {
    if (!same) return NoSuchOverload();
    if (b.natural() == 0) return Value::Error("modulus by zero");
    return Value::Uint(a.natural() % b.natural());
  }
  return Unknown(a, "_%_");
}

Value Negate(Budget&, std::span<Value> args) {
  const Value& a = args[0];
  switch (a.kind()) {
    case Kind::kInt:
    case Kind::kDuration:
      if (a.integer() == std::numeric_limits<int64_t>::min()) return Overflow(a.kind());
      return Whole(a.kind(), -a.integer());
    case Kind::kDouble:
      return Value::Double(-a.real());
    case Kind::kBool:
      return NoSuchOverload();
    default:
      return Unknown(a, "-_");
  }
}

}  // namespace

Value Add(Budget& budget, Value& a, const Value& b) {
  const bool same = a.kind() == b.kind();
  switch (a.kind()) {
    case Kind::kInt:
    case Kind::kDuration: {
      if (a.kind() == Kind::kDuration && b.kind() == Kind::kTimestamp)
        return MoveTime(b.time(), a.integer());
      int64_t sum = 0;
      if (!same) return OrNoSuchOverload(b);
      if (__builtin_add_overflow(a.integer(), b.integer(), &sum)) return Overflow(a.kind());
      return Whole(a.kind(), sum);
    }
    case Kind::kUint: {
      uint64_t sum = 0;
      if (!same) return OrNoSuchOverload(b);
      if (__builtin_add_overflow(a.natural(), b.natural(), &sum)) return Overflow(a.kind());
      return Value::Uint(sum);
    }
    case Kind::kDouble:
      return same ? Value::Double(a.real() + b.real()) : OrNoSuchOverload(b);
    case Kind::kString:
    case Kind::kBytes:
      return same ? AddTexts(budget, a, b) : OrNoSuchOverload(b);
    case Kind::kList:
      return same ? AddLists(budget, a, b) : OrNoSuchOverload(b);
    case Kind::kTimestamp:
      return b.kind() == Kind::kDuration ? MoveTime(a.time(), b.integer()) : OrNoSuchOverload(b);
    default:
      return Unknown(a, "_+_");
  }
}

Value MoveTime(const Timestamp& time, int64_t nanos) {
  Timestamp moved = time;
  if (__builtin_add_overflow(time.seconds, nanos / kNanosPerSecond, &moved.seconds))
    return Value::Error("integer overflow");
  int64_t rest = time.nanos + nanos % kNanosPerSecond;
  if (rest < 0) {
    rest += kNanosPerSecond;
    --moved.seconds;
  } else if (rest >= kNanosPerSecond) {
    rest -= kNanosPerSecond;
    ++moved.seconds;
  }
  if (!IsTimestampInRange(moved.seconds)) return TimestampOverflow();
  moved.nanos = static_cast<int32_t>(rest);
  return Value::Time(moved);
}

Value TimeBetween(const Timestamp& a, const Timestamp& b) {
  int64_t nanos = 0;
  if (__builtin_mul_overflow(a.seconds - b.seconds, kNanosPerSecond, &nanos) ||
      __builtin_add_overflow(nanos, int64_t{a.nanos} - b.nanos, &nanos))
    return Value::Error("integer overflow");
  return Value::Duration(nanos);
}

void AddArithmetic(Environment& environment) {
  static constexpr FunctionRow kRows[] = {
      {"_+_", "add_bytes", "(bytes, bytes) bytes", ImplementAdd, Cost::kBoth},
      {"_+_", "add_double", "(double, double) double", ImplementAdd},
      {"_+_", "add_duration_duration", "(duration, duration) duration", ImplementAdd},
      {"_+_", "add_duration_timestamp", "(duration, timestamp) timestamp", ImplementAdd},
      {"_+_", "add_timestamp_duration", "(timestamp, duration) timestamp", ImplementAdd},
      {"_+_", "add_int64", "(int, int) int", ImplementAdd},
      {"_+_", "add_list", "(list(A), list(A)) list(A)", ImplementAdd},
      {"_+_", "add_string", "(string, string) string", ImplementAdd, Cost::kBoth},
      {"_+_", "add_uint64", "(uint, uint) uint", ImplementAdd},
      {"_/_", "divide_double", "(double, double) double", Divide},
      {"_/_", "divide_int64", "(int, int) int", Divide},
      {"_/_", "divide_uint64", "(uint, uint) uint", Divide},
      {"_%_", "modulo_int64", "(int, int) int", Modulo},
      {"_%_", "modulo_uint64", "(uint, uint) uint", Modulo},
      {"_*_", "multiply_double", "(double, double) double", Multiply},
      {"_*_", "multiply_int64", "(int, int) int", Multiply},
      {"_*_", "multiply_uint64", "(uint, uint) uint", Multiply},
      {"-_", "negate_double", "(double) double", Negate},
      {"-_", "negate_int64", "(int) int", Negate},
      {"_-_", "subtract_double", "(double, double) double", Subtract},
      {"_-_", "subtract_duration_duration", "(duration, duration) duration", Subtract},
      {"_-_", "subtract_int64", "(int, int) int", Subtract},
      {"_-_", "subtract_timestamp_duration", "(timestamp, duration) timestamp", Subtract},
      {"_-_", "subtract_timestamp_timestamp", "(timestamp, timestamp) duration", Subtract},
      {"_-_", "subtract_uint64", "(uint, uint) uint", Subtract},
  };
  environment.Add(kRows, Dispatch::kUnguarded);
}

}  // namespace berth::cel
