// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/base/json.h"

namespace berth::ui {

// A list of whole numbers.
template <typename Numbers>
void AppendJsonNumbers(const Numbers& numbers, std::string& out) {
  base::JsonList list(out);
  for (const auto number : numbers) base::AppendJson(number, list.Next());
  list.Close();
}

}  // namespace berth::ui
