// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace berth::ui {

// A file of the page, as it stands in src/ui/page, or docs/reasons.md.
struct PageFile {
  std::string_view path;  // "/main.js"
  std::string_view type;  // "text/javascript; charset=utf-8"
  std::string_view text;
};

// All of them; the program holds them.
std::span<const PageFile> PageFiles();

}  // namespace berth::ui
