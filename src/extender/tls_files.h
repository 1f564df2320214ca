// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/result.h"
#include "src/config/types.h"
#include "src/extender/http_client.h"

namespace berth::extender {

// Puts the extender's TLS configuration, files read, into `options`. enableHTTPS without a
// certificate authority means that the server is not checked, as kube-scheduler has it. Errors: a
// file that cannot be read, an authority for a server that is not to be checked.
Result<void> LoadTls(const config::Extender& extender, HttpOptions& options);

}  // namespace berth::extender
