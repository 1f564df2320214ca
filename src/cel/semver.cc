// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "src/cel/environment.h"
#include "src/cel/go_text.h"
#include "src/cel/kubernetes_values.h"

namespace berth::cel {
namespace {

using Version = SemverValue::Version;

bool IsDigits(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool IsIdentifier(std::string_view text) {
  return text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789") ==
         std::string_view::npos;
}

bool HasLeadingZero(std::string_view text) { return text.size() > 1 && text.front() == '0'; }

Result<uint64_t> Number(std::string_view text, const char* lower, const char* upper) {
  if (!IsDigits(text))
    return Fail("Invalid character(s) found in " + std::string(lower) + " number " + GoQuote(text));
  if (HasLeadingZero(text))
    return Fail(std::string(upper) + " number must not contain leading zeroes " + GoQuote(text));
  if (const auto number = ParseUint(text)) return *number;
  return Fail("strconv.ParseUint: parsing " + GoQuote(text) +
              (text.empty() ? ": invalid syntax" : ": value out of range"));
}

std::vector<std::string_view> SplitDots(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t dot = text.find('.');
    parts.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

// Takes what follows `mark` off the end of `text`.
std::optional<std::string_view> TakeAfter(std::string_view& text, char mark) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view after = text.substr(at + 1);
  text = text.substr(0, at);
  return after;
}

Result<void> ReadPreRelease(std::string_view text, Version& version) {
  for (const std::string_view part : SplitDots(text)) {
    if (part.empty()) return Fail("Prerelease is empty");
    if (IsDigits(part)) {
      if (HasLeadingZero(part))
        return Fail("Numeric PreRelease version must not contain leading zeroes " + GoQuote(part));
      if (!ParseUint(part))
        return Fail("strconv.ParseUint: parsing " + GoQuote(part) + ": value out of range");
    } else if (!IsIdentifier(part)) {
      return Fail("Invalid character(s) found in prerelease " + GoQuote(part));
    }
    version.pre_release.emplace_back(part);
  }
  return {};
}

Result<void> ReadBuild(std::string_view text, Version& version) {
  for (const std::string_view part : SplitDots(text)) {
    if (part.empty()) return Fail("Build meta data is empty");
    if (!IsIdentifier(part))
      return Fail("Invalid character(s) found in build meta data " + GoQuote(part));
    version.build.emplace_back(part);
  }
  return {};
}

int Sign(bool less, bool greater) { return less ? -1 : greater ? 1 : 0; }

int OrderOfParts(const std::string& a, const std::string& b) {
  const bool number_a = IsDigits(a);
  const bool number_b = IsDigits(b);
  if (number_a != number_b) return number_a ? -1 : 1;
  if (number_a && a.size() != b.size()) return Sign(a.size() < b.size(), true);
  return Sign(a<b, a> b);
}

// "v1.2" as "1.2.0", "1.02.3" as "1.2.3".
Result<Version> Tolerant(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  std::vector<std::string> parts;
  for (int i = 0; i < 2; ++i) {
    const size_t dot = text.find('.');
    if (dot == std::string_view::npos) break;
    parts.emplace_back(text.substr(0, dot));
    text.remove_prefix(dot + 1);
  }
  parts.emplace_back(text);
  for (std::string& part : parts) {
    if (part.size() < 2) continue;
    part.erase(0, std::min(part.find_first_not_of('0'), part.size()));
    if (part.empty() || part.front() < '0' || part.front() > '9') part.insert(0, "0");
  }
  if (parts.size() < 3 && parts.back().find_first_of("+-") != std::string::npos)
    return Fail("short version cannot contain PreRelease/Build meta data");
  while (parts.size() < 3) parts.emplace_back("0");
  return SemverValue::Parse(parts[0] + "." + parts[1] + "." + parts[2]);
}

Result<Version> Read(std::span<const Value> args) {
  const bool tolerant = args.size() == 2 && args[1].boolean();
  return tolerant ? Tolerant(args[0].text()) : SemverValue::Parse(args[0].text());
}

Value VersionValue(Result<Version> version) {
  if (!version) return Value::Error(version.error().message);
  return Value::Of(
      std::shared_ptr<const Extension>(std::make_shared<SemverValue>(*std::move(version))));
}

Value ToSemver(Budget&, std::span<Value> args) { return VersionValue(Read(args)); }
Value IsSemver(Budget&, std::span<Value> args) { return Value::Bool(Read(args).has_value()); }

const Version& VersionAt(std::span<const Value> args, size_t i = 0) {
  return As<SemverValue>(args[i])->version();
}

template <uint64_t Version::* part>
Value PartOf(Budget&, std::span<Value> args) {
  return Value::Int(static_cast<int64_t>(VersionAt(args).*part));
}

int OrderOf(std::span<const Value> args) {
  return SemverValue::Order(VersionAt(args), VersionAt(args, 1));
}
Value IsLater(Budget&, std::span<Value> args) { return Value::Bool(OrderOf(args) > 0); }
Value IsEarlier(Budget&, std::span<Value> args) { return Value::Bool(OrderOf(args) < 0); }
Value CompareVersions(Budget&, std::span<Value> args) { return Value::Int(OrderOf(args)); }

}  // namespace

Result<Version> SemverValue::Parse(std::string_view text) {
  if (text.empty()) return Fail("Version string empty");
  const size_t first = text.find('.');
  const size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) return Fail("No Major.Minor.Patch elements found");
  Version version;
  const Result<uint64_t> major = Number(text.substr(0, first), "major", "Major");
  if (!major) return Fail(major.error());
  const Result<uint64_t> minor =
      Number(text.substr(first + 1, second - first - 1), "minor", "Minor");
  if (!minor) return Fail(minor.error());
  std::string_view rest = text.substr(second + 1);
  const std::optional<std::string_view> build = TakeAfter(rest, '+');
  const std::optional<std::string_view> pre_release = TakeAfter(rest, '-');
  const Result<uint64_t> patch = Number(rest, "patch", "Patch");
  if (!patch) return Fail(patch.error());
  version.major = *major;
  version.minor = *minor;
  version.patch = *patch;
  if (pre_release)
    if (Result<void> read = ReadPreRelease(*pre_release, version); !read) return Fail(read.error());
  if (build)
    if (Result<void> read = ReadBuild(*build, version); !read) return Fail(read.error());
  return version;
}

int SemverValue::Order(const Version& a, const Version& b) {
  if (a.major != b.major) return Sign(a.major < b.major, true);
  if (a.minor != b.minor) return Sign(a.minor < b.minor, true);
  if (a.patch != b.patch) return Sign(a.patch < b.patch, true);
  // Without a pre-release it is the release itself.
  if (a.pre_release.empty() || b.pre_release.empty())
    return Sign(!a.pre_release.empty() && b.pre_release.empty(),
                a.pre_release.empty() && !b.pre_release.empty());
  const size_t common = std::min(a.pre_release.size(), b.pre_release.size());
  for (size_t i = 0; i < common; ++i)
    if (const int order = OrderOfParts(a.pre_release[i], b.pre_release[i])) return order;
  return Sign(a.pre_release.size() < b.pre_release.size(),
              a.pre_release.size() > b.pre_release.size());
}

Value SemverValue::Equal(const Value& other) const {
  const auto* const semver = As<SemverValue>(other);
  if (semver == nullptr) return OrNoSuchOverload(other);
  return Value::Bool(Order(version_, semver->version_) == 0);
}

std::string SemverValue::ToString() const {
  std::string text = std::to_string(version_.major) + "." + std::to_string(version_.minor) + "." +
                     std::to_string(version_.patch);
  const auto append = [&](char mark, const std::vector<std::string>& parts) {
    for (size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? mark : '.') + parts[i];
  };
  append('-', version_.pre_release);
  append('+', version_.build);
  return text;
}

Value SemverOf(std::string_view text) { return VersionValue(SemverValue::Parse(text)); }

void AddSemver(Environment& environment) {
#define SEMVER "kubernetes.Semver"
  static constexpr FunctionRow kRows[] = {
      {"semver", "string_to_semver", "(string) " SEMVER, ToSemver, Cost::kFirst},
      {"semver", "string_bool_to_semver", "(string, bool) " SEMVER, ToSemver, Cost::kFirst},
      {"isSemver", "is_semver_string", "(string) bool", IsSemver, Cost::kFirst},
      {"isSemver", "is_semver_string_bool", "(string, bool) bool", IsSemver, Cost::kFirst},
      {"isGreaterThan", "semver_is_greater_than", SEMVER ".(" SEMVER ") bool", IsLater},
      {"isLessThan", "semver_is_less_than", SEMVER ".(" SEMVER ") bool", IsEarlier},
      {"compareTo", "semver_compare_to", SEMVER ".(" SEMVER ") int", CompareVersions},
      {"major", "semver_major", SEMVER ".() int", PartOf<&Version::major>},
      {"minor", "semver_minor", SEMVER ".() int", PartOf<&Version::minor>},
      {"patch", "semver_patch", SEMVER ".() int", PartOf<&Version::patch>},
  };
#undef SEMVER
  environment.Add(kRows);
  environment.SetCost("semver", Cost::kFirst);
  environment.SetCost("isSemver", Cost::kFirst);
}

}  // namespace berth::cel
