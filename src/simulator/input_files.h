// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/result.h"

namespace berth::simulator {

// What `kubectl -f` would read of these arguments: "-" is the standard input, a folder its files
// that end in .json, .yaml or .yml, by name, but not those of folders inside. Commas stand between
// several. Anything else is a file, whether it is there or not. Errors: "-" twice, a folder that
// has no such file or cannot be read.
//
// Thread safety: any thread.
Result<std::vector<std::string>> InputFiles(const std::vector<std::string>& lists);

// The text of one of them, as UTF-8 also where a byte order mark says UTF-16. Errors:
// base::ReadFile()'s.
Result<std::string> ReadInput(const std::string& file);

// What messages call one of them.
std::string InputName(const std::string& file);

}  // namespace berth::simulator
