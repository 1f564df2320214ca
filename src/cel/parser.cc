// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/result.h"
#include "src/cel/go_text.h"
#include "src/cel/phases.h"
#include "src/cel/value.h"

namespace berth::cel {
namespace {

// How deep parentheses, lists and arguments nest, and how many operators, selections and calls lie
// on one way down. What walks the tree recursively relies on it.
constexpr int kMaxDepth = 250;
// In code points.
constexpr size_t kMaxExpressionSize = 100'000;
// The variable that a macro collects in; expressions cannot write its name.
inline constexpr char kAccumulator[] = "@result";

// A call as it was parsed.
struct MacroCall {
  std::string function;
  Expr* target = nullptr;  // nullptr: not a member call
  std::vector<Expr*> args;
  size_t offset = 0;  // of its parenthesis: what the nodes made here point at
};

constexpr char kUnused[] = "#unused";
constexpr char kSortInput[] = "@__sortBy_input__";

// What the macro of this name and number of arguments makes of the call: has, all, exists,
// exists_one, existsOne, map, filter, transformList, transformMap, transformMapEntry, cel.bind,
// optMap, optFlatMap and sortBy. nullptr: it is no macro's call, or a fault was reported.
Expr* ExpandMacro(const MacroCall& call, Tree& tree, Issues& issues);

class Expander {
 public:
  Expander(const MacroCall& call, Tree& tree, Issues& issues)
      : call_(call), tree_(tree), issues_(issues) {}

  Expr* Run() {
    const std::string& name = call_.function;
    const size_t count = call_.args.size();
    if (call_.target == nullptr) return name == "has" && count == 1 ? Has() : nullptr;
    if (name == "all" || name == "exists" || name == "exists_one")
      return count == 2 || count == 3 ? Quantifier() : nullptr;
    if (name == "existsOne" && count == 3) return Quantifier();
    if (name == "map" && (count == 2 || count == 3)) return MapList();
    if (name == "filter" && count == 2) return Filter();
    if (name == "transformList" && (count == 3 || count == 4)) return Transform(Kind::kList);
    if (name == "transformMap" && (count == 3 || count == 4)) return Transform(Kind::kMap);
    if (name == "transformMapEntry" && (count == 3 || count == 4))
      return Transform(Kind::kMapEntry);
    if (name == "bind" && count == 3) return Bind();
    if ((name == "optMap" || name == "optFlatMap") && count == 2) return OptionalMap();
    if (name == "sortBy" && count == 2) return SortBy();
    return nullptr;
  }

 private:
  enum class Kind : uint8_t { kList, kMap, kMapEntry };

  Expr* Fault(const Expr* at, std::string message) {
    issues_.Report(at->offset, std::move(message));
    return nullptr;
  }

  Expr* New(Expr::Kind kind) { return tree_.New(kind, call_.offset); }

  Expr* Ident(std::string name) {
    Expr* const ident = New(Expr::Kind::kIdent);
    ident->name = std::move(name);
    return ident;
  }
  Expr* Collected() { return Ident(kAccumulator); }

  Expr* Constant(Value value) {
    Expr* const constant = New(Expr::Kind::kConstant);
    constant->constant = std::move(value);
    return constant;
  }

  Expr* ListOf(std::vector<Expr*> items) {
    Expr* const list = New(Expr::Kind::kList);
    list->optional.assign(items.size(), false);
    list->args = std::move(items);
    return Raised(list);
  }

  Expr* Call(std::string function, std::vector<Expr*> args, bool member = false) {
    Expr* const call = New(Expr::Kind::kCall);
    call->name = std::move(function);
    call->args = std::move(args);
    call->member = member;
    return Raised(call);
  }

  static Expr* Raised(Expr* node) {
    for (const Expr* const arg : node->args) node->height = std::max(node->height, arg->height);
    return node;
  }

  Expr* Fold(Comprehension parts) {
    Expr* const fold = New(Expr::Kind::kComprehension);
    for (const Expr* const part :
         {parts.range, parts.init, parts.condition, parts.step, parts.result})
      fold->height = std::max(fold->height, part->height);
    fold->comprehension = std::make_unique<Comprehension>(std::move(parts));
    ++fold->height;
    return fold;
  }

