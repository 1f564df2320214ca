// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "tests/bench/engine/stories.h"

namespace berth::bench {

struct QuestionSizes {
  size_t nodes = 0;
  size_t pods = 0;  // on the nodes
  size_t questions = 0;
};

// What POST /debug/simulate answers in a second, as far as its own thread goes: small questions,
// each about one pod, read, judged and written; and one large one.
std::vector<Figure> Questions(const QuestionSizes& sizes);

}  // namespace berth::bench
