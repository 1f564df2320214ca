// SPDX-License-Identifier: Apache-2.0
#include "src/cel/format_clause.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "src/cel/go_text.h"

namespace berth::cel {
namespace {

constexpr int kMostDigits = 1'000;

Result<FormatClause> Refuse(const std::string& why) {
  return Fail("could not parse formatting clause: " + why);
}

bool IsOneOf(const Type& type, std::initializer_list<TypeKind> kinds) {
  return IsDyn(type) || std::find(kinds.begin(), kinds.end(), type.kind) != kinds.end();
}

// What %s cannot show: the argument itself, or something in its literal.
const Expr* Unprintable(const Expr& arg) {
  using K = TypeKind;
  if (!IsOneOf(*arg.type, {K::kList, K::kMap, K::kInt, K::kUint, K::kDouble, K::kBool, K::kString,
                           K::kTimestamp, K::kBytes, K::kDuration, K::kType, K::kNull}))
    return &arg;
  if (arg.kind != Expr::Kind::kList && arg.kind != Expr::Kind::kMap) return nullptr;
  for (const Expr* const inner : arg.args)
    if (const Expr* const found = Unprintable(*inner)) return found;
  return nullptr;
}

// The argument, or its part, that the clause cannot show; nullptr: it shows all.
const Expr* Misfit(char verb, const Expr& arg) {
  using K = TypeKind;
  const Type& type = *arg.type;
  bool fits = true;
  switch (verb) {
    case 's':
      return Unprintable(arg);
    case 'f':
    case 'e':
      fits = IsOneOf(type, {K::kDouble, K::kString});
      break;
    case 'b':
      fits = IsOneOf(type, {K::kInt, K::kUint, K::kBool});
      break;
    case 'x':
    case 'X':
      fits = IsOneOf(type, {K::kInt, K::kUint, K::kString, K::kBytes});
      break;
    default:
      fits = IsOneOf(type, {K::kInt, K::kUint});
  }
  return fits ? nullptr : &arg;
}

}  // namespace

Result<FormatClause> ReadFormatClause(std::string_view text) {
  FormatClause clause;
  if (text.front() == '.') {
    const std::string in = "error while parsing precision: ";
    const size_t end = text.find_first_not_of("0123456789", 1);
    if (end == std::string_view::npos)
      return Refuse(in + "could not find end of precision specifier");
    const std::optional<int64_t> digits = ParseInt(text.substr(1, end - 1));
    if (!digits)
      return Refuse(in + "error while converting precision to integer: strconv.Atoi: parsing " +
                    GoQuote(text.substr(1, end - 1)) + ": invalid syntax");
    if (*digits > kMostDigits)
      return Refuse(in + "precision " + std::to_string(*digits) +
                    " exceeds maximum allowed precision " + std::to_string(kMostDigits));
    clause.digits = static_cast<int>(*digits);
    clause.length = end;
  }
  clause.verb = text[clause.length++];
  if (std::string_view("sdfebxXo").find(clause.verb) != std::string_view::npos) return clause;
  std::string verb;
  AppendRune(verb, static_cast<unsigned char>(clause.verb));
  return Refuse("unrecognized formatting clause \"" + verb + "\"");
}

std::string WrongFormatType(char verb, std::string_view type) {
  std::string message;
  switch (verb) {
    case 's':
      message =
          "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
          "types, durations, and timestamps";
      break;
    case 'd':
      message = "decimal clause can only be used on integers";
      break;
    case 'f':
      message = "fixed-point clause can only be used on doubles";
      break;
    case 'e':
      message = "scientific clause can only be used on doubles";
      break;
    case 'b':
      message = "only integers and bools can be formatted as binary";
      break;
    case 'o':
      message = "octal clause can only be used on integers";
      break;
    default:
      message = "only integers, byte buffers, and strings can be formatted as hex";
  }
  message += ", was given ";
  return message.append(type);
}

void CheckFormat(const Expr& call, Issues& issues) {
  std::string_view rest = call.args[0]->constant.text();
  const std::vector<Expr*>& args = call.args[1]->args;
  size_t used = 0;
  for (size_t at = rest.find('%'); at != std::string_view::npos; at = rest.find('%')) {
    rest.remove_prefix(at + 1);
    if (rest.starts_with('%')) {
      rest.remove_prefix(1);
      continue;
    }
    if (rest.empty()) return issues.Report(call.offset, "unexpected end of string");
    if (used >= args.size())
      return issues.Report(call.offset, "index " + std::to_string(used) + " out of range");
    const Result<FormatClause> clause = ReadFormatClause(rest);
    if (!clause) return issues.Report(call.offset, clause.error().message);
    if (const Expr* const misfit = Misfit(clause->verb, *args[used++]))
      return issues.Report(misfit->offset, "error during formatting: " +
                                               WrongFormatType(clause->verb, misfit->type->name));
    rest.remove_prefix(clause->length);
  }
  if (args.size() > used)
    issues.Report(call.offset, "too many arguments supplied to string.format (expected " +
                                   std::to_string(used) + ", got " + std::to_string(args.size()) +
                                   ")");
}

}  // namespace berth::cel
