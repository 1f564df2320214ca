// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/in_tree/handle.h"

namespace berth::plugins {

// Evictions under way, by the pod they make room for.
//
// All victims but the last are evicted at once, the last when they are gone or going: so a pod that
// sees the last one going knows that the others were asked to. When an eviction fails the rest is
// left alone, and the pod is tried again at once: no deletion may come that would wake it. A pod
// that is tried meanwhile and preempts again starts over: answers to what it asked for before are
// told as events, but count no more.
//
// Thread safety: the scheduling thread.
class Evictions {
 public:
  explicit Evictions(Handle& handle);

  // Evicts the victims, which are not being deleted yet, from the node.
  void Start(const PodInfo& preemptor, std::string_view node_name,
             std::vector<std::shared_ptr<const api::Pod>> victims);
  // Whether the pod should go on waiting: not all of its victims are known to be going.
  bool Running(const api::Pod& preemptor) const;

 private:
  struct Run {
    uint64_t id = 0;
    std::string preemptor_key;
    Time started;
    std::string node_name;
    std::vector<std::shared_ptr<const api::Pod>> victims;
    size_t unanswered = 0;
    bool last_asked = false;
    bool failed = false;
    // The last victim only gave up a place it did not have yet: no deletion will be seen.
    bool last_in_memory = false;
  };
  using Runs = std::unordered_map<std::string, Run>;

  void Evict(const std::string& preemptor_uid, Run& run,
             const std::shared_ptr<const api::Pod>& victim);
  // What an answer is told by.
  struct Asked {
    uint64_t run = 0;
    std::string preemptor_uid;
    std::string node_name;
    std::shared_ptr<const api::Pod> victim;
  };
  // Where the victim had its place.
  enum class Place : uint8_t { kOnNode, kInMemory };
  void OnAnswer(const Asked& asked, Place place, const AsyncStatus& answer);
  // Returns the preemptor's key.
  std::string Finish(Runs::iterator run);
  void Advance(Runs::iterator run);
  // Whether the victim is still on the node and its deletion has not begun.
  bool StillOnNode(const api::Pod& victim, std::string_view node_name) const;

  Handle& handle_;
  Runs runs_;  // by preemptor UID
  uint64_t last_run_ = 0;
  // Answers that come after the plugin has gone find no receiver.
  std::shared_ptr<Evictions*> self_;
};

}  // namespace berth::plugins
