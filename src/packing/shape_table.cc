// SPDX-License-Identifier: Apache-2.0
#include "src/packing/shape_table.h"

#include <algorithm>
#include <tuple>

#include "absl/hash/hash.h"

namespace berth::packing {
namespace {

constexpr std::string_view kFixedNames[kFirstScalar] = {"cpu", "memory", "ephemeral-storage"};

bool AsksForNothing(const Resources& requests) {
  return requests.milli_cpu <= 0 && requests.memory <= 0 && requests.ephemeral_storage <= 0 &&
         requests.scalars.empty();
}

auto FixedAmounts(const Resources& requests) {
  return std::tie(requests.milli_cpu, requests.memory, requests.ephemeral_storage);
}

}  // namespace

size_t ShapeTable::Hash::operator()(const Resources& requests) const {
  return absl::HashOf(requests.milli_cpu, requests.memory, requests.ephemeral_storage,
                      requests.scalars);
}

std::optional<ShapeId> ShapeTable::Intern(const Resources& requests, const ResourceNames& names) {
  const auto is_zero = [](const auto& scalar) { return scalar.second <= 0; };
  const Resources* shape = &requests;
  Resources without_zeros;
  if (std::ranges::any_of(requests.scalars, is_zero)) {
    without_zeros = requests;
    std::erase_if(without_zeros.scalars, is_zero);
    shape = &without_zeros;
  }
  if (AsksForNothing(*shape)) return std::nullopt;
  const auto [known, added] = ids_.try_emplace(*shape, static_cast<ShapeId>(shapes_.size()));
  if (added) {
    shapes_.push_back(*shape);
    for (const auto& [id, amount] : shape->scalars) names_.try_emplace(id, names.Name(id));
  }
  return known->second;
}

std::string_view ShapeTable::NameOf(ResourceId id) const {
  return id < kFirstScalar ? kFixedNames[id] : names_.at(id);
}

std::vector<ShapeId> ShapeTable::MostFrequent(const ShapeCounts& counts, size_t most) const {
  std::vector<std::pair<ShapeId, uint64_t>> by_count(counts.begin(), counts.end());
  uint64_t pods = 0;
  for (const auto& [shape, count] : by_count) pods += count;
  const size_t kept = std::min(most, by_count.size());
  const auto end = by_count.begin() + static_cast<std::ptrdiff_t>(kept);
  std::partial_sort(by_count.begin(), end, by_count.end(), [this](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : IsLarger(a.first, b.first);
  });
  std::vector<ShapeId> chosen;
  uint64_t covered = 0;
  for (auto it = by_count.begin(); it != end && covered * 10 < pods * 9; ++it) {
    chosen.push_back(it->first);
    covered += it->second;
  }
  return chosen;
}

bool ShapeTable::IsLarger(ShapeId a, ShapeId b) const {
  const Resources& first = shapes_[a];
  const Resources& second = shapes_[b];
  if (FixedAmounts(first) != FixedAmounts(second)) {
    return FixedAmounts(first) > FixedAmounts(second);
  }
  return NamedScalars(first) > NamedScalars(second);
}

ShapeTable::Named ShapeTable::NamedScalars(const Resources& requests) const {
  Named named;
  for (const auto& [id, amount] : requests.scalars) named.emplace_back(NameOf(id), amount);
  std::ranges::sort(named);
  return named;
}

}  // namespace berth::packing
