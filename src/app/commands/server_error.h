// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/client/api_client.h"
#include "src/informers/informer_event.h"

namespace berth::app {

// What a server's refusal is called where kubectl has words for it: "The connection to the server
// 10.0.0.1:6443 was refused - did you specify the right host or port?", "Error from server
// (Forbidden): ...". `server` is an address, as a URL or host and port.
std::string InKubectlsWords(const client::ApiError& error, std::string_view server);

// Whether InKubectlsWords() made the message: it opens with what kubectl opens with, and no
// "Error: " belongs before it.
bool IsInKubectlsWords(std::string_view message);

// Whether the same request is in vain as long as nothing is changed: nothing listens there, the
// credentials are wrong, a right is missing.
bool IsFinal(const client::ApiError& error);

// "list nodes, list replicasets.apps".
std::string RightsToList(const std::vector<informers::Kind>& kinds);

}  // namespace berth::app