  // `name` has the value `init` within `result`.
  Expr* Let(const std::string& name, Expr* init, Expr* result) {
    return Fold(
        {ListOf({}), kUnused, "", name, init, Constant(Value::Bool(false)), Ident(name), result});
  }

  // A copy with nodes of its own.
  Expr* Copy(const Expr* original) {
    Expr* const copy = tree_.New(original->kind, original->offset);
    copy->constant = original->constant;
    copy->name = original->name;
    copy->optional = original->optional;
    copy->colons = original->colons;
    copy->member = original->member;
    copy->test_only = original->test_only;
    copy->height = original->height;
    for (const Expr* const arg : original->args) copy->args.push_back(Copy(arg));
    if (original->comprehension != nullptr) {
      const Comprehension& from = *original->comprehension;
      copy->comprehension = std::make_unique<Comprehension>(
          Comprehension{Copy(from.range), from.variable, from.second_variable, from.accumulator,
                        Copy(from.init), Copy(from.condition), Copy(from.step), Copy(from.result)});
    }
    return copy;
  }

  Expr* Has() {
    Expr* const arg = call_.args[0];
    if (arg->kind != Expr::Kind::kSelect) return Fault(arg, "invalid argument to has() macro");
    Expr* const test = New(Expr::Kind::kSelect);
    test->name = arg->name;
    test->args = arg->args;
    test->test_only = true;
    test->height = arg->height;
    return test;
  }

  // The loop's variables, from the first arguments.
  struct Variables {
    std::string first;
    std::string second;
  };
  bool ReadVariables(bool two, const char* not_a_name, Variables& variables) {
    for (size_t i = 0; i < (two ? 2 : 1); ++i) {
      const Expr* const arg = call_.args[i];
      if (arg->kind != Expr::Kind::kIdent) return Fault(arg, not_a_name) != nullptr;
      (i == 0 ? variables.first : variables.second) = arg->name;
    }
    if (two && variables.first == variables.second)
      return Fault(call_.args[1], "duplicate variable name: " + variables.first) != nullptr;
    for (size_t i = 0; i < (two ? 2 : 1); ++i) {
      const std::string& name = call_.args[i]->name;
      if (name == kAccumulator || name == "__result__")
        return Fault(call_.args[i], "iteration variable overwrites accumulator variable") !=
               nullptr;
    }
    return true;
  }

  Expr* Loop(const Variables& variables, Expr* init, Expr* condition, Expr* step, Expr* result) {
    return Fold({call_.target, variables.first, variables.second, kAccumulator, init, condition,
                 step, result});
  }

  Expr* Quantifier() {
    const bool two = call_.args.size() == 3;
    Variables variables;
    if (!ReadVariables(two, "argument must be a simple name", variables)) return nullptr;
    Expr* const predicate = call_.args.back();
    if (call_.function == "all")
      return Loop(variables, Constant(Value::Bool(true)),
                  Call("@not_strictly_false", {Collected()}),
                  Call("_&&_", {Collected(), predicate}), Collected());
    if (call_.function == "exists")
      return Loop(variables, Constant(Value::Bool(false)),
                  Call("@not_strictly_false", {Call("!_", {Collected()})}),
                  Call("_||_", {Collected(), predicate}), Collected());
    Expr* const one_more = Call("_+_", {Collected(), Constant(Value::Int(1))});
    return Loop(variables, Constant(Value::Int(0)), Constant(Value::Bool(true)),
                Call("_?_:_", {predicate, one_more, Collected()}),
                Call("_==_", {Collected(), Constant(Value::Int(1))}));
  }

  // The step itself, or only where the filter says so.
  Expr* Filtered(Expr* filter, Expr* step) {
    return filter == nullptr ? step : Call("_?_:_", {filter, step, Collected()});
  }

  Expr* MapList() {
    Variables variables;
    if (!ReadVariables(false, "argument is not an identifier", variables)) return nullptr;
    Expr* const filter = call_.args.size() == 3 ? call_.args[1] : nullptr;
    Expr* const step = Call("_+_", {Collected(), ListOf({call_.args.back()})});
    return Loop(variables, ListOf({}), Constant(Value::Bool(true)), Filtered(filter, step),
                Collected());
  }

