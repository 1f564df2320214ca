// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/client/api_client.h"

namespace berth::app {

// Asks the API server once which release it is of, and tells the log where that is not the release
// whose contract is kept: a warning of an older one, with what that costs, a line about a newer
// one. Where it does not answer, or not with a version, nothing is logged but at --v=2. Returns at
// once; what it waits for may be closed meanwhile.
void TellServerRelease(client::ApiClient& api);

}  // namespace berth::app
