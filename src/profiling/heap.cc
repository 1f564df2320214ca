// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "src/base/file.h"
#include "src/profiling/profile.h"

// jemalloc's, in programs that are linked with it; null in others.
extern "C" [[gnu::weak]] int mallctl(const char* name, void* old_value, size_t* old_size,
                                     void* new_value, size_t new_size);

namespace berth::profiling {
namespace {

// A larger one has more stacks than a person can look at.
constexpr size_t kMostHeapBytes = size_t{64} << 20;
constexpr std::string_view kForm = "heap_v2/";

// Takes what stands at the front of `text`, after blanks; nullopt: there is no number.
template <typename T>
std::optional<T> TakeNumber(std::string_view& text, int base = 10) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

bool TakeText(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// The allocations that the sampled ones stand for: one of `bytes` / `count` is sampled with the
// probability 1 - e^(-size / rate).
std::vector<int64_t> Scaled(int64_t count, int64_t bytes, int64_t rate) {
  if (count == 0 || rate <= 1) return {count, bytes};
  const double size = static_cast<double>(bytes) / static_cast<double>(count);
  const double scale = 1 / -std::expm1(-size / static_cast<double>(rate));
  return {std::llround(static_cast<double>(count) * scale),
          std::llround(static_cast<double>(bytes) * scale)};
}

}  // namespace

Result<std::string> ConvertHeapProfile(std::string_view jemalloc) {
  std::string_view rest = jemalloc;
  std::string_view head = TakeLine(rest);
  if (!TakeText(head, kForm)) return Fail("a heap profile that does not begin with heap_v2");
  const auto rate = TakeNumber<int64_t>(head);
  if (!rate) return Fail("a heap profile without a rate of samples");
  Profile profile({{"inuse_objects", "count"}, {"inuse_space", "bytes"}}, *rate);
  Stack stack;
  while (!rest.empty()) {
    std::string_view line = TakeLine(rest);
    if (line.starts_with("MAPPED_LIBRARIES")) break;
    if (TakeText(line, "@")) {
      stack.clear();
      while (const auto address = TakeNumber<uintptr_t>(line, 16)) stack.push_back(*address);
    } else if (TakeText(line, "  t*:") && !stack.empty()) {
      const auto count = TakeNumber<int64_t>(line);
      const bool two = count && TakeText(line, ":");
      const auto bytes = two ? TakeNumber<int64_t>(line) : std::nullopt;
      if (!bytes) return Fail("a heap profile with a stack that has no count and size");
      profile.Add(stack, Scaled(*count, *bytes, *rate));
    }
  }
  return profile.Serialize();
}

Result<std::string> HeapProfile() {
  bool on = false;
  size_t size = sizeof on;
  if (mallctl == nullptr || mallctl("opt.prof", &on, &size, nullptr, 0) != 0 || !on) {
    return Fail("heap profiling is off: start with MALLOC_CONF=prof:true in the environment");
  }
  std::error_code error;
  std::string file = (std::filesystem::temp_directory_path(error) / "berth-heap-XXXXXX").string();
  const int fd = error ? -1 : mkstemp(file.data());
  if (fd < 0) return Fail("no file for the heap profile can be made in " + file);
  close(fd);
  const char* name = file.c_str();
  const int failure =
      mallctl("prof.dump", nullptr, nullptr, static_cast<void*>(&name), sizeof name);
  auto text = base::ReadFile(file, kMostHeapBytes);
  std::filesystem::remove(file, error);
  if (failure != 0) return Fail("the allocator cannot write its heap profile to " + file);
  if (!text) return Fail(text.error());
  return ConvertHeapProfile(*text);
}

}  // namespace berth::profiling
