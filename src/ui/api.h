// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/result.h"
#include "src/base/mutex.h"
#include "src/questions/pending_pods.h"
#include "src/questions/question_line.h"
#include "src/questions/what_if.h"
#include "src/serving/router.h"
#include "src/simulator/admission.h"
#include "src/simulator/pod_controllers.h"
#include "src/simulator/simulation.h"
#include "src/ui/story.h"

namespace berth::ui {

// Whether an answer is not wanted any more.
using Interrupted = std::function<bool()>;

// How a cluster is followed.
struct Following {
  uint64_t changes = 0;  // how many have been seen
  bool reached = true;   // whether more would be
};

// What a cluster was read as, for people.
struct Reading {
  std::string read;  // "2 nodes, 7 pods; skipped 3 Secret"
  std::vector<std::string> warnings;
};

// Where the page's cluster comes from.
struct ClusterSource {
  std::string name;                       // for people: files, or a context
  std::string namespace_;                 // whose pods the page shows at first; "": all
  simulator::AdmissionObjects admission;  // for pods of questions
  // Workloads without pods, and how others are found, for questions; the latter on any thread.
  std::vector<simulator::PodController> idle;
  questions::FindWorkload find_workload;
  // A new simulation with the configuration to judge by, and no objects. Called on several threads.
  std::function<Result<std::unique_ptr<simulator::Simulation>>()> make_simulation;
  // The same with the configuration that this text holds; adds what is odd about it.
  std::function<Result<std::unique_ptr<simulator::Simulation>>(const std::string& configuration,
                                                               std::vector<std::string>& warnings)>
      make_other;
  // Of the objects that were read; may be empty. Any thread.
  std::function<Reading(const std::vector<api::ObjectPtr>& objects)> describe;
  // Reads the cluster as it is now, pods last, and gives up soon once `interrupted` says yes; empty
  // where it does not change. Any thread.
  std::function<Result<std::vector<api::ObjectPtr>>(const Interrupted& interrupted)> read;
  // Of a cluster that is watched how far that is, at once, and its objects, pods last; both empty
  // elsewhere. Any thread.
  std::function<Following()> following;
  std::function<std::vector<api::ObjectPtr>()> watched;
};

// What the page asks for; docs/ui.md lists the paths and documents. A picture of the cluster is
// shared and never changes; each question of what would be then is put to a simulation of its own.
//
//   server's thread --line--> "berth-look": why a pod is pending, from a simulation kept for that
//                   --line--> "berth-try": fixes, what-ifs and plans, which take long
//
// Thread safety: one owner; the router's handlers are called on the server's thread.
class Api {
 public:
  // `story` may be nullptr; `clock` and `story` outlive the API. The first picture is `objects`.
  Api(ClusterSource source, std::vector<api::ObjectPtr> objects, const Story* story,
      const Clock& clock);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  const serving::Router& router() const { return router_; }
  // What the picture that is shown was read as.
  Reading reading() const { return picture()->reading; }

  // Interrupts what is being worked on, which is answered with 503, as is what waits. To be called
  // before the server goes.
  void Stop() {
    for (Worker* worker : {&looking_, &trying_}) worker->line.Stop();
  }

 private:
  struct Picture {
    std::vector<api::ObjectPtr> objects;
    Reading reading;
    std::string map;       // the document
    uint64_t changes = 0;  // that had been seen
    Time taken;
  };
  using PicturePtr = std::shared_ptr<const Picture>;

  // A line of requests, and the simulation that its thread keeps.
  struct Worker : questions::LineHost {
    Worker(std::string name, const Clock& clock);

    PicturePtr picture;  // of the simulation
    std::unique_ptr<simulator::Simulation> simulation;
    std::optional<questions::PendingPods> pending;
    questions::QuestionLine line;
  };

  // An answer that is no success.
  struct Refused {
    int code = 500;
    std::string why;
  };
  using Answer = tl::expected<std::string, Refused>;
  using Work = std::function<Answer(const PicturePtr& picture, const Interrupted& interrupted)>;

  void Install();
  // Hands the request to the worker, unless too many wait there.
  void Handle(Worker& worker, const serving::RequestPtr& request, const serving::Respond& respond,
              Work work);
  // `changes` were seen before the objects were taken.
  PicturePtr MakePicture(std::vector<api::ObjectPtr> objects, const Story* story,
                         uint64_t changes) const;
  PicturePtr picture() const;
  // The worker's simulation of the picture, which has its objects and has not started.
  tl::expected<simulator::Simulation*, Refused> Of(const PicturePtr& picture, Worker& worker) const;
  // Gives the simulation the picture's objects.
  static Result<std::unique_ptr<simulator::Simulation>> Filled(
      Result<std::unique_ptr<simulator::Simulation>> made, const Picture& picture,
      bool controllers);

  Answer AnswerPending(const PicturePtr& picture);
  Answer AnswerPod(const PicturePtr& picture, const serving::Request& request);
  Answer AnswerFixes(const PicturePtr& picture, const serving::Request& request,
                     const Interrupted& interrupted);
  Answer AnswerWhatIf(const PicturePtr& picture, const serving::Request& request,
                      const Interrupted& interrupted) const;
  Answer AnswerPlan(const PicturePtr& picture, const serving::Request& request,
                    const Interrupted& interrupted) const;
  serving::Response AnswerNode(const serving::Request& request) const;
  serving::Response AnswerChanges() const;
  // Reads the cluster again, or takes what has been seen of it meanwhile.
  Answer Refresh(const serving::Request& request, const Interrupted& interrupted);

  const ClusterSource source_;
  const Clock& clock_;
  const std::string decisions_;  // the document; "" without a story
  serving::Router router_;
  mutable base::Mutex mutex_;
  PicturePtr picture_ BERTH_GUARDED_BY(mutex_);
  Worker looking_;
  Worker trying_;
};

}  // namespace berth::ui
