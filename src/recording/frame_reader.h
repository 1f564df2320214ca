// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "berth/result.h"
#include "src/recording/frames.h"
#include "src/recording/known_objects.h"

namespace berth::recording {

// Takes the next frame off `bytes`; takes note of events in `known`. Errors: what no FrameWriter
// writes, also a type that is not known, an object that cannot be decoded, or one that is told of
// as known and is not.
Result<Frame> ReadFrame(std::string_view& bytes, Time start, KnownObjects& known);

}  // namespace berth::recording
