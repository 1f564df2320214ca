// SPDX-License-Identifier: Apache-2.0
#include "src/app/flags/flags_without_effect.h"

#include <array>

namespace berth::app {
namespace {

constexpr auto kFlags = std::to_array<std::string_view>({
    "contention-profiling",
    "disable-http2-serving",
    "http2-max-streams-per-connection",
    "log-flush-frequency",
    "log-json-info-buffer-size",
    "log-text-info-buffer-size",
    "permit-address-sharing",
});

}  // namespace

std::span<const std::string_view> FlagsWithoutEffect() { return kFlags; }

}  // namespace berth::app
