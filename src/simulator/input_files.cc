// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/input_files.h"

#include <absl/strings/str_split.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

#include "src/base/file.h"

namespace berth::simulator {
namespace {

constexpr std::string_view kStandardInput = "-";
// Dumps of large clusters are gigabytes.
constexpr size_t kMostInputBytes = size_t{16} << 30;

Result<void> AddFilesOfFolder(const std::string& folder, std::vector<std::string>& out) {
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  const size_t before = out.size();
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string ending = at->path().extension().string();
    if (ending != ".json" && ending != ".yaml" && ending != ".yml") continue;
    if (!at->is_directory(error)) out.push_back(at->path().string());
  }
  if (error) return Fail("open " + folder + ": " + error.message());
  if (out.size() == before)
    return Fail(folder + ": the folder has no file that ends in .json, .yaml or .yml");
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
  return {};
}

// Appends a code point as UTF-8.
void AppendRune(uint32_t rune, std::string& out) {
  const auto rest = [&](int shift) { out += static_cast<char>(0x80 | ((rune >> shift) & 0x3F)); };
  if (rune < 0x80) {
    out += static_cast<char>(rune);
  } else if (rune < 0x800) {
    out += static_cast<char>(0xC0 | (rune >> 6));
    rest(0);
  } else if (rune < 0x10000) {
    out += static_cast<char>(0xE0 | (rune >> 12));
    rest(6);
    rest(0);
  } else {
    out += static_cast<char>(0xF0 | (rune >> 18));
    rest(12);
    rest(6);
    rest(0);
  }
}

// As Windows' PowerShell writes files: UTF-16 after a byte order mark. What is no pair of
// surrogates becomes U+FFFD. Any other text stays as it is.
std::string ToUtf8(std::string&& text) {
  const bool little = text.starts_with("\xFF\xFE");
  if (!little && !text.starts_with("\xFE\xFF")) return std::move(text);
  const auto unit = [&](size_t at) {
    const auto first = static_cast<unsigned char>(text[at]);
    const auto second = static_cast<unsigned char>(text[at + 1]);
    return static_cast<uint32_t>(little ? second << 8 | first : first << 8 | second);
  };
  constexpr uint32_t kReplacement = 0xFFFD;
  std::string out;
  out.reserve(text.size() / 2);
  for (size_t at = 2; at < text.size(); at += 2) {
    uint32_t rune = at + 1 < text.size() ? unit(at) : kReplacement;
    if (rune >= 0xD800 && rune < 0xE000) {
      const uint32_t low = at + 3 < text.size() ? unit(at + 2) : 0;
      const bool pair = rune < 0xDC00 && low >= 0xDC00 && low < 0xE000;
      rune = pair ? 0x10000 + ((rune - 0xD800) << 10) + (low - 0xDC00) : kReplacement;
      if (pair) at += 2;
    }
    AppendRune(rune, out);
  }
  return out;
}

// What a list with commas names; one name where a file has it, commas and all.
std::vector<std::string> NamesOf(const std::string& argument) {
  std::error_code none;
  if (argument.find(',') == std::string::npos || std::filesystem::exists(argument, none))
    return {argument};
  return absl::StrSplit(argument, ',', absl::SkipEmpty());
}

}  // namespace

Result<std::vector<std::string>> InputFiles(const std::vector<std::string>& lists) {
  std::vector<std::string> arguments;
  for (const std::string& list : lists)
    std::ranges::move(NamesOf(list), std::back_inserter(arguments));
  if (std::count(arguments.begin(), arguments.end(), kStandardInput) > 1)
    return Fail("the standard input (-) can be read once only");
  std::vector<std::string> files;
  for (const std::string& argument : arguments) {
    std::error_code none;
    if (argument == kStandardInput || !std::filesystem::is_directory(argument, none)) {
      files.push_back(argument);
    } else if (auto added = AddFilesOfFolder(argument, files); !added) {
      return Fail(added.error());
    }
  }
  return files;
}

Result<std::string> ReadInput(const std::string& file) {
  auto text = file == kStandardInput ? base::ReadStandardInput(kMostInputBytes)
                                     : base::ReadFile(file, kMostInputBytes);
  if (!text) return text;
  return ToUtf8(*std::move(text));
}

std::string InputName(const std::string& file) {
  return file == kStandardInput ? "standard input" : file;
}

}  // namespace berth::simulator
