// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/cel/environment.h"
#include "src/cel/value.h"

namespace berth::cel {

// "%s has %d".format([...]): %s, %d, %f, %e, %b, %x, %X and %o, with a precision ("%.3f") where one
// makes sense. %f groups thousands and %e writes a power of ten, as cel-go does for English.
//
// An error: a clause that is none, or an argument that is missing or of another kind.
Value FormatText(Budget& budget, const std::string& format, const List& args);

}  // namespace berth::cel
