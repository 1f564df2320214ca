// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/serving/http.h"

namespace berth::serving {

// The response to a request, compressed where the client takes gzip and there is enough of it for
// that to pay. A body that is still to be written is compressed once it is, on the thread that
// writes it. Thread safety: any thread.
Response Compressed(const Request& request, Response response);

}  // namespace berth::serving
