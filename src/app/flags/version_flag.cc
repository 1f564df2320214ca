// SPDX-License-Identifier: Apache-2.0
#include "src/app/flags/version_flag.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "berth/field_errors.h"
#include "src/app/flags/flag_values.h"
#include "src/base/text.h"

namespace berth::app {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsZeroPrefixed(const std::string& part) {
  return part.size() > 1 && part[0] == '0' && std::ranges::all_of(part, IsDigit);
}

// The numbers at the front, "1.37.1" of "1.37.1-rc.1".
std::string_view NumbersOf(std::string_view text) {
  size_t end = 0;
  for (size_t at = 0; at < text.size() && IsDigit(text[at]); ++at) {
    while (at < text.size() && IsDigit(text[at])) ++at;
    end = at;
    if (at == text.size() || text[at] != '.') break;
  }
  return text.substr(0, end);
}

// Takes identifiers between dots, "rc.1", off the front of `rest`. Errors: one is empty.
Result<std::vector<std::string>> TakeIdentifiers(std::string_view& rest) {
  const auto ends = std::ranges::find_if_not(rest, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.';
  });
  const std::string taken(rest.begin(), ends);
  rest.remove_prefix(taken.size());
  std::vector<std::string> identifiers = absl::StrSplit(taken, '.');
  if (std::ranges::any_of(identifiers, &std::string::empty)) return Fail("an empty identifier");
  return identifiers;
}

// The parts of the pre-release in what follows the numbers, "-rc.1+build". Errors: it is not of
// that form.
Result<std::vector<std::string>> PreReleaseIn(std::string_view extra) {
  std::vector<std::string> pre_release;
  if (extra.starts_with('-')) {
    extra.remove_prefix(1);
    auto taken = TakeIdentifiers(extra);
    if (!taken) return taken;
    pre_release = *std::move(taken);
  }
  if (extra.starts_with('+')) {
    extra.remove_prefix(1);
    if (auto taken = TakeIdentifiers(extra); !taken) return taken;
  }
  if (!base::Trim(extra).empty()) return Fail("something follows");
  return pre_release;
}

// Errors: `version` cannot be reported in the place of ours, in kube-scheduler's words.
Result<void> CheckReported(const std::string& version) {
  const std::string numbers(NumbersOf(std::string_view(version).substr(1)));
  if (numbers.empty()) return Fail("could not parse " + Quoted(version) + " as version");
  std::vector<std::string> parts = absl::StrSplit(numbers, '.');
  if (parts.size() != 3) return Fail("illegal version string " + Quoted(version));
  if (std::ranges::none_of(parts, IsZeroPrefixed)) {
    const std::string extra = version.substr(1 + numbers.size());
    auto pre_release = PreReleaseIn(extra);
    if (!pre_release) {
      return Fail("could not parse pre-release/metadata (" + extra + ") in version " +
                  Quoted(version));
    }
    parts = *std::move(pre_release);
  }
  const auto wrong = std::ranges::find_if(parts, IsZeroPrefixed);
  if (wrong != parts.end()) {
    return Fail("illegal zero-prefixed version component " + Quoted(*wrong) + " in " +
                Quoted(version));
  }
  const std::string known(kKubernetesVersion);
  if ("v" + numbers == known) return {};
  return Fail("version " + Quoted(version) + " must match major/minor/patch of default version " +
              Quoted(known));
}

Result<void> ReadVersion(const std::string& value, VersionFlag& out) {
  if (value.starts_with('v')) {
    if (auto checked = CheckReported(value); !checked) return checked;
    out.reported = value;
    out.value = value;
    return {};
  }
  if (value == "raw") {
    out.value = value;
    return {};
  }
  const auto wanted = ReadFlagValue<bool>(value);
  if (!wanted) return Fail(wanted.error());
  out.value = WriteFlagValue(*wanted);
  return {};
}

}  // namespace

std::string VersionFlag::Text() const {
  const std::string berth(kVersion);
  if (value == "raw") {
    return "version.Info{GitVersion:\"" + reported + "\", BerthVersion:\"" + berth + "\"}\n";
  }
  return "Kubernetes " + reported + " (Berth " + berth + ")\n";
}

void AddVersion(FlagSet& flags, VersionFlag& out) {
  flags.AddSwitch(
      "version",
      "Print the version and exit; --version=raw prints more; --version=vX.Y.Z... sets the "
      "version that is reported, where its numbers are this one's.",
      [&out](const std::string& value) { return ReadVersion(value, out); },
      [&out] { return out.value; });
}

}  // namespace berth::app
