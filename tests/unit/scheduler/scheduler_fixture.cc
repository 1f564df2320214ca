// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/scheduler/scheduler_fixture.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "src/informers/kinds.h"
#include "tests/support/default_plugins.h"

namespace berth::test {
namespace {

using informers::EventType;
using informers::Kind;
using Json = nlohmann::json;

// "namespace/name" of a path /api/v1/namespaces/<ns>/pods/<name>/binding
std::string KeyOf(const std::string& path) {
  const std::string head = "/api/v1/namespaces/";
  const size_t ns_end = path.find('/', head.size());
  const size_t name = ns_end + std::string("/pods/").size();
  const size_t name_end = path.find('/', name);
  return path.substr(head.size(), ns_end - head.size()) + '/' + path.substr(name, name_end - name);
}

}  // namespace

SchedulerFixture::SchedulerFixture() {
  options_.configuration = config::DefaultConfiguration({test::DefaultPlugins()});
  options_.seed = 1;
  options_.hostname = "test-host";
  Restart();
}

SchedulerFixture::~SchedulerFixture() = default;

void SchedulerFixture::Restart() {
  scheduler_.reset();
  bindings_.clear();
  patches_.clear();
  held_.clear();
  executor_ = std::make_unique<base::VirtualExecutor>(clock_);
  api_ = std::make_unique<FakeApi>(*executor_);
  server_ = std::make_unique<simulator::MemoryApi>(clock_, *executor_,
                                                   [](const informers::InformerEvent&) {});
  api_->set_model([this](const client::Request& request) { return Answer(request); });
  metrics_ = std::make_unique<metrics::Registry>();
  auto made = scheduler::Scheduler::Make(options_, plugins_, clock_, *api_, *metrics_);
  ASSERT_TRUE(made) << made.error().message;
  scheduler_ = std::move(*made);
}

void SchedulerFixture::Turn() {
  // Outcomes come back through the executor, and give rise to new work.
  for (int i = 0; i < 200; ++i) {
    const size_t before = api_->size();
    scheduler_->Turn(clock_.Now());
    executor_->RunDue();
    scheduler_->Turn(clock_.Now());
    if (api_->size() == before) break;
  }
  executor_->RunDue();
  scheduler_->Turn(clock_.Now());
}

void SchedulerFixture::Advance(Duration by) {
  constexpr Duration kStep = std::chrono::milliseconds(100);
  for (Duration passed{}; passed < by; passed += kStep) {
    executor_->Advance(kStep);
    Turn();
  }
}

void SchedulerFixture::PostEvent(EventType type, Kind kind, api::ObjectPtr old_object,
                                 api::ObjectPtr new_object) {
  if (type == EventType::kDeleted) {
    server_->Delete(kind, api::MetaOf(old_object)->Key());
  } else if (type != EventType::kSynced) {
    server_->Apply(new_object);
    // As it comes from a server: with the bytes that it is written from.
    if (kind == Kind::kResourceClaim) {
      new_object = server_->Find(kind, api::MetaOf(new_object)->Key());
    }
  }
  informers::InformerEvent event;
  event.kind = kind;
  event.type = type;
  event.old_object = std::move(old_object);
  event.new_object = std::move(new_object);
  scheduler_->Post(std::move(event));
}

void SchedulerFixture::Synced() {
  for (const Kind kind : informers::AllKinds()) PostEvent(EventType::kSynced, kind, {}, {});
}

void SchedulerFixture::AddNode(std::shared_ptr<const api::Node> node) {
  PostEvent(EventType::kAdded, Kind::kNode, {}, std::move(node));
}

void SchedulerFixture::UpdateNode(std::shared_ptr<const api::Node> old_node,
                                  std::shared_ptr<const api::Node> node) {
  PostEvent(EventType::kUpdated, Kind::kNode, std::move(old_node), std::move(node));
}

void SchedulerFixture::AddPod(std::shared_ptr<const api::Pod> pod) {
  PostEvent(EventType::kAdded, Kind::kPod, {}, std::move(pod));
}

void SchedulerFixture::UpdatePod(std::shared_ptr<const api::Pod> old_pod,
                                 std::shared_ptr<const api::Pod> pod) {
  PostEvent(EventType::kUpdated, Kind::kPod, std::move(old_pod), std::move(pod));
}

void SchedulerFixture::DeletePod(std::shared_ptr<const api::Pod> pod) {
  PostEvent(EventType::kDeleted, Kind::kPod, std::move(pod), {});
}

void SchedulerFixture::PostUndecodable(const std::string& key, const std::string& node_name) {
  informers::InformerEvent event;
  event.kind = Kind::kPod;
  event.type = EventType::kUndecodable;
  event.undecodable = informers::Undecodable{.key = key,
                                             .uid = {},
                                             .node_name = node_name,
                                             .scheduler_name = {},
                                             .error = "spec.priority: not a number"};
  scheduler_->Post(std::move(event));
}

void SchedulerFixture::RefuseBind(const std::string& key, int code, const std::string& message) {
  refusals_[key] = {code, message};
}

void SchedulerFixture::AcceptBind(const std::string& key) {
  refusals_.erase(key);
  never_.erase(key);
}

void SchedulerFixture::ReleaseOneBind() {
  ASSERT_FALSE(held_.empty());
  FakeCall& bind = api_->at(held_.front());
  ASSERT_TRUE(server_->Execute(bind.request));
  bind.Reply(201, "{}");
  held_.pop_front();
}

void SchedulerFixture::RefuseOneBind() {
  ASSERT_FALSE(held_.empty());
  api_->at(held_.front()).Fail(Rejection(422, "no"));
  held_.pop_front();
}

std::optional<client::ResponseResult> SchedulerFixture::Answer(const client::Request& request) {
  if (request.path.ends_with("/binding")) return AnswerBind(request);
  if (request.path.ends_with("/status")) {
    patches_.emplace_back(request.path, request.body);
    if (hold_status_patches_) return std::nullopt;
  }
  if (request.verb == client::Verb::kDelete && refuse_deletions_ > 0) {
    --refuse_deletions_;
    return tl::unexpected(Rejection(403, "no"));
  }
  if (request.verb == client::Verb::kGet && !answer_reads_) return std::nullopt;
  return server_->Execute(request);
}

std::optional<client::ResponseResult> SchedulerFixture::AnswerBind(const client::Request& request) {
  const std::string key = KeyOf(request.path);
  const Json binding = Json::parse(request.body);
  bindings_.push_back(key + " -> " + binding["target"]["name"].get<std::string>());
  if (const auto it = refusals_.find(key); it != refusals_.end()) {
    return tl::unexpected(Rejection(it->second.first, it->second.second));
  }
  if (never_.contains(key)) return tl::unexpected(NoAnswer());
  if (hold_binds_) {
    held_.push_back(api_->size() - 1);
    return std::nullopt;
  }
  return server_->Execute(request);
}

std::vector<std::string> SchedulerFixture::Events(std::string_view reason) const {
  std::vector<std::string> notes;
  for (const simulator::WrittenEvent& event : server_->events())
    if (event.reason == reason) notes.push_back(event.note);
  return notes;
}

std::vector<std::string> SchedulerFixture::RelatedTo(std::string_view reason) const {
  std::vector<std::string> related;
  for (const simulator::WrittenEvent& event : server_->events()) {
    if (event.reason != reason) continue;
    const api::ObjectReference& named = event.related;
    related.push_back(named == api::ObjectReference()
                          ? ""
                          : named.api_version + " " + named.kind + " " + named.namespace_ + "/" +
                                named.name + " " + named.uid);
  }
  return related;
}

std::vector<std::string> SchedulerFixture::StatusPatches(const std::string& name) const {
  std::vector<std::string> bodies;
  for (const auto& [path, body] : patches_)
    if (path.ends_with("/pods/" + name + "/status")) bodies.push_back(body);
  return bodies;
}

std::vector<std::string> SchedulerFixture::GroupStatusPatches(const std::string& name) const {
  std::vector<std::string> bodies;
  for (const auto& [path, body] : patches_)
    if (path.ends_with("/podgroups/" + name + "/status")) bodies.push_back(body);
  return bodies;
}

std::string SchedulerFixture::Metrics() {
  Advance(std::chrono::seconds(2));
  return metrics_->Exposition();
}

}  // namespace berth::test
