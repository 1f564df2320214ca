// SPDX-License-Identifier: Apache-2.0
#include "src/cache/claim_table.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "berth/api/meta.h"

namespace berth::cache {
namespace {

// The API server's versions of one kind are numbers that grow; nullopt: this is none.
std::optional<uint64_t> VersionOf(const api::ResourceClaim& claim) {
  const std::string& text = claim.metadata.resource_version;
  uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return version;
}

// Whether `a` is a version of the same object that came after `b`. False where they cannot be
// compared.
bool IsNewer(const api::ResourceClaim& a, const api::ResourceClaim& b) {
  if (a.metadata.uid != b.metadata.uid) return false;
  const auto version_a = VersionOf(a);
  const auto version_b = VersionOf(b);
  return version_a && version_b && *version_a > *version_b;
}

bool HoldsTheSame(const ClaimPtr& a, const ClaimPtr& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->status.allocation->devices.results == b->status.allocation->devices.results;
}

}  // namespace

void ClaimTable::DropAssumed(Known& known) {
  if (known.assumed == nullptr) return;
  known.assumed = nullptr;
  --assumed_;
}

void ClaimTable::Show(ClaimPtr claim) {
  Known& known = known_[claim->metadata.Key()];
  const ClaimPtr before = std::exchange(known.shown, std::move(claim));
  if (known.assumed != nullptr && !IsNewer(*known.assumed, *known.shown)) DropAssumed(known);
  const std::string& uid = known.shown->metadata.uid;
  if (before != nullptr && before->metadata.uid != uid) Recount(before->metadata.uid, nullptr);
  Recount(uid, known.latest());
}

void ClaimTable::Remove(const api::ResourceClaim& claim) {
  const auto known = known_.find(claim.metadata.Key());
  if (known == known_.end()) return;
  DropAssumed(known->second);
  const std::string uid = known->second.shown->metadata.uid;
  known_.erase(known);
  Recount(uid, nullptr);
}

const ClaimTable::Known* ClaimTable::FindKnown(std::string_view namespace_,
                                               std::string_view name) const {
  const auto known = known_.find(api::NamespacedKey(namespace_, name));
  return known == known_.end() ? nullptr : &known->second;
}

ClaimPtr ClaimTable::Find(std::string_view namespace_, std::string_view name) const {
  const Known* known = FindKnown(namespace_, name);
  return known == nullptr ? nullptr : known->latest();
}

ClaimPtr ClaimTable::FindExtendedResourceClaim(const api::Pod& pod) const {
  ClaimPtr found;
  shown_.ForEachBy<api::ResourceClaim>(pod.metadata.uid, [&](const api::ResourceClaim& claim) {
    if (found != nullptr) return;
    const std::string* stands =
        api::Find(claim.metadata.annotations, api::kExtendedResourceClaimAnnotation);
    if (stands == nullptr || *stands != "true") return;
    for (const api::OwnerReference& owner : claim.metadata.owner_references) {
      if (owner.controller && owner.uid == pod.metadata.uid && owner.name == pod.metadata.name) {
        found = Find(claim.metadata.namespace_, claim.metadata.name);
      }
    }
  });
  return found;
}

const api::AllocationResult* ClaimTable::FindPending(std::string_view uid) const {
  const auto pending = pending_.find(uid);
  return pending == pending_.end() ? nullptr : &*pending->second.claim->status.allocation;
}

Result<void> ClaimTable::AddPending(ClaimPtr claim, Existence existence) {
  const api::ObjectMeta& meta = claim->metadata;
  if (const auto pending = pending_.find(meta.uid); pending != pending_.end()) {
    ++pending->second.sharers;
    return {};
  }
  ClaimPtr latest;
  if (existence == Existence::kExists) {
    latest = Find(meta.namespace_, meta.name);
    if (latest == nullptr) {
      return Fail("look up assumed claim " + meta.Key() + ", UID=" + meta.uid +
                  ": could not find ResourceClaim \"" + meta.Key() + "\"");
    }
    if (latest->metadata.uid == meta.uid && latest->status.allocation) return {};
    if (latest->metadata.uid != meta.uid) latest = nullptr;
  }
  const std::string uid = meta.uid;
  pending_.emplace(uid, Pending{std::move(claim), 1});
  Recount(uid, latest);
  return {};
}

bool ClaimTable::RemovePending(std::string_view uid, Sharers sharers) {
  const auto pending = pending_.find(uid);
  if (pending == pending_.end()) return false;
  if (sharers == Sharers::kOne && --pending->second.sharers > 0) return false;
  const ClaimPtr claim = std::move(pending->second.claim);
  pending_.erase(pending);
  const api::ObjectMeta& meta = claim->metadata;
  ClaimPtr latest = Find(meta.namespace_, meta.name);
  if (latest != nullptr && latest->metadata.uid != meta.uid) latest = nullptr;
  Recount(meta.uid, latest);
  return true;
}

Result<void> ClaimTable::Assume(ClaimPtr claim) {
  const auto known = known_.find(claim->metadata.Key());
  if (known == known_.end()) {
    return Fail("could not find ResourceClaim \"" + claim->metadata.Key() + "\"");
  }
  const ClaimPtr& latest = known->second.latest();
  if (latest->metadata.resource_version == claim->metadata.resource_version) return {};
  if (!IsNewer(*claim, *latest)) {
    return Fail("\"" + claim->metadata.Key() +
                "\" is out of sync (stored: " + latest->metadata.resource_version +
                ", assume: " + claim->metadata.resource_version + ")");
  }
  if (known->second.assumed == nullptr) ++assumed_;
  known->second.assumed = std::move(claim);
  Recount(known->second.assumed->metadata.uid, known->second.assumed);
  return {};
}

bool ClaimTable::BeginRemoval(std::string_view uid, std::string_view consumer_uid) {
  return removals_.emplace(uid, consumer_uid).second;
}

void ClaimTable::EndRemoval(std::string_view uid, std::string_view consumer_uid) {
  removals_.erase({std::string(uid), std::string(consumer_uid)});
}

bool ClaimTable::IsBeingRemoved(std::string_view uid, std::string_view consumer_uid) const {
  if (removals_.empty()) return false;  // as nearly always: no keys are made
  return removals_.contains({std::string(uid), std::string(consumer_uid)});
}

void ClaimTable::Recount(const std::string& uid, const ClaimPtr& latest) {
  ClaimPtr after;
  if (latest != nullptr && latest->status.allocation) {
    after = latest;
  } else if (const auto pending = pending_.find(uid); pending != pending_.end()) {
    after = pending->second.claim;
  }
  const auto holder = holders_.find(uid);
  ClaimPtr before = holder == holders_.end() ? nullptr : holder->second;
  if (before == after) return;
  if (after == nullptr) {
    holders_.erase(holder);
  } else {
    holders_.insert_or_assign(uid, after);
  }
  if (HoldsTheSame(before, after)) return;
  while (steps_.size() >= std::max(kRememberedChanges, holders_.size())) {
    forgotten_ = steps_.front().generation;
    steps_.pop_front();
  }
  steps_.push_back({++generation_, std::move(before), std::move(after)});
}

bool ClaimTable::ChangedSince(uint64_t generation, const Change& visit) const {
  if (generation < forgotten_ || generation > generation_) return false;
  // Each step has a number of its own, without gaps.
  for (auto step = steps_.end() - static_cast<ptrdiff_t>(generation_ - generation);
       step != steps_.end(); ++step) {
    visit(step->before, step->after);
  }
  return true;
}

void ClaimTable::ForEachHolder(const std::function<void(const ClaimPtr&)>& visit) const {
  for (const auto& [uid, claim] : holders_) visit(claim);
}

}  // namespace berth::cache
