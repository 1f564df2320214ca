// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/time.h"

namespace berth::shadow {

// How the node that the other scheduler bound a pod to compares with the one that Berth's engine
// chooses at that moment, with all that had been bound before.
enum class Agreement {
  kSameNode,
  kTie,              // another node, of the same score
  kLowerThanBerth,   // the other's node has the lower score
  kHigherThanBerth,  // Berth's node has the lower score: it looked at a part of the nodes only
  kRefusedByBerth,   // Berth's plugins reject the other's node
};
inline constexpr size_t kNumAgreements = 5;
// "same_node", ...
std::string_view NameOf(Agreement agreement);

// A pod for which Berth would have chosen another node.
struct Disagreement {
  std::string pod;  // "namespace/name"
  Agreement agreement = Agreement::kTie;
  std::string berth_node;  // "" where it finds none
  std::string other_node;
  std::optional<int64_t> berth_score;
  std::optional<int64_t> other_score;
  // Which plugins make the difference, or why a node is refused; never empty.
  std::string why;
};

// A pod that only one of the two has a node for.
struct OnlyOne {
  std::string pod;
  std::string node;
  std::string why;  // what Berth said, where it had none
};

// How long something took, counted in buckets of 9 % width: any number of times in 2 KiB.
class Durations {
 public:
  void Add(Duration duration);
  uint64_t count() const { return count_; }
  // What a share (0..1) of them did not exceed, rounded up to the bucket's end; zero without any.
  Duration Percentile(double share) const;

 private:
  static constexpr int kPerDoubling = 8;
  static constexpr size_t kBuckets = 8 * 32;  // from 1 us to over an hour

  std::array<uint64_t, kBuckets> buckets_{};
  uint64_t count_ = 0;
};

// The result of a comparison.
struct Summary {
  std::array<uint64_t, kNumAgreements> pods{};  // that the other bound, by Agreement
  // Sums of what the choice of each lacks to the best score of the moment.
  int64_t berth_gave_away = 0;
  int64_t other_gave_away = 0;
  // From the moment a pod was seen: until Berth had decided, and until the other's bind was seen.
  // Of pods that both placed.
  Durations berth_took;
  Durations other_took;
  uint64_t num_disagreements = 0;
  std::vector<Disagreement> disagreements;  // the first of them
  uint64_t num_only_other = 0;              // bound pods that Berth's own last attempt failed with
  std::vector<OnlyOne> only_other;          // the first of them
  std::vector<OnlyOne> only_berth;          // pending ones that the other has no node for, by name

  uint64_t compared() const;
};

// For people, a few lines and tables; and one line of JSON.
void AppendTable(const Summary& summary, std::string& out);
void AppendJson(const Summary& summary, std::string& out);

}  // namespace berth::shadow
