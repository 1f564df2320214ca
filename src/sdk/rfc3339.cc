// SPDX-License-Identifier: Apache-2.0
#include "berth/rfc3339.h"

#include <chrono>
#include <cstddef>

namespace berth {
namespace {

// Reads parts off the front of a text; each takes nothing where its part is not there.
class PartReader {
 public:
  explicit PartReader(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }

  bool Take(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // A number of so many digits that is no more than `most`, with `after` behind it unless that
  // is 0.
  bool TakeNumber(size_t digits, int most, char after, int& out) {
    if (rest_.size() < digits) return false;
    out = 0;
    for (const char c : rest_.substr(0, digits)) {
      if (c < '0' || c > '9') return false;
      out = out * 10 + (c - '0');
    }
    rest_.remove_prefix(digits);
    return out <= most && (after == 0 || Take(after));
  }

  // A fraction of a second, if there is one. False: a point without digits.
  bool TakeFraction(int32_t& nanos) {
    if (!Take('.') && !Take(',')) return true;
    const size_t before = rest_.size();
    int32_t unit = 100'000'000;
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; unit /= 10) {
      nanos += (rest_.front() - '0') * unit;
      rest_.remove_prefix(1);
    }
    return rest_.size() < before;
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::optional<Rfc3339Time> ParseRfc3339(std::string_view text) {
  PartReader parts(text);
  int year = 0;
  int month = 0;
  int day = 0;
  if (!parts.TakeNumber(4, 9999, '-', year) || !parts.TakeNumber(2, 12, '-', month) ||
      !parts.TakeNumber(2, 31, 'T', day)) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  int hour = 0;
  int minute = 0;
  int second = 0;
  Rfc3339Time time;
  const bool one_digit = parts.rest().size() > 1 && parts.rest()[1] == ':';
  if (!date.ok() || !parts.TakeNumber(one_digit ? 1 : 2, 23, ':', hour) ||
      !parts.TakeNumber(2, 59, ':', minute) || !parts.TakeNumber(2, 59, 0, second) ||
      !parts.TakeFraction(time.nanos)) {
    return std::nullopt;
  }
  if (!parts.Take('Z')) {
    const bool west = parts.Take('-');
    int hours = 0;
    int minutes = 0;
    if ((!west && !parts.Take('+')) || !parts.TakeNumber(2, 24, ':', hours) ||
        !parts.TakeNumber(2, 60, 0, minutes)) {
      return std::nullopt;
    }
    time.offset_minutes = static_cast<int16_t>((hours * 60 + minutes) * (west ? -1 : 1));
  }
  if (!parts.rest().empty()) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  time.seconds = ((days * 24 + hour) * 60 + minute - time.offset_minutes) * 60 + second;
  return time;
}

}  // namespace berth
