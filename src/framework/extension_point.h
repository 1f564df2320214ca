// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace berth::framework {

// The extension points under the names that metrics and messages use.
enum class ExtensionPoint : uint8_t {
  kPreEnqueue,
  kQueueSort,
  kPreFilter,
  kFilter,
  kPreFilterExtensionAddPod,
  kPreFilterExtensionRemovePod,
  kPostFilter,
  kPreScore,
  kScore,
  kScoreExtensionNormalize,
  kReserve,
  kUnreserve,
  kPermit,
  kPreBindPreFlight,
  kPreBind,
  kBind,
  kPostBind,
};
inline constexpr int kNumExtensionPoints = static_cast<int>(ExtensionPoint::kPostBind) + 1;

std::string_view ExtensionPointName(ExtensionPoint point);

}  // namespace berth::framework