  Expr* Filter() {
    Variables variables;
    if (!ReadVariables(false, "argument is not an identifier", variables)) return nullptr;
    Expr* const step = Call("_+_", {Collected(), ListOf({call_.args[0]})});
    return Loop(variables, ListOf({}), Constant(Value::Bool(true)), Filtered(call_.args[1], step),
                Collected());
  }

  Expr* Transform(Kind kind) {
    Variables variables;
    if (!ReadVariables(true, "argument must be a simple name", variables)) return nullptr;
    Expr* const filter = call_.args.size() == 4 ? call_.args[2] : nullptr;
    Expr* const made = call_.args.back();
    Expr* step = nullptr;
    if (kind == Kind::kList) {
      step = Call("_+_", {Collected(), ListOf({made})});
    } else if (kind == Kind::kMap) {
      step = Call("cel.@mapInsert", {Collected(), Ident(variables.first), made});
    } else {
      step = Call("cel.@mapInsert", {Collected(), made});
    }
    Expr* const init = kind == Kind::kList ? ListOf({}) : New(Expr::Kind::kMap);
    return Loop(variables, init, Constant(Value::Bool(true)), Filtered(filter, step), Collected());
  }

  Expr* Bind() {
    if (call_.target->kind != Expr::Kind::kIdent || call_.target->name != "cel") return nullptr;
    const Expr* const name = call_.args[0];
    if (name->kind != Expr::Kind::kIdent)
      return Fault(name, "cel.bind() variable names must be simple identifiers");
    return Let(name->name, call_.args[1], call_.args[2]);
  }

  Expr* OptionalMap() {
    const Expr* const name = call_.args[0];
    if (name->kind != Expr::Kind::kIdent)
      return Fault(name, call_.function + "() variable name must be a simple identifier");
    // Chained, the copies would double with each link.
    if (tree_.size() > kMostNodes) return Fault(name, call_.function + "() is nested too often");
    Expr* const value = Call("value", {Copy(call_.target)}, true);
    Expr* made = Let(name->name, value, call_.args[1]);
    if (call_.function == "optMap") made = Call("optional.of", {made});
    return Call("_?_:_", {Call("hasValue", {call_.target}, true), made, Call("optional.none", {})});
  }

  Expr* SortBy() {
    const Expr::Kind kind = call_.target->kind;
    if (kind == Expr::Kind::kConstant || kind == Expr::Kind::kMap)
      return Fault(call_.target,
                   "sortBy can only be applied to a list, identifier, comprehension, call or "
                   "select expression");
    MacroCall keys = call_;
    keys.function = "map";
    keys.target = Ident(kSortInput);
    Expr* const made = ExpandMacro(keys, tree_, issues_);
    if (made == nullptr) return nullptr;
    return Let(kSortInput, call_.target,
               Call("@sortByAssociatedKeys", {Ident(kSortInput), made}, true));
  }

  static constexpr size_t kMostNodes = 200'000;

  const MacroCall& call_;
  Tree& tree_;
  Issues& issues_;
};

Expr* ExpandMacro(const MacroCall& call, Tree& tree, Issues& issues) {
  return Expander(call, tree, issues).Run();
}

constexpr char kBadEscape[] = "unable to unescape string";

bool IsCharacter(uint64_t rune) { return rune <= 0x10FFFF && !(rune >= 0xD800 && rune < 0xE000); }

char SimpleEscape(char c) {
  constexpr std::string_view kNames = "abfnrtv\\'\"`?";
  constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\'\"`?";
  const size_t at = kNames.find(c);
  return at == std::string_view::npos ? '\0' : kValues[at];
}

// All line ends are '\n' in what a literal stands for.
std::string NormalLines(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
      continue;
    }
    out += '\n';
    if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
  }
  return out;
}

struct Coded {
  size_t digits;
  int base;
  bool allowed_in_bytes;
};

