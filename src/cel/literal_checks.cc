// SPDX-License-Identifier: Apache-2.0
#include "src/cel/literal_checks.h"

#include <string>

#include "src/cel/conversions.h"
#include "src/cel/format_clause.h"
#include "src/cel/pattern.h"

namespace berth::cel {
namespace {

class LiteralChecks {
 public:
  explicit LiteralChecks(Issues& issues) : issues_(issues) {}

  // Formats come after all else. What is inside comes first.
  void VisitFormats(const Expr& expr) {
    for (const Expr* const arg : expr.args) VisitFormats(*arg);
    if (expr.comprehension != nullptr) {
      const Comprehension& parts = *expr.comprehension;
      for (const Expr* const part :
           {parts.range, parts.init, parts.condition, parts.step, parts.result})
        VisitFormats(*part);
    }
    if (expr.kind == Expr::Kind::kCall && expr.name == "format" && expr.member &&
        expr.args.size() == 2 && IsText(*expr.args[0]) && expr.args[1]->kind == Expr::Kind::kList)
      CheckFormat(expr, issues_);
  }

  void Visit(const Expr& expr, bool mixed_types_allowed) {
    const bool is_call = expr.kind == Expr::Kind::kCall;
    const bool mixed_inside = mixed_types_allowed || (is_call && expr.name == "format");
    for (const Expr* const arg : expr.args) Visit(*arg, mixed_inside);
    if (expr.comprehension != nullptr) {
      const Comprehension& parts = *expr.comprehension;
      for (const Expr* const part :
           {parts.range, parts.init, parts.condition, parts.step, parts.result})
        Visit(*part, mixed_types_allowed);
    }
    if (is_call) CheckCall(expr);
    if (expr.kind == Expr::Kind::kList && !mixed_types_allowed) CheckList(expr);
    if (expr.kind == Expr::Kind::kMap && !mixed_types_allowed) CheckMap(expr);
  }

 private:
  static bool IsText(const Expr& expr) {
    return expr.kind == Expr::Kind::kConstant && expr.constant.kind() == Kind::kString;
  }

  void CheckCall(const Expr& call) {
    const size_t at = call.member ? 1 : 0;
    if (call.args.size() <= at || call.args[at]->kind != Expr::Kind::kConstant) return;
    const Expr& literal = *call.args[at];
    bool valid = true;
    if (call.name == "matches" && IsText(literal)) {
      valid = Pattern::Compile(literal.constant.text()).has_value();
    } else if (call.name == "duration") {
      valid = !ToDuration(literal.constant).IsError();
    } else if (call.name == "timestamp") {
      valid = !ToTimestamp(literal.constant).IsError();
    }
    if (!valid) issues_.Report(literal.offset, "invalid " + call.name + " argument");
  }

  static const Type& HeldType(const Expr& element, bool optional) {
    const Type& type = *element.type;
    return optional && !type.params.empty() ? *type.params[0] : type;
  }

  bool CheckSame(const Type& first, const Type& type, const Expr& at) {
    if (SameType(first, type)) return true;
    issues_.Report(at.offset, "expected type '" + DisplayName(first) + "' but found '" +
                                  DisplayName(type) + "'");
    return false;
  }

  void CheckList(const Expr& list) {
    for (size_t i = 1; i < list.args.size(); ++i)
      if (!CheckSame(HeldType(*list.args[0], list.optional[0]),
                     HeldType(*list.args[i], list.optional[i]), *list.args[i]))
        return;
  }

  void CheckMap(const Expr& map) {
    for (size_t i = 2; i + 1 < map.args.size(); i += 2) {
      CheckSame(*map.args[0]->type, *map.args[i]->type, *map.args[i]);
      CheckSame(HeldType(*map.args[1], map.optional[0]),
                HeldType(*map.args[i + 1], map.optional[i / 2]), *map.args[i + 1]);
    }
  }

  Issues& issues_;
};

}  // namespace

void CheckLiterals(const Expr& root, Issues& issues) {
  LiteralChecks checks(issues);
  checks.Visit(root, false);
  checks.VisitFormats(root);
}

}  // namespace berth::cel
