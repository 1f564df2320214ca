// SPDX-License-Identifier: Apache-2.0
#include "src/ui/api.h"

#include <atomic>
#include <chrono>
#include <utility>

#include "src/base/json.h"
#include "src/plan/plan.h"
#include "src/questions/answers.h"
#include "src/ui/cluster_map.h"
#include "src/ui/object_facts.h"
#include "src/ui/pod_verdict.h"

namespace berth::ui {
namespace {

using serving::Request;
using serving::RequestPtr;
using serving::Respond;
using serving::Response;
using simulator::Simulation;

// Requests that wait for one worker; a page has two or three.
constexpr size_t kMostWaiting = 32;
// A request for the pending pods is answered with what has been judged by then.
constexpr Duration kJudgingTime = std::chrono::milliseconds(500);
constexpr std::string_view kInterrupted = "the answer was not waited for, or the program ends";

std::string DecisionsOf(const Story* story) {
  std::string document;
  if (story != nullptr) story->AppendDecisions(document);
  return document;
}

Response Json(std::string body) {
  return {.content_type = std::string(serving::kJson), .body = std::move(body)};
}

// Of a picture: where the pods are that are placed.
void Fill(const std::vector<api::ObjectPtr>& objects, ClusterMap& map) {
  base::StringMap<ClusterMap::Row> rows;
  for (const api::ObjectPtr& object : objects) {
    if (const auto* node = api::As<api::Node>(object)) {
      rows.insert_or_assign(node->metadata.name, map.AddNode(*node));
    }
  }
  for (const api::ObjectPtr& object : objects) {
    const auto* pod = api::As<api::Pod>(object);
    if (pod == nullptr) continue;
    const auto row = rows.find(pod->spec.node_name);
    map.AddPod(*pod, row == rows.end() ? ClusterMap::kNone : row->second);
  }
}

}  // namespace

Api::Worker::Worker(std::string name, const Clock& clock)
    : line({.thread_name = std::move(name), .large_waiting = kMostWaiting}, clock, *this) {}

Api::Api(ClusterSource source, std::vector<api::ObjectPtr> objects, const Story* story,
         const Clock& clock)
    : source_(std::move(source)),
      clock_(clock),
      decisions_(DecisionsOf(story)),
      picture_(MakePicture(std::move(objects), story, 0)),
      looking_("berth-look", clock),
      trying_("berth-try", clock) {
  Install();
}

Api::~Api() { Stop(); }

void Api::Install() {
  router_.Answer("/api/map", [this](const Request& /*request*/) { return Json(picture()->map); });
  router_.Answer("/api/node", [this](const Request& request) { return AnswerNode(request); });
  if (source_.following) {
    router_.Answer("/api/changes", [this](const Request& /*request*/) { return AnswerChanges(); });
  }
  if (!decisions_.empty()) {
    router_.Answer("/api/decisions",
                   [this](const Request& /*request*/) { return Json(decisions_); });
  }
  router_.Handle("/api/pending", [this](const RequestPtr& request, const Respond& respond) {
    Handle(looking_, request, respond,
           [this](const PicturePtr& picture, const Interrupted& /*interrupted*/) {
             return AnswerPending(picture);
           });
  });
  router_.Handle("/api/pod", [this](const RequestPtr& request, const Respond& respond) {
    Handle(looking_, request, respond,
           [this, request](const PicturePtr& picture, const Interrupted& /*interrupted*/) {
             return AnswerPod(picture, *request);
           });
  });
  router_.Handle("/api/fixes", [this](const RequestPtr& request, const Respond& respond) {
    Handle(trying_, request, respond,
           [this, request](const PicturePtr& picture, const Interrupted& interrupted) {
             return AnswerFixes(picture, *request, interrupted);
           });
  });
  const auto only_post = [](const Request& /*request*/) {
    return serving::ErrorText(405, "POST is what this takes");
  };
  router_.Answer("/api/what-if", only_post);
  router_.HandleMethod(
      "/api/what-if", "POST", [this](const RequestPtr& request, const Respond& respond) {
        Handle(trying_, request, respond,
               [this, request](const PicturePtr& picture, const Interrupted& interrupted) {
                 return AnswerWhatIf(picture, *request, interrupted);
               });
      });
  router_.Answer("/api/plan", only_post);
  router_.HandleMethod(
      "/api/plan", "POST", [this](const RequestPtr& request, const Respond& respond) {
        Handle(trying_, request, respond,
               [this, request](const PicturePtr& picture, const Interrupted& interrupted) {
                 return AnswerPlan(picture, *request, interrupted);
               });
      });
  if (!source_.read) return;
  router_.Answer("/api/refresh", only_post);
  router_.HandleMethod(
      "/api/refresh", "POST", [this](const RequestPtr& request, const Respond& respond) {
        // What a watch has seen waits for no question that takes long.
        Worker& worker = request->FindQuery("watched") == nullptr ? trying_ : looking_;
        Handle(worker, request, respond,
               [this, request](const PicturePtr& /*picture*/, const Interrupted& interrupted) {
                 return Refresh(*request, interrupted);
               });
      });
}

void Api::Handle(Worker& worker, const RequestPtr& request, const Respond& respond, Work work) {
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  request->departure->OnGone([gone] { *gone = true; });
  const auto refuse = [respond](const questions::Reply& reply) {
    respond(serving::ErrorText(reply.code, reply.text));
  };
  worker.line.Ask({.size = questions::Size::kLarge,
                   .answer =
                       [this, respond, refuse, work = std::move(work)](const Interrupted& spent) {
                         Answer answer = work(picture(), spent);
                         if (!answer) return refuse({answer.error().code, answer.error().why});
                         respond(Json(*std::move(answer)));
                       },
                   .refuse = refuse,
                   .gone = gone});
}

Api::PicturePtr Api::picture() const {
  const base::MutexLock lock(mutex_);
  return picture_;
}

Api::PicturePtr Api::MakePicture(std::vector<api::ObjectPtr> objects, const Story* story,
                                 uint64_t changes) const {
  auto picture = std::make_shared<Picture>();
  picture->objects = std::move(objects);
  picture->changes = changes;
  picture->taken = story == nullptr ? clock_.WallNow() : story->end();
  const auto now = picture->taken.time_since_epoch();
  base::JsonObject document(picture->map);
  base::JsonObject cluster(document.Key("cluster"));
  cluster.Add("cutShort", story != nullptr && story->cut_short());
  cluster.Add("decisions", story == nullptr ? 0 : story->num_decisions());
  cluster.Add("live", source_.read != nullptr);
  cluster.Add("name", source_.name);
  cluster.AddIfNotEmpty("namespace", source_.namespace_);
  if (source_.describe != nullptr) picture->reading = source_.describe(picture->objects);
  const Reading& reading = picture->reading;
  cluster.AddIfNotEmpty("read", reading.read);
  cluster.Add("recording", story != nullptr);
  cluster.Add("taken", std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  base::AppendJsonList(reading.warnings, cluster.Key("warnings"));
  cluster.Add("watched", source_.following != nullptr);
  cluster.Close();
  if (story != nullptr) {
    story->map().AppendMembers(document);
  } else {
    ClusterMap map;
    Fill(picture->objects, map);
    map.AppendMembers(document);
  }
  document.Close();
  return picture;
}

Result<std::unique_ptr<Simulation>> Api::Filled(Result<std::unique_ptr<Simulation>> made,
                                                const Picture& picture, bool controllers) {
  if (!made) return made;
  if (controllers) (*made)->StartControllers();
  for (const api::ObjectPtr& object : picture.objects) (*made)->Apply(object);
  return made;
}

tl::expected<Simulation*, Api::Refused> Api::Of(const PicturePtr& picture, Worker& worker) const {
  if (worker.picture != picture) {
    worker.pending.reset();
    auto made = Filled(source_.make_simulation(), *picture, false);
    if (!made) return tl::unexpected(Refused{500, made.error().message});
    worker.simulation = *std::move(made);
    // Takes the objects in; nothing is decided.
    worker.simulation->RunDue();
    worker.picture = picture;
  }
  return worker.simulation.get();
}

Api::Answer Api::AnswerPending(const PicturePtr& picture) {
  const auto simulation = Of(picture, looking_);
  if (!simulation) return tl::unexpected(simulation.error());
  if (!looking_.pending) looking_.pending.emplace(**simulation, clock_);
  looking_.pending->Judge(kJudgingTime);
  std::string document;
  looking_.pending->Append(document);
  return document;
}

Api::Answer Api::AnswerPod(const PicturePtr& picture, const Request& request) {
  const std::string* key = request.FindQuery("pod");
  if (key == nullptr) return tl::unexpected(Refused{400, "which pod? pod=namespace/name"});
  const auto simulation = Of(picture, looking_);
  if (!simulation) return tl::unexpected(simulation.error());
  auto document = PodVerdict(**simulation, *key);
  if (!document) return tl::unexpected(Refused{404, document.error().message});
  return *std::move(document);
}

Api::Answer Api::AnswerFixes(const PicturePtr& picture, const Request& request,
                             const Interrupted& interrupted) {
  const std::string* key = request.FindQuery("pod");
  if (key == nullptr) return tl::unexpected(Refused{400, "which pod? pod=namespace/name"});
  const auto simulation = Of(picture, trying_);
  if (!simulation) return tl::unexpected(simulation.error());
  auto document = PodFixes(**simulation, *key, clock_, interrupted);
  if (!document) return tl::unexpected(Refused{404, document.error().message});
  return *std::move(document);
}

Api::Answer Api::AnswerWhatIf(const PicturePtr& picture, const Request& request,
                              const Interrupted& interrupted) const {
  auto question = questions::ParseWhatIf(request.body);
  if (!question) return tl::unexpected(Refused{400, question.error().message});
  // Its own count more.
  simulator::AdmissionObjects admission = source_.admission;
  admission.Append(question->admission);
  question->admission = std::move(admission);
  question->idle = source_.idle;
  question->find_workload = source_.find_workload;
  auto today = Filled(source_.make_simulation(), *picture, true);
  if (!today) return tl::unexpected(Refused{500, today.error().message});
  (*today)->set_interrupt(interrupted);
  std::unique_ptr<Simulation> other;
  std::vector<std::string> warnings;
  if (!question->new_config.empty()) {
    auto made = Filled(source_.make_other(question->new_config, warnings), *picture, true);
    if (!made) return tl::unexpected(Refused{400, made.error().message});
    other = *std::move(made);
    other->set_interrupt(interrupted);
  }
  auto answer = questions::AskWhatIf(*question, **today, other.get());
  if (interrupted()) return tl::unexpected(Refused{503, std::string(kInterrupted)});
  if (!answer) return tl::unexpected(Refused{400, answer.error().message});
  answer->warnings.insert(answer->warnings.end(), warnings.begin(), warnings.end());
  std::string document;
  questions::AppendAnswer(*answer, document);
  return document;
}

Api::Answer Api::AnswerPlan(const PicturePtr& picture, const Request& request,
                            const Interrupted& interrupted) const {
  const auto question = questions::ParsePlanQuestion(request.body);
  if (!question) return tl::unexpected(Refused{400, question.error().message});
  auto made = Filled(source_.make_simulation(), *picture, false);
  if (!made) return tl::unexpected(Refused{500, made.error().message});
  (*made)->set_interrupt(interrupted);
  (*made)->RunDue();
  auto plan = plan::FindPlan(question->goal, **made, question->limits);
  if (interrupted()) return tl::unexpected(Refused{503, std::string(kInterrupted)});
  if (!plan) return tl::unexpected(Refused{400, plan.error().Within("goal").message});
  if (source_.read) plan->made = picture->taken;
  std::string document;
  plan::AppendJson(*plan, document);
  return document;
}

Response Api::AnswerNode(const Request& request) const {
  const std::string* name = request.FindQuery("node");
  if (name == nullptr) return serving::ErrorText(400, "which node? node=name");
  const PicturePtr shown = picture();
  for (const api::ObjectPtr& object : shown->objects) {
    const auto* node = api::As<api::Node>(object);
    if (node == nullptr || node->metadata.name != *name) continue;
    std::string document;
    AppendNodeFacts(*node, document);
    return Json(std::move(document));
  }
  return serving::ErrorText(404, "there is no node " + *name);
}

Response Api::AnswerChanges() const {
  const Following following = source_.following();
  std::string text;
  base::JsonObject document(text);
  document.Add("changed", following.changes != picture()->changes);
  document.Add("reached", following.reached);
  document.Close();
  return Json(std::move(text));
}

Api::Answer Api::Refresh(const Request& request, const Interrupted& interrupted) {
  // Before the objects: what comes between them counts once more.
  const uint64_t changes = source_.following ? source_.following().changes : 0;
  const bool watched = source_.watched != nullptr && request.FindQuery("watched") != nullptr;
  auto objects =
      watched ? Result<std::vector<api::ObjectPtr>>(source_.watched()) : source_.read(interrupted);
  if (!objects) return tl::unexpected(Refused{503, objects.error().message});
  PicturePtr next = MakePicture(*std::move(objects), nullptr, changes);
  const base::MutexLock lock(mutex_);
  picture_ = next;
  return next->map;
}

}  // namespace berth::ui