// Of the character after a backslash: how its number is written; nullopt: it has none.
std::optional<Coded> CodedEscape(char c) {
  if (c == 'x' || c == 'X') return Coded{2, 16, true};
  if (c == 'u') return Coded{4, 16, false};
  if (c == 'U') return Coded{8, 16, false};
  if (c >= '0' && c <= '3') return Coded{3, 8, true};
  return std::nullopt;
}

// What a string or bytes literal stands for, its quotes, prefix r and escapes taken off (not the
// prefix b). In bytes \x and octal escapes are bytes; in strings they are code points.
//
// Errors: an escape that stands for no character.
Result<std::string> Unescape(std::string_view literal, bool is_bytes) {
  const std::string normal = NormalLines(literal);
  std::string_view rest = normal;
  const bool raw = !rest.empty() && (rest.front() | 0x20) == 'r';
  if (raw) rest.remove_prefix(1);
  const bool triple = rest.size() >= 6 && rest[1] == rest[0] && rest[2] == rest[0];
  const size_t quotes = triple ? 3 : 1;
  if (rest.size() < 2 * quotes) return Fail(kBadEscape);
  rest = rest.substr(quotes, rest.size() - 2 * quotes);
  if (raw || rest.find('\\') == std::string_view::npos) return std::string(rest);
  std::string text;
  while (!rest.empty()) {
    if (rest.front() != '\\') {
      text += rest.front();
      rest.remove_prefix(1);
      continue;
    }
    if (rest.size() < 2) return Fail(kBadEscape);
    const char c = rest[1];
    if (const char simple = SimpleEscape(c)) {
      text += simple;
      rest.remove_prefix(2);
      continue;
    }
    const std::optional<Coded> coded = CodedEscape(c);
    if (!coded || (is_bytes && !coded->allowed_in_bytes)) return Fail(kBadEscape);
    rest.remove_prefix(coded->base == 8 ? 1 : 2);
    const std::optional<uint64_t> rune = ParseUint(rest.substr(0, coded->digits), coded->base);
    if (!rune || rest.size() < coded->digits) return Fail(kBadEscape);
    rest.remove_prefix(coded->digits);
    if (is_bytes) {
      text += static_cast<char>(*rune);
    } else if (IsCharacter(*rune)) {
      AppendRune(text, static_cast<char32_t>(*rune));
    } else {
      return Fail("invalid unicode code point");
    }
  }
  return text;
}

Result<Value> ReadWhole(const Token& token, const std::string& sign) {
  const bool is_uint = token.kind == TokenKind::kUint;
  std::string_view digits = token.text;
  if (is_uint) digits.remove_suffix(1);
  const bool hexadecimal = digits.substr(0, 2) == "0x";
  if (hexadecimal) digits.remove_prefix(2);
  const int base = hexadecimal ? 16 : 10;
  if (is_uint) {
    if (const auto number = ParseUint(digits, base)) return Value::Uint(*number);
    return Fail("invalid uint literal");
  }
  if (const auto number = ParseInt(sign + std::string(digits), base)) return Value::Int(*number);
  return Fail("invalid int literal");
}

Result<Value> ReadQuoted(const Token& token) {
  const bool is_bytes = token.kind == TokenKind::kBytes;
  Result<std::string> text = Unescape(token.text.substr(is_bytes ? 1 : 0), is_bytes);
  if (!text) return Fail(text.error());
  return is_bytes ? Value::Bytes(*std::move(text)) : Value::String(*std::move(text));
}

// What a token of a literal stands for; `sign` is "-" or empty. Errors: a number that is too large,
// an escape that stands for no character.
Result<Value> ReadLiteral(const Token& token, const std::string& sign) {
  switch (token.kind) {
    case TokenKind::kTrue:
      return Value::Bool(true);
    case TokenKind::kFalse:
      return Value::Bool(false);
    case TokenKind::kNull:
      return Value();
    case TokenKind::kInt:
    case TokenKind::kUint:
      return ReadWhole(token, sign);
    case TokenKind::kFloat:
      if (const auto number = ParseDouble(sign + std::string(token.text)))
        return Value::Double(*number);
      return Fail("invalid double literal");
    default:
      return ReadQuoted(token);
  }
}

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
    // What follows may have more faults.
    if (issues_.size() > before) return Missing();
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
