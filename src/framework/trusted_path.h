// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth::framework {

// Whether only root and this process's user can change what stands at `path`, or put
// something else there: each file, folder and link on the way, links followed, belongs to one of
// the two, and neither its group nor others may write to it. Parents whose sticky bit keeps entries
// with their owners (/tmp) are trusted too. Errors: what is not so, of which file or folder, and
// what to do; the path leads nowhere.
//
// `like` is a path that is trusted already, "" for none: who may change what stands there, by owner
// or as a group, may change what stands at `path`, too. Where it leads nowhere, it is as "".
//
// Thread safety: any thread.
Result<void> CheckTrusted(const std::string& path, std::string_view like = "");

}  // namespace berth::framework
