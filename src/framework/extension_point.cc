// SPDX-License-Identifier: Apache-2.0
#include "src/framework/extension_point.h"

namespace berth::framework {

std::string_view ExtensionPointName(ExtensionPoint point) {
  switch (point) {
    case ExtensionPoint::kPreEnqueue:
      return "PreEnqueue";
    case ExtensionPoint::kQueueSort:
      return "QueueSort";
    case ExtensionPoint::kPreFilter:
      return "PreFilter";
    case ExtensionPoint::kFilter:
      return "Filter";
    case ExtensionPoint::kPreFilterExtensionAddPod:
      return "PreFilterExtensionAddPod";
    case ExtensionPoint::kPreFilterExtensionRemovePod:
      return "PreFilterExtensionRemovePod";
    case ExtensionPoint::kPostFilter:
      return "PostFilter";
    case ExtensionPoint::kPreScore:
      return "PreScore";
    case ExtensionPoint::kScore:
      return "Score";
    case ExtensionPoint::kScoreExtensionNormalize:
      return "ScoreExtensionNormalize";
    case ExtensionPoint::kReserve:
      return "Reserve";
    case ExtensionPoint::kUnreserve:
      return "Unreserve";
    case ExtensionPoint::kPermit:
      return "Permit";
    case ExtensionPoint::kPreBindPreFlight:
      return "PreBindPreFlight";
    case ExtensionPoint::kPreBind:
      return "PreBind";
    case ExtensionPoint::kBind:
      return "Bind";
    case ExtensionPoint::kPostBind:
      return "PostBind";
  }
  return "";
}

}  // namespace berth::framework
