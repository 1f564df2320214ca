// SPDX-License-Identifier: Apache-2.0
#include "src/fixes/tighten.h"

#include <utility>

#include "src/fixes/requests.h"

namespace berth::fixes {
namespace {

using explain::Change;

// An amount in a change, and the change with another.
int64_t AmountIn(const explain::LowerRequest& change) { return Amount(change.resource, change.to); }
int64_t NoChange(const explain::LowerRequest& change) {
  return Amount(change.resource, change.from);
}
int64_t AmountIn(const explain::RelaxSpread& change) { return change.to; }
int64_t NoChange(const explain::RelaxSpread& change) { return change.from; }
void SetAmount(explain::RelaxSpread& change, int64_t amount) {
  change.to = static_cast<int32_t>(amount);
}
void SetAmount(explain::LowerRequest& change, int64_t amount) {
  change.to = FromAmount(change.resource, amount, change.from);
}

template <typename T>
concept HasAmount = requires(const T& change) { AmountIn(change); };

template <typename T>
void TightenOne(size_t index, std::vector<Change>& changes, TrialCluster& trial) {
  // With `enough` it schedules, with `too_little` it does not.
  int64_t enough = AmountIn(std::get<T>(changes[index]));
  int64_t too_little = NoChange(std::get<T>(changes[index]));
  const int64_t step = enough < too_little ? 1 : -1;
  while (enough + step != too_little && enough != too_little) {
    const int64_t middle = enough + (too_little - enough) / 2;
    SetAmount(std::get<T>(changes[index]), middle);
    (MakeFrom(index, changes, trial) && trial.Schedules() ? enough : too_little) = middle;
  }
  SetAmount(std::get<T>(changes[index]), enough);
  MakeFrom(index, changes, trial);
}

}  // namespace

bool MakeFrom(size_t index, const std::vector<Change>& changes, TrialCluster& trial) {
  trial.TakeBackTo(index);
  for (size_t i = index; i < changes.size(); ++i) {
    if (!trial.Make(changes[i])) return false;
  }
  return true;
}

void Tighten(std::vector<Change>& changes, TrialCluster& trial) {
  for (size_t i = 0; i < changes.size(); ++i) {
    std::visit(
        [&]<typename T>(const T&) {
          if constexpr (HasAmount<T>) TightenOne<T>(i, changes, trial);
        },
        // A copy: the change itself is put in place of another meanwhile.
        Change(changes[i]));
  }
}

bool LeaveOut(std::vector<Change>& changes, TrialCluster& trial) {
  const size_t before = changes.size();
  for (size_t i = 0; i < changes.size();) {
    std::vector<Change> fewer = changes;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (MakeFrom(0, fewer, trial) && trial.Schedules()) {
      changes = std::move(fewer);
      // One that was needed beside this one may not be now.
      i = 0;
    } else {
      ++i;
    }
  }
  MakeFrom(0, changes, trial);
  return changes.size() < before;
}

}  // namespace berth::fixes
