// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "berth/result.h"
#include "berth/time.h"
#include "src/base/inbox.h"
#include "src/base/mutex.h"
#include "src/base/thread.h"
#include "src/informers/informer_event.h"
#include "src/mirror/mirror.h"
#include "src/simulator/simulation.h"

namespace berth::mirror {

using Change = std::variant<informers::InformerEvent, scheduler::Decision>;
using ChangeSink = std::function<void(Change)>;

// What a mirror is made of and kept up by. Its methods are called on the questions' thread and
// return at once.
class LiveCluster {
 public:
  virtual ~LiveCluster() = default;
  // A simulation without objects, as the scheduler is configured now.
  virtual Result<std::unique_ptr<simulator::Simulation>> MakeSimulation() = 0;
  // How many kinds Follow() tells of.
  virtual size_t num_kinds() const = 0;
  // From now on `sink` sees each change, in the order that Mirror::Take() asks for: what informers
  // see, as informers::Informers::Follow() says, and what the scheduler decides, before that of the
  // pods that have a node by now. From any thread.
  virtual void Follow(ChangeSink sink) = 0;
  virtual void Unfollow() = 0;
};

// What a question came to: an HTTP status, and a text in a form that who asked knows.
struct Reply {
  int code = 200;
  std::string text;
};

enum class Size {
  kSmall,  // milliseconds, in the mirror itself
  kLarge,  // as long as the limit
};

struct QuestionLimits {
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

// Answers questions about the running cluster on a thread of its own, "berth-what-if", from a
// Mirror of it:
//
//   informers, scheduler --changes--> feed --+
//                                            v
//   Ask() --bounded queue--> Mirror, then the question's own function --> reply
//
// Thread and mirror are there from the first question on, the mirror until `keep` after the last.
// The thread has the lowest priority: where CPU time is short, scheduling goes first.
//
// Small questions go before large ones, and otherwise in the order in which they came. Each has a
// limit on its time.
//
// Thread safety: any thread; one owner.
class Questions {
 public:
  // How a question is answered, on the questions' thread. It may judge in the mirror, and leaves it
  // as it was. It ends soon once `spent` says yes.
  using How = std::function<Reply(Mirror& mirror, const std::function<bool()>& spent)>;

  // Both must outlive this.
  Questions(LiveCluster& cluster, const Clock& clock, const QuestionLimits& limits = {});
  ~Questions() { Stop(); }
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;

  // Calls `reply` once, on the questions' thread; at once, with code 429, where too many wait.
  // Code 503: there is no mirror. A question whose `gone` (may be nullptr) is true by the time of
  // its turn is answered with 504 without being asked.
  void Ask(Size size, How how, std::shared_ptr<const std::atomic<bool>> gone,
           std::function<void(Reply)> reply);
  // Ends the question under way, and the thread. Those that wait, and those that still come, are
  // answered with 503. By the owner.
  void Stop();
  // The configuration has changed: the next question gets another mirror.
  void Renew() { stale_ = true; }

  // How many mirrors were made, and whether there is one now; for tests.
  size_t num_mirrors() const { return num_mirrors_; }
  bool has_mirror() const { return has_mirror_; }

 private:
  struct Question {
    Size size = Size::kSmall;
    How how;  // empty: the end
    std::shared_ptr<const std::atomic<bool>> gone;
    std::function<void(Reply)> reply;
  };
  struct Feed;

  void Run();
  void Answer(Question& question);
  // Makes the mirror be there and up to date.
  Result<void> Prepare();
  Result<void> Begin();
  void TakeChanges();
  void GiveUp();
  std::atomic<size_t>& WaitingOf(Size size) {
    return size == Size::kSmall ? small_waiting_ : large_waiting_;
  }

  LiveCluster& cluster_;
  const Clock& clock_;
  const QuestionLimits limits_;
  base::Inbox<Question> inbox_;
  std::atomic<size_t> small_waiting_ = 0;
  std::atomic<size_t> large_waiting_ = 0;
  std::atomic<size_t> num_mirrors_ = 0;
  std::atomic<bool> has_mirror_ = false;
  std::atomic<bool> stale_ = false;
  std::atomic<bool> stopping_ = false;
  // The questions' thread.
  std::unique_ptr<Mirror> mirror_;
  std::shared_ptr<Feed> feed_;
  Time asked_;  // the last question

  base::Mutex thread_mutex_;
  base::NamedThread thread_ BERTH_GUARDED_BY(thread_mutex_);
  bool started_ BERTH_GUARDED_BY(thread_mutex_) = false;
};

}  // namespace berth::mirror
