// SPDX-License-Identifier: Apache-2.0
#include "src/cel/parser.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "src/cel/go_text.h"
#include "src/cel/lexer.h"
#include "src/cel/literals.h"
#include "src/cel/macros.h"

namespace berth::cel {
namespace {

constexpr char kExpressionStart[] =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, "
    "BYTES, IDENTIFIER}";

bool IsReserved(std::string_view word) {
  constexpr std::array<std::string_view, 17> kWords = {
      "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
      "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

std::string OperatorFunction(std::string_view symbol) { return "_" + std::string(symbol) + "_"; }

class Parser {
 public:
  Parser(std::string_view text, Tree& tree, Issues& issues)
      : tokens_(Tokenize(text, issues)), tree_(tree), issues_(issues) {}

  Expr* Run() {
    Expr* const root = Expression();
    if (!failed_ && Peek().kind != TokenKind::kEnd) Mismatch("<EOF>");
    return root;
  }

 private:
  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool Next(std::string_view symbol, size_t ahead = 0) const {
    return Peek(ahead).kind == TokenKind::kSymbol && Peek(ahead).text == symbol;
  }
  const Token& Advance() {
    const Token& token = Peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool Take(std::string_view symbol) {
    if (failed_ || !Next(symbol)) return false;
    Advance();
    return true;
  }
  void Expect(std::string_view symbol) {
    if (failed_ || Take(symbol)) return;
    Mismatch("'" + std::string(symbol) + "'");
  }

  void Fail(size_t offset, std::string message) {
    if (!failed_) issues_.Report(offset, std::move(message));
    failed_ = true;
  }
  void Mismatch(const std::string& expected) {
    const Token& token = Peek();
    const std::string text = token.kind == TokenKind::kEnd ? "<EOF>" : std::string(token.text);
    Fail(token.offset, "Syntax error: mismatched input '" + text + "' expecting " + expected);
  }
  void TooDeep(const std::string& message) {
    if (!failed_) issues_.ReportNowhere(message);
    failed_ = true;
  }

  // A node above `args`; `counted`: one more step on the way down.
  Expr* Finish(Expr* node, bool counted) {
    for (const Expr* const arg : node->args) node->height = std::max(node->height, arg->height);
    if (counted && ++node->height > kMaxDepth) TooDeep("max recursion depth exceeded");
    return node;
  }

  Expr* Call(size_t offset, std::string function, std::vector<Expr*> args, bool counted = true) {
    Expr* const call = tree_.New(Expr::Kind::kCall, offset);
    call->name = std::move(function);
    call->args = std::move(args);
    return Finish(call, counted);
  }

  Expr* Constant(size_t offset, Value value) {
    Expr* const constant = tree_.New(Expr::Kind::kConstant, offset);
    constant->constant = std::move(value);
    return constant;
  }

  Expr* Missing() { return tree_.New(Expr::Kind::kError, Peek().offset); }

  Expr* Expression() {
    if (++depth_ > kMaxDepth) {
      TooDeep("expression recursion limit exceeded: " + std::to_string(kMaxDepth));
      return Missing();
    }
    Expr* result = Or();
    if (const size_t offset = Peek().offset; Take("?")) {
      Expr* const yes = Or();
      Expect(":");
      Expr* const no = Expression();
      result = Call(offset, "_?_:_", {result, yes, no});
    }
    --depth_;
    return result;
  }

  // A tree of `terms` as shallow as can be: errors and shortcuts do not depend on its form.
  Expr* Balanced(const std::string& function, const std::vector<Expr*>& terms,
                 const std::vector<size_t>& offsets, size_t low, size_t high) {
    const size_t middle = (low + high + 1) / 2;
    Expr* const left =
        middle == low ? terms[middle] : Balanced(function, terms, offsets, low, middle - 1);
    Expr* const right =
        middle == high ? terms[middle + 1] : Balanced(function, terms, offsets, middle + 1, high);
    return Call(offsets[middle], function, {left, right}, false);
  }

  template <typename Operand>
  Expr* Logic(std::string_view symbol, const Operand& operand) {
    std::vector<Expr*> terms = {operand()};
    std::vector<size_t> offsets;
    while (!failed_ && Next(symbol)) {
      offsets.push_back(Advance().offset);
      terms.push_back(operand());
    }
    if (terms.size() == 1) return terms.front();
    return Balanced(OperatorFunction(symbol), terms, offsets, 0, offsets.size() - 1);
  }

  Expr* Or() {
    return Logic("||", [this] { return And(); });
  }
  Expr* And() {
    return Logic("&&", [this] { return Relation(); });
  }

  std::string RelationFunction() const {
    if (Peek().kind == TokenKind::kIn) return "@in";
    for (const std::string_view symbol : {"<", "<=", ">=", ">", "==", "!="})
      if (Next(symbol)) return OperatorFunction(symbol);
    return "";
  }

  Expr* Relation() {
    Expr* left = Sum();
    for (std::string function = RelationFunction(); !failed_ && !function.empty();
         function = RelationFunction()) {
      const size_t offset = Advance().offset;
      Expr* const right = Sum();
      left = Call(offset, function, {left, right});
    }
    return left;
  }

  Expr* Sum() {
    Expr* left = Product();
    while (!failed_ && (Next("+") || Next("-"))) {
      const Token& symbol = Advance();
      Expr* const right = Product();
      left = Call(symbol.offset, OperatorFunction(symbol.text), {left, right});
    }
    return left;
  }

  Expr* Product() {
    Expr* left = Unary();
    while (!failed_ && (Next("*") || Next("/") || Next("%"))) {
      const Token& symbol = Advance();
      Expr* const right = Unary();
      left = Call(symbol.offset, OperatorFunction(symbol.text), {left, right});
    }
    return left;
  }

  Expr* Unary() {
    const bool number = Peek(1).kind == TokenKind::kInt || Peek(1).kind == TokenKind::kFloat;
    // A '-' before a number is part of it.
    if (Next("!")) return Repeated("!", "!_");
    if (Next("-") && !number) return Repeated("-", "-_");
    return Member();
  }

  Expr* Repeated(std::string_view symbol, const std::string& function) {
    const size_t offset = Peek().offset;
    size_t count = 0;
    while (Take(symbol)) ++count;
    Expr* const operand = Member();
    return count % 2 == 0 ? operand : Call(offset, function, {operand}, false);
  }

  Expr* Member() {
    Expr* operand = Primary();
    while (!failed_) {
      if (Next(".")) {
        operand = Selected(operand);
      } else if (Next("[")) {
        const size_t offset = Advance().offset;
        const bool optional = Take("?");
        Expr* const index = Expression();
        Expect("]");
        operand = Call(offset, optional ? "_[?_]" : "_[_]", {operand, index});
      } else if (Next("{") && IsQualifiedName(operand)) {
        Fail(Peek().offset, "messages cannot be made: only lists and maps have literals");
      } else {
        return operand;
      }
    }
    return operand;
  }

  static bool IsQualifiedName(const Expr* expr) {
    while (expr->kind == Expr::Kind::kSelect) expr = expr->args[0];
    return expr->kind == Expr::Kind::kIdent;
  }

  Expr* Selected(Expr* operand) {
    const size_t dot = Advance().offset;
    const bool optional = Take("?");
    const Token name = Peek();
    const bool escaped = name.kind == TokenKind::kEscapedIdentifier;
    if (!escaped && name.kind != TokenKind::kIdentifier) {
      Mismatch(optional ? "{IDENTIFIER, ESC_IDENTIFIER}" : "IDENTIFIER");
      return operand;
    }
    Advance();
    std::string field(escaped ? name.text.substr(1, name.text.size() - 2) : name.text);
    if (optional)
      return Call(dot, "_?._", {operand, Constant(name.offset, Value::String(std::move(field)))});
    if (!escaped && Next("(")) {
      const size_t open = Advance().offset;
      return Macro({std::move(field), operand, Arguments(), open});
    }
    Expr* const select = tree_.New(Expr::Kind::kSelect, dot);
    select->name = std::move(field);
    select->args = {operand};
    return Finish(select, true);
  }

  // Past the closing parenthesis.
  std::vector<Expr*> Arguments() {
    std::vector<Expr*> args;
    if (!Take(")")) {
      do args.push_back(Expression());
      while (Take(","));
      Expect(")");
    }
    return args;
  }

  Expr* Macro(MacroCall call) {
    if (failed_) return Missing();
    const size_t before = issues_.size();
    if (Expr* const expanded = ExpandMacro(call, tree_, issues_)) return expanded;
    if (issues_.size() > before) {
      failed_ = true;
      return Missing();
    }
    if (call.target != nullptr) call.args.insert(call.args.begin(), call.target);
    Expr* const made =
        Call(call.offset, std::move(call.function), std::move(call.args), call.target != nullptr);
    made->member = call.target != nullptr;
    return made;
  }

  Expr* Primary() {
    if (failed_) return Missing();
    const Token token = Peek();
    switch (token.kind) {
      case TokenKind::kIdentifier:
        return Name("");
      case TokenKind::kSymbol:
        return Bracketed(token);
      case TokenKind::kEnd:
      case TokenKind::kIn:
      case TokenKind::kEscapedIdentifier:
        Mismatch(kExpressionStart);
        return Missing();
      default:
        Advance();
        return Literal(token, "");
    }
  }

  Expr* Bracketed(const Token& token) {
    if (Take("(")) {
      Expr* const inner = Expression();
      Expect(")");
      return inner;
    }
    if (Take("[")) return ListLiteral(token.offset);
    if (Take("{")) return MapLiteral(token.offset);
    if (Next(".") && Peek(1).kind == TokenKind::kIdentifier) {
      Advance();
      return Name(".");
    }
    if (Next("-") && (Peek(1).kind == TokenKind::kInt || Peek(1).kind == TokenKind::kFloat)) {
      Advance();
      const Token number = Advance();
      return Literal({number.kind, token.offset, number.text}, "-");
    }
    Mismatch(kExpressionStart);
    return Missing();
  }

  Expr* Name(const std::string& dot) {
    const Token token = Advance();
    const std::string word(token.text);
    if (IsReserved(word)) {
      Fail(token.offset, "reserved identifier: " + word);
      return Missing();
    }
    if (Next("(")) {
      const size_t open = Advance().offset;
      return Macro({dot + word, nullptr, Arguments(), open});
    }
    Expr* const ident = tree_.New(Expr::Kind::kIdent, token.offset);
    ident->name = dot + word;
    return ident;
  }

  Expr* ListLiteral(size_t offset) {
    Expr* const list = tree_.New(Expr::Kind::kList, offset);
    while (!failed_ && !Next("]")) {
      list->optional.push_back(Take("?"));
      list->args.push_back(Expression());
      if (!Take(",")) break;
      if (Next(",")) Mismatch("']'");
    }
    Expect("]");
    return Finish(list, false);
  }

  Expr* MapLiteral(size_t offset) {
    Expr* const map = tree_.New(Expr::Kind::kMap, offset);
    while (!failed_ && !Next("}")) {
      map->optional.push_back(Take("?"));
      map->args.push_back(Expression());
      map->colons.push_back(Peek().offset);
      Expect(":");
      map->args.push_back(Expression());
      if (!Take(",")) break;
      if (Next(",")) Mismatch("'}'");
    }
    Expect("}");
    return Finish(map, false);
  }

  Expr* Literal(const Token& token, const std::string& sign) {
    Result<Value> value = ReadLiteral(token, sign);
    if (value) return Constant(token.offset, *std::move(value));
    Fail(token.offset, value.error().message);
    return Missing();
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  Tree& tree_;
  Issues& issues_;
  int depth_ = 0;
  bool failed_ = false;
};

}  // namespace

Expr* Parse(std::string_view text, Tree& tree, Issues& issues) {
  const size_t size = CodePoints(text);
  if (size > kMaxExpressionSize) {
    issues.ReportNowhere("expression code point size exceeds limit: size: " + std::to_string(size) +
                         ", limit " + std::to_string(kMaxExpressionSize));
    return tree.New(Expr::Kind::kError, 0);
  }
  return Parser(text, tree, issues).Run();
}

}  // namespace berth::cel
