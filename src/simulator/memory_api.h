// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "berth/config_value.h"
#include "src/base/string_map.h"
#include "src/client/api_client.h"
#include "src/informers/informer_event.h"

namespace berth::simulator {

// The kind of an object that is there.
informers::Kind KindOf(const api::ObjectPtr& object);

// Whether a scheduler would have seen the first come before the second: by their creation, those of
// one second by namespace and name. What has no time of creation comes last, and in no order.
bool CreatedBefore(const api::ObjectMeta& a, const api::ObjectMeta& b);

// Whose objects a cluster's controllers see to.
enum class ControllersOf : uint8_t {
  kAll,
  kManifests,  // those that IsOfManifest()
};
// Whether no API server has stored the object: its uid was made up here, by a loader of files or a
// controller, of its kind and name.
inline bool IsOfManifest(const api::ObjectMeta& meta) {
  return meta.uid.find('/') != std::string::npos;
}

// An event as it was written: the last note of a series and how often it came.
struct WrittenEvent {
  std::string reason;
  std::string action;
  std::string type;  // Normal or Warning
  std::string note;
  std::string regarding;  // "namespace/name"
  api::ObjectReference related;
  std::string controller;
  int64_t count = 1;
};

// An API server in memory, for what src/binding and plugins send: binds, patches of a pod's status,
// of volumes and of their claims, events, reads and deletions of pods and ResourceClaims, and
// ResourceClaims, new ones and updates. All else is answered 404. As in Kubernetes, a write that
// names another resourceVersion is refused with 409; a bind that does not name the pod's UID, or
// comes second, is refused with 409; a bind sets the PodScheduled condition and clears the
// nominated node. What is deleted is gone at once, unless set_pod_ends() says otherwise: there is
// no kubelet to wait for, and finalizers are not kept.
//
// Requests are carried out and answered one after the other, on the executor's next turn; after the
// answer comes the watch event of what changed. With a time for the way back the event comes first.
//
// Thread safety: one owner, who runs the executor too.
class MemoryApi final : public client::ApiClient {
 public:
  // Answers a request in the API server's place; nullopt leaves it to that.
  using Fault = std::function<std::optional<client::ResponseResult>(const client::Request&)>;

  // All must outlive the API. `watch` gets every change, in order.
  MemoryApi(const Clock& clock, base::Executor& executor, informers::EventSink watch);

  std::shared_ptr<client::Call> Send(client::Request request, client::OnResponse done) override;
  // There is nothing to stream: ends with 404.
  std::shared_ptr<client::Call> Stream(client::Request request, Duration silence,
                                       std::shared_ptr<client::StreamHandler> handler) override;
  bool ReadsProtobuf() const override { return true; }
  base::Executor& executor() override { return executor_; }

  // Carries a request out at once, and tells of what it changed.
  client::ResponseResult Execute(const client::Request& request);

  // What other clients do. Apply creates the object or replaces it, with a new resourceVersion
  // where it comes with the old one; so does a ResourceClaim that comes without. Delete is false
  // when there is no such object.
  void Apply(api::ObjectPtr object);
  bool Delete(informers::Kind kind, std::string_view key);

  // monostate and nullptr: there is none.
  api::ObjectPtr Find(informers::Kind kind, std::string_view key) const;
  std::shared_ptr<const api::Pod> FindPod(std::string_view key) const;
  // By key.
  void ForEach(informers::Kind kind, const std::function<void(const api::ObjectPtr&)>& visit) const;
  // By CreatedBefore(); those without a time in the order in which they came here.
  void ForEachPodByCreation(const std::function<void(const api::ObjectPtr&)>& visit) const;
  // In an order that means nothing: without the time to sort them.
  void ForEachUnsorted(informers::Kind kind,
                       const std::function<void(const api::ObjectPtr&)>& visit) const;
  // The pods whose node that is, by key; takes no time for the others.
  void ForEachPodOn(std::string_view node,
                    const std::function<void(const std::shared_ptr<const api::Pod>&)>& visit) const;
  size_t Count(informers::Kind kind) const { return Of(kind).size(); }

  // How often an object came, changed or went.
  uint64_t changes() const { return num_changes_; }

  // In the order in which they were first written.
  const std::vector<WrittenEvent>& events() const { return events_; }
  // Off: events are answered and forgotten.
  void set_keep_events(bool keep) { keep_events_ = keep; }
  // Keys of pods that requests deleted, in order.
  const std::vector<std::string>& evicted() const { return evicted_; }

