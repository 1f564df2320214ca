// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <variant>

#include "berth/result.h"
#include "berth/time.h"
#include "src/informers/informer_event.h"
#include "src/questions/mirror.h"
#include "src/questions/question_line.h"
#include "src/simulator/simulation.h"

namespace berth::questions {

using ClusterChange = std::variant<informers::InformerEvent, scheduler::PodAssignment>;
using ChangeSink = std::function<void(ClusterChange)>;

// What a mirror is made of and kept up by. Its methods are called on the line's thread and
// return at once.
class LiveCluster {
 public:
  virtual ~LiveCluster() = default;
  // A simulation without objects, as the scheduler is configured now.
  virtual Result<std::unique_ptr<simulator::Simulation>> MakeSimulation() = 0;
  // How many kinds Follow() reports.
  virtual size_t num_kinds() const = 0;
  // From now on `sink` sees each change, in the order that Mirror::Take() asks for: what informers
  // see, as informers::Informers::Follow() says, and what the scheduler decides, before that of the
  // pods that have a node by now. From any thread.
  virtual void Follow(ChangeSink sink) = 0;
  virtual void Unfollow() = 0;
};

struct DeskLimits {
  size_t small_waiting = 256;
  size_t large_waiting = 2;
  Duration small_time = std::chrono::seconds(2);
  Duration large_time = std::chrono::seconds(8);
  // The mirror is given up when nothing was asked for so long.
  Duration keep = std::chrono::minutes(5);
  // For the first lists.
  Duration sync = std::chrono::seconds(10);
  // Changes that wait to be taken in; beyond, the mirror is made again.
  size_t changes_waiting = 500'000;
};

// Answers questions about the running cluster on a line's thread, "berth-what-if", from a Mirror of
// it:
//
//   informers, scheduler --changes--> feed --+
//                                            v
//   Ask() --QuestionLine--> Mirror, then the question's own function --> reply
//
// The mirror is there from the first question on, until `keep` after the last. The thread has the
// lowest priority: where CPU time is short, scheduling goes first.
//
// Thread safety: any thread; one owner.
class Desk final : private LineHost {
 public:
  // How a question is answered, on the line's thread. It may judge in the mirror, and leaves it
  // as it was. It ends soon once `spent` says yes.
  using How = std::function<Reply(Mirror& mirror, const std::function<bool()>& spent)>;

  // Both must outlive this.
  Desk(LiveCluster& cluster, const Clock& clock, const DeskLimits& limits = {});
  ~Desk() override { Stop(); }
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  // Calls `reply` once: with the answer, on the questions' thread, or as Question says
  // of those that are refused. `gone` may be nullptr.
  void Ask(Size size, How how, std::shared_ptr<const std::atomic<bool>> gone,
           std::function<void(Reply)> reply);
  // As QuestionLine::Stop(). By the owner.
  void Stop() { line_.Stop(); }
  // The configuration has changed: the next question gets another mirror.
  void Renew() { stale_ = true; }

  // How many mirrors were made; for tests.
  size_t num_mirrors() const { return num_mirrors_; }

 private:
  struct Feed;

  // Makes the mirror be there and up to date.
  Result<void> Prepare() override;
  std::optional<Duration> Period() override;
  // Takes in changes that came meanwhile; gives the mirror up that was not asked for long.
  void Idle() override;
  void End() override { GiveUp(); }
  Result<void> Begin();
  void TakeChanges();
  void GiveUp();

  LiveCluster& cluster_;
  const Clock& clock_;
  const DeskLimits limits_;
  std::atomic<size_t> num_mirrors_ = 0;
  std::atomic<bool> stale_ = false;
  // The line's thread.
  std::unique_ptr<Mirror> mirror_;
  std::shared_ptr<Feed> feed_;
  Time asked_;  // the last question

  QuestionLine line_;
};

}  // namespace berth::questions
