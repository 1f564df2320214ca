// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/loop_watch.h"

#include <algorithm>

#include "src/base/logging.h"

namespace berth::app {
namespace {

constexpr size_t kMostOfUid = 63;

bool IsUid(std::string_view text) {
  return !text.empty() && text.size() <= kMostOfUid && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

}  // namespace

void LoopWatch::Start() {
  executor_.PostAfter(kPeriod, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->Look();
    self->Start();
  });
}

std::optional<std::string> LoopWatch::Problem() const {
  const Duration silence = Silence();
  if (silence < kPatience) return std::nullopt;
  if (silence < kPatienceWithPod && !loop_.busy_pod().empty()) return std::nullopt;
  return Describe(silence);
}

std::string LoopWatch::Describe(Duration silence) const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(silence).count();
  const std::string plugin = loop_.busy_plugin();
  const std::string pod = loop_.busy_pod();
  return "the scheduling loop has not turned for " + std::to_string(seconds) + " s" +
         (plugin.empty() ? "" : ", in plugin " + plugin) +
         (pod.empty() ? "" : ", at the pod with UID " + pod);
}

std::string LoopWatch::Note(std::vector<std::string> inherited) const {
  std::vector<std::string>& uids = inherited;
  if (std::string pod = loop_.busy_pod(); IsUid(pod) && Silence() >= kLong) {
    std::erase(uids, pod);
    uids.push_back(std::move(pod));
  }
  std::string note;
  for (size_t i = uids.size() - std::min(uids.size(), kMostNoted); i < uids.size(); ++i) {
    note += (note.empty() ? "" : ",") + uids[i];
  }
  return note;
}

// Of a loop that is at a pod this tells long before it is a problem.
void LoopWatch::Look() {
  const Duration silence = Silence();
  const bool stuck = silence >= kPatience;
  if (stuck == logged_) return;
  logged_ = stuck;
  if (stuck) {
    base::LogError("The scheduling loop is stuck", {{"err", Describe(silence)},
                                                    {"plugin", loop_.busy_plugin()},
                                                    {"podUID", loop_.busy_pod()}});
  } else {
    base::LogInfo("The scheduling loop turns again");
  }
}

std::vector<std::string> ReadNote(std::string_view note) {
  std::vector<std::string> uids;
  while (!note.empty()) {
    const size_t end = std::min(note.find(','), note.size());
    if (IsUid(note.substr(0, end))) uids.emplace_back(note.substr(0, end));
    note.remove_prefix(std::min(end + 1, note.size()));
  }
  if (uids.size() > kMostNoted) {
    uids.erase(uids.begin(), uids.end() - static_cast<std::ptrdiff_t>(kMostNoted));
  }
  return uids;
}

}  // namespace berth::app