  // How long each request takes until it is carried out; none at first.
  void set_latency(Duration latency) {
    request_latency_ = [latency] { return RequestLatency{latency, {}}; };
  }
  // How long a request takes to arrive, and its answer to come back.
  struct RequestLatency {
    Duration there{};
    Duration back{};
  };
  // Asked for each request.
  void set_request_latency(std::function<RequestLatency()> latency) {
    request_latency_ = std::move(latency);
  }
  // How long a pod on a node runs on when its deletion is asked for; asked for each. Until it is
  // gone it shows its deletionTimestamp. A second request changes nothing.
  void set_pod_ends(std::function<Duration()> pod_ends) { pod_ends_ = std::move(pod_ends); }
  void set_fault(Fault fault) { fault_ = std::move(fault); }

 private:
  class Handle;
  struct Stored {
    api::ObjectPtr object;
    uint64_t arrival = 0;  // how many objects had come with it
  };
  using Objects = base::StringMap<Stored>;  // by key
  // An object named by a request's path, and what stands behind it: "", "binding" or "status".
  struct ObjectPath {
    std::string key;               // "namespace/name", or the name of an object without one
    std::string_view resource;     // of the path
    std::string_view subresource;  // of the path

    // Views of the key.
    std::string_view namespace_() const;
    std::string_view name() const { return std::string_view(key).substr(key.find('/') + 1); }
  };

  // Of the core group and of resource.k8s.io. `path` must outlive the answer.
  static std::optional<ObjectPath> ParsePath(std::string_view path);
  client::ResponseResult Answer(const client::Request& request);
  client::ResponseResult AnswerPod(const client::Request& request, const ObjectPath& path);
  client::ResponseResult Bind(const std::shared_ptr<const api::Pod>& pod, std::string_view key,
                              const client::Request& request);
  client::ResponseResult PatchStatus(const std::shared_ptr<const api::Pod>& pod,
                                     std::string_view key, const ConfigValue& body);
  // T is PersistentVolume or PersistentVolumeClaim.
  template <typename T>
  client::ResponseResult Patch(const client::Request& request, const ObjectPath& path,
                               informers::Kind kind);
  client::ResponseResult AnswerClaim(const client::Request& request, const ObjectPath& path);
  client::ResponseResult CreateClaim(const client::Request& request,
                                     std::string_view claim_namespace, const ConfigValue& body);
  client::ResponseResult UpdateClaim(const api::ResourceClaim& claim, const ObjectPath& path,
                                     const client::Request& request);
  void DeletePod(const std::shared_ptr<const api::Pod>& pod);
  client::ResponseResult Evict(const std::shared_ptr<const api::Pod>& pod, const std::string& uid);
  client::ResponseResult WriteEvent(const client::Request& request);

  // Larger than all that objects have come with.
  std::string NextVersion() { return std::to_string(++last_version_); }
  void NoteVersion(std::string_view version);
  Objects& Of(informers::Kind kind) { return objects_[static_cast<size_t>(kind)]; }
  const Objects& Of(informers::Kind kind) const { return objects_[static_cast<size_t>(kind)]; }
  // The pod after a request, with a new resourceVersion.
  void Replace(std::string_view key, std::shared_ptr<api::Pod> pod);
  void Store(api::ObjectPtr object);
  bool Remove(informers::Kind kind, std::string_view key);
  bool Has(informers::Kind kind, std::string_view key) const { return Find(kind, key).index() > 0; }
  void Changed(informers::EventType type, api::ObjectPtr old_object, api::ObjectPtr new_object);
  void DeliverChanges();
  // Keeps pods_on_node_ as it is to be after this change.
  void NoteNode(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object);

  const Clock& clock_;
  base::Executor& executor_;
  informers::EventSink watch_;
  Fault fault_;
  std::function<RequestLatency()> request_latency_;      // may be empty
  std::function<Duration()> pod_ends_;                   // may be empty
  std::array<Objects, informers::kMostKinds> objects_;   // by kind
  base::StringMap<std::set<std::string>> pods_on_node_;  // keys, by node; none is empty
  std::vector<informers::InformerEvent> undelivered_;
  uint64_t num_changes_ = 0;
  uint64_t num_arrived_ = 0;
  uint64_t last_version_ = 0;
  bool keep_events_ = true;
  std::vector<WrittenEvent> events_;
  std::map<std::string, size_t, std::less<>> event_by_name_;
  std::vector<std::string> evicted_;
};

// The object in the API, or nullptr.
template <typename T>
std::shared_ptr<const T> FindIn(const MemoryApi& api, informers::Kind kind, std::string_view key) {
  const api::ObjectPtr object = api.Find(kind, key);
  const auto* found = std::get_if<std::shared_ptr<const T>>(&object);
  return found == nullptr ? nullptr : *found;
}

}  // namespace berth::simulator
