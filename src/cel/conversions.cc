// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "src/cel/go_text.h"
#include "src/cel/value_ops.h"

namespace berth::cel {
namespace {

constexpr int64_t kMinSeconds = -62'135'596'800;
constexpr int64_t kMaxSeconds = 253'402'300'799;

Value NoConversion(const Value& value, const char* to) {
  return Value::Error("type conversion error from '" + std::string(TypeNameOf(value)) + "' to '" +
                      to + "'");
}

Value IntOverflow() { return Value::Error("integer overflow"); }
Value UintOverflow() { return Value::Error("unsigned integer overflow"); }

Value DoubleToInt(double value) {
  if (!(value > -9223372036854775808.0 && value < 9223372036854775808.0)) return IntOverflow();
  return Value::Int(static_cast<int64_t>(value));
}

Value DoubleToUint(double value) {
  if (!(value >= 0 && value < 18446744073709551616.0)) return UintOverflow();
  return Value::Uint(static_cast<uint64_t>(value));
}

template <Value (*convert)(const Value&)>
Value Implement(Budget&, std::span<Value> args) {
  return convert(args[0]);
}

Value Same(Budget&, std::span<Value> args) { return args[0]; }

Value TypeOf(Budget&, std::span<Value> args) {
  return Value::TypeNamed(std::string(TypeNameOf(args[0])));
}

}  // namespace

bool IsTimestampInRange(int64_t seconds) {
  return seconds >= kMinSeconds && seconds <= kMaxSeconds;
}

Value ToBool(const Value& value) {
  if (value.kind() == Kind::kBool) return value;
  if (value.kind() == Kind::kString)
    if (const auto parsed = ParseBool(value.text())) return Value::Bool(*parsed);
  return NoConversion(value, "bool");
}

Value ToBytes(const Value& value) {
  if (value.kind() == Kind::kBytes) return value;
  if (value.kind() == Kind::kString) return Value::Bytes(value.text());
  return NoConversion(value, "bytes");
}

Value ToDouble(const Value& value) {
  switch (value.kind()) {
    case Kind::kDouble:
      return value;
    case Kind::kInt:
      return Value::Double(static_cast<double>(value.integer()));
    case Kind::kUint:
      return Value::Double(static_cast<double>(value.natural()));
    case Kind::kString:
      if (const auto parsed = ParseDouble(value.text())) return Value::Double(*parsed);
      [[fallthrough]];
    default:
      return NoConversion(value, "double");
  }
}

Value ToDuration(const Value& value) {
  if (value.kind() == Kind::kDuration) return value;
  if (value.kind() == Kind::kString)
    if (const auto nanos = ParseGoDuration(value.text())) return Value::Duration(*nanos);
  return NoConversion(value, "google.protobuf.Duration");
}

Value ToInt(const Value& value) {
  switch (value.kind()) {
    case Kind::kInt:
      return value;
    case Kind::kUint:
      if (value.natural() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        return IntOverflow();
      return Value::Int(static_cast<int64_t>(value.natural()));
    case Kind::kDouble:
      return DoubleToInt(value.real());
    case Kind::kDuration:
      return Value::Int(value.integer());
    case Kind::kTimestamp:
      return Value::Int(value.time().seconds);
    case Kind::kString:
      if (const auto parsed = ParseInt(value.text())) return Value::Int(*parsed);
      [[fallthrough]];
    default:
      return NoConversion(value, "int");
  }
}

Value ToUint(const Value& value) {
  switch (value.kind()) {
    case Kind::kUint:
      return value;
    case Kind::kInt:
      if (value.integer() < 0) return UintOverflow();
      return Value::Uint(static_cast<uint64_t>(value.integer()));
    case Kind::kDouble:
      return DoubleToUint(value.real());
    case Kind::kString:
      if (const auto parsed = ParseUint(value.text())) return Value::Uint(*parsed);
      [[fallthrough]];
    default:
      return NoConversion(value, "uint");
  }
}

Value ToText(const Value& value) {
  switch (value.kind()) {
    case Kind::kString:
      return value;
    case Kind::kBytes:
      if (!IsValidUtf8(value.text()))
        return Value::Error("invalid UTF-8 in bytes, cannot convert to string");
      return Value::String(value.text());
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
    case Kind::kTimestamp:
      return Value::String(DebugText(value));
    case Kind::kDuration:
      return Value::String(FormatDurationSeconds(value.integer()));
    case Kind::kNull:
      return Value::String("null");
    case Kind::kType:
      return Value::String(value.text());
    default:
      return NoConversion(value, "string");
  }
}

Value ToTimestamp(const Value& value) {
  switch (value.kind()) {
    case Kind::kTimestamp:
      return value;
    case Kind::kInt:
      if (!IsTimestampInRange(value.integer())) return TimestampOverflow();
      return Value::Time({value.integer(), 0, 0});
    case Kind::kString:
      if (const auto time = ParseTimestamp(value.text()))
        return IsTimestampInRange(time->seconds) ? Value::Time(*time) : TimestampOverflow();
      [[fallthrough]];
    default:
      return NoConversion(value, "google.protobuf.Timestamp");
  }
}

void AddConversions(Environment& environment) {
  static constexpr FunctionRow kRows[] = {
      {"bool", "bool_to_bool", "(bool) bool", Same},
      {"bool", "string_to_bool", "(string) bool", Implement<ToBool>},
      {"bytes", "bytes_to_bytes", "(bytes) bytes", Same},
      {"bytes", "string_to_bytes", "(string) bytes", Implement<ToBytes>, Cost::kFirst},
      {"double", "double_to_double", "(double) double", Same},
      {"double", "int64_to_double", "(int) double", Implement<ToDouble>},
      {"double", "string_to_double", "(string) double", Implement<ToDouble>},
      {"double", "uint64_to_double", "(uint) double", Implement<ToDouble>},
      {"duration", "duration_to_duration", "(duration) duration", Same},
      {"duration", "string_to_duration", "(string) duration", Implement<ToDuration>},
      {"int", "int64_to_int64", "(int) int", Same},
      {"int", "double_to_int64", "(double) int", Implement<ToInt>},
      {"int", "duration_to_int64", "(duration) int", Implement<ToInt>},
      {"int", "string_to_int64", "(string) int", Implement<ToInt>},
      {"int", "timestamp_to_int64", "(timestamp) int", Implement<ToInt>},
      {"int", "uint64_to_int64", "(uint) int", Implement<ToInt>},
      {"string", "string_to_string", "(string) string", Same},
      {"string", "bool_to_string", "(bool) string", Implement<ToText>},
      {"string", "bytes_to_string", "(bytes) string", Implement<ToText>, Cost::kFirst},
      {"string", "double_to_string", "(double) string", Implement<ToText>},
      {"string", "duration_to_string", "(duration) string", Implement<ToText>},
      {"string", "int64_to_string", "(int) string", Implement<ToText>},
      {"string", "timestamp_to_string", "(timestamp) string", Implement<ToText>},
      {"string", "uint64_to_string", "(uint) string", Implement<ToText>},
      {"timestamp", "timestamp_to_timestamp", "(timestamp) timestamp", Same},
      {"timestamp", "int64_to_timestamp", "(int) timestamp", Implement<ToTimestamp>},
      {"timestamp", "string_to_timestamp", "(string) timestamp", Implement<ToTimestamp>},
      {"uint", "uint64_to_uint64", "(uint) uint", Same},
      {"uint", "double_to_uint64", "(double) uint", Implement<ToUint>},
      {"uint", "int64_to_uint64", "(int) uint", Implement<ToUint>},
      {"uint", "string_to_uint64", "(string) uint", Implement<ToUint>},
  };
  environment.Add(kRows);
  static constexpr FunctionRow kOfAnything[] = {
      {"dyn", "to_dyn", "(A) dyn", Same},
      {"type", "type", "(A) type(A)", TypeOf},
  };
  environment.Add(kOfAnything, Dispatch::kUnguarded);
}

}  // namespace berth::cel
