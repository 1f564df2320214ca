// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every field table, for the readers and writers of this room.
#include "src/api/tables_claims.h"
#include "src/api/tables_devices.h"
#include "src/api/tables_meta.h"
#include "src/api/tables_pod.h"
#include "src/api/tables_scheduling.h"
#include "src/api/tables_storage.h"
#include "src/api/tables_volume.h"
