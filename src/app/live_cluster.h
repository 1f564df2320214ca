// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "berth/result.h"
#include "berth/time.h"
#include "src/config/types.h"
#include "src/informers/informer_event.h"

namespace berth::app {

// How long is waited.
struct Patience {
  Duration time{};
  std::function<bool()> interrupted = nullptr;  // says yes: no longer
};

// Lists every kind that the daemon watches with these gates, and returns what the informers told up
// to the moment when all of them had synced. `context` is one of the kubeconfig; "": its current
// one. Only reads. Errors: no API server to be found, or not all lists came while there was
// `patience`.
Result<std::vector<informers::InformerEvent>> ReadLiveCluster(
    const config::ClientConnection& connection, const Features& features, uint64_t seed,
    const Patience& patience, const std::string& context = "");

}  // namespace berth::app
