// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/base/mutex.h"
#include "src/config/types.h"

namespace berth::app {

// The configuration in use, as /configz shows it: without keys, and with what the last reload
// changed.
//
// Thread safety: any thread.
class Configz {
 public:
  explicit Configz(const config::SchedulerConfiguration& configuration) { Set(configuration); }

  void Set(const config::SchedulerConfiguration& configuration);
  std::string Json() const;

 private:
  mutable base::Mutex mutex_;
  std::string json_ BERTH_GUARDED_BY(mutex_);
};

}  // namespace berth::app
