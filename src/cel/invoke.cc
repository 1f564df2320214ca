// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "src/cel/machine.h"

namespace berth::cel {
namespace {

bool Fits(const Overload& overload, std::span<const Value> args) {
  if (overload.params.size() != args.size()) return false;
  for (size_t i = 0; i < args.size(); ++i)
    if (!FitsAtRunTime(*overload.params[i], args[i])) return false;
  return true;
}

}  // namespace

Value Invoke(const CallSite& site, Budget& budget, std::span<Value> args) {
  const Function& function = *site.function;
  if (site.pattern != nullptr)
    return args[0].kind() == Kind::kString
               ? ApplyPattern(*site.pattern, function.name, args, budget)
               : NoSuchOverload();
  if (function.dispatch == Dispatch::kUnguarded)
    return (site.overload != nullptr ? *site.overload : *function.overloads.front())
        .implement(budget, args);
  if (site.overload != nullptr) {
    if (Fits(*site.overload, args)) return site.overload->implement(budget, args);
  } else {
    for (const auto& overload : function.overloads)
      if (Fits(*overload, args)) return overload->implement(budget, args);
  }
  std::string types;
  for (const Value& arg : args) types += (types.empty() ? "" : ", ") + std::string(TypeNameOf(arg));
  return Value::Error("no such overload: " + function.name + "(" + types + ")");
}

}  // namespace berth::cel
