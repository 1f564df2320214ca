// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/configz.h"

#include <utility>

#include "berth/config_value.h"
#include "src/config/write.h"

namespace berth::app {

void Configz::Set(const config::SchedulerConfiguration& configuration) {
  const ConfigValue document(
      ConfigValue::Map{{"componentconfig", config::ToDocument(config::WithoutSecrets(configuration),
                                                              config::ShownArgs::kAll)}});
  std::string json = document.ToJson();
  const base::MutexLock lock(mutex_);
  json_ = std::move(json);
}

std::string Configz::Json() const {
  const base::MutexLock lock(mutex_);
  return json_;
}

}  // namespace berth::app
