// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/in_tree/async.h"
#include "src/client/api_client.h"

namespace berth::binding {

// What Handle::WriteAssumed needs: one PATCH, which the API server refuses unless the object is
// still of the resourceVersion that it is given with. Never tried again once it may have been
// carried out. `done` is called on the executor's thread.
//
// Thread safety: the executor's thread.
void WriteAssumed(client::ApiClient& api, const api::PersistentVolume& volume,
                  Cancellation& cancellation, AsyncDone done);
void WriteAssumed(client::ApiClient& api, const api::PersistentVolumeClaim& claim,
                  Cancellation& cancellation, AsyncDone done);

}  // namespace berth::binding
