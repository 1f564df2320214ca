// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/explain/change.h"

namespace berth::fixes {

// Each carries a change out on a copy of the pod; false: the pod has nothing that it could change.
bool ChangePod(const explain::LowerRequest& change, api::Pod& pod);
bool ChangePod(const explain::Tolerate& change, api::Pod& pod);
bool ChangePod(const explain::DropNodeSelector& change, api::Pod& pod);
bool ChangePod(const explain::DropNodeAffinity& change, api::Pod& pod);
bool ChangePod(const explain::WidenNodeAffinity& change, api::Pod& pod);
bool ChangePod(const explain::DropPodAffinity& change, api::Pod& pod);
bool ChangePod(const explain::RelaxSpread& change, api::Pod& pod);
bool ChangePod(const explain::SpreadAnyway& change, api::Pod& pod);
bool ChangePod(const explain::DropHostPort& change, api::Pod& pod);

inline constexpr std::string_view kDoNotSchedule = "DoNotSchedule";

}  // namespace berth::fixes
