// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/memory_api.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <tuple>
#include <utility>

#include "berth/api/decode_value.h"
#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/api/pod.h"
#include "berth/api/scheduling.h"
#include "berth/check.h"
#include "berth/config_value.h"
#include "berth/in_tree/eviction.h"
#include "berth/result.h"
#include "src/api/decode.h"
#include "src/api/protobuf_writer.h"
#include "src/api/stored_form.h"
#include "src/api/time_format.h"
#include "src/api/wire_types.h"
#include "src/base/text.h"
#include "src/documents/parse.h"
#include "src/informers/kinds.h"
#include "src/simulator/answers.h"

namespace berth::simulator {
namespace {

using PodPtr = std::shared_ptr<const api::Pod>;

// Sets a string from a member of a patch: null clears it.
Result<void> SetString(const std::string& name, const ConfigValue& value, std::string& out) {
  if (value.is_null()) {
    out.clear();
  } else if (value.string() != nullptr) {
    out = *value.string();
  } else {
    return Fail(name + ": must be a string");
  }
  return {};
}

// Of a pod or of another object.
template <typename Condition>
Result<void> PatchCondition(const ConfigValue::Map& patch, Condition& condition) {
  for (const auto& [name, value] : patch) {
    Result<void> set;
    if (name == "status") set = SetString(name, value, condition.status);
    if (name == "reason") set = SetString(name, value, condition.reason);
    if (name == "message") set = SetString(name, value, condition.message);
    if (name == "observedGeneration" && value.integer() != nullptr) {
      condition.observed_generation = *value.integer();
    }
    if (name == "lastTransitionTime") {
      std::string text;
      set = SetString(name, value, text);
      condition.last_transition_time.reset();
      if (set && !text.empty()) {
        const auto time = api::ParseTime(text);
        if (!time) return Fail(time.error().Within(name));
        condition.last_transition_time = *time;
      }
    }
    if (!set) return set;
  }
  return {};
}

template <typename Condition>
Result<void> PatchConditions(const ConfigValue& list, std::vector<Condition>& conditions) {
  if (list.list() == nullptr) return Fail("must be a list");
  for (const ConfigValue& patch : *list.list()) {
    const ConfigValue* type = patch.Find("type");
    if (type == nullptr || type->string() == nullptr) return Fail("a condition without a type");
    auto it = std::find_if(conditions.begin(), conditions.end(), [&](const auto& condition) {
      return condition.type == *type->string();
    });
    if (it == conditions.end()) {
      it = conditions.emplace(conditions.end());
      it->type = *type->string();
    }
    if (auto patched = PatchCondition(*patch.map(), *it); !patched) return patched;
  }
  return {};
}

// Sets a member of a pod's status, read as a pod's is.
template <typename T>
Result<void> SetWhole(const std::string& name, const ConfigValue& value, T api::PodStatus::* member,
                      api::PodStatus& status) {
  const ConfigValue::Map of_status = {{name, value}};
  const ConfigValue pod(ConfigValue::Map{{"status", ConfigValue(of_status)}});
  auto decoded = api::DecodeValue<api::Pod>(pod, "");
  if (!decoded) return Fail(decoded.error());
  status.*member = std::move(decoded->status.*member);
  return {};
}

void PatchAnnotations(const ConfigValue& patch, api::StringMap& annotations) {
  const ConfigValue* metadata = patch.Find("metadata");
  const ConfigValue* changes = metadata == nullptr ? nullptr : metadata->Find("annotations");
  if (changes == nullptr || changes->map() == nullptr) return;
  for (const auto& change : *changes->map()) {
    const std::string& key = change.first;
    if (const std::string* value = change.second.string()) {
      api::Put(key, *value, annotations);
    } else {
      std::erase_if(annotations, [&key](const auto& entry) { return entry.first == key; });
    }
  }
}

void SetString(const ConfigValue& object, std::string_view name, std::string& out) {
  const ConfigValue* value = object.Find(name);
  if (value != nullptr) out = value->string() == nullptr ? "" : *value->string();
}

// Lays a strategic merge patch of a pod's status over `status`: conditions, merged by their type,
// nominatedNodeName, extendedResourceClaimStatus and nodeAllocatableResourceClaimStatuses as a
// whole; null takes a value away. Other members are passed over. Errors: a value of the wrong type.
Result<void> ApplyStatusPatch(const ConfigValue& patch, api::PodStatus& status) {
  if (patch.map() == nullptr) return Fail("status: must be a map");
  for (const auto& [name, value] : *patch.map()) {
    Result<void> set;
    if (name == "nominatedNodeName") set = SetString(name, value, status.nominated_node_name);
    if (name == "conditions") set = PatchConditions(value, status.conditions);
    if (name == "extendedResourceClaimStatus") {
      set = SetWhole(name, value, &api::PodStatus::extended_resource_claim_status, status);
    }
    if (name == "nodeAllocatableResourceClaimStatuses") {
      set =
          SetWhole(name, value, &api::PodStatus::node_allocatable_resource_claim_statuses, status);
    }
    if (!set) return Fail(set.error().Within("status"));
  }
  return {};
}

// The same for the conditions of a pod group.
Result<void> ApplyStatusPatch(const ConfigValue& patch, api::PodGroupStatus& status) {
  if (patch.map() == nullptr) return Fail("status: must be a map");
  const ConfigValue* conditions = patch.Find("conditions");
  if (conditions == nullptr) return {};
  if (auto set = PatchConditions(*conditions, status.conditions); !set) {
    return Fail(set.error().Within("status"));
  }
  return {};
}

// Lays a strategic merge patch over a volume or a claim: annotations, and a volume's claimRef.
// Other members are passed over, and so are values of the wrong type.
void ApplyPatch(const ConfigValue& patch, api::PersistentVolume& volume) {
  PatchAnnotations(patch, volume.metadata.annotations);
  const ConfigValue* spec = patch.Find("spec");
  const ConfigValue* claim = spec == nullptr ? nullptr : spec->Find("claimRef");
  if (claim == nullptr) return;
  if (claim->is_null()) {
    volume.spec.claim_ref.reset();
    return;
  }
  if (!volume.spec.claim_ref) volume.spec.claim_ref.emplace();
  api::ObjectReference& reference = *volume.spec.claim_ref;
  SetString(*claim, "apiVersion", reference.api_version);
  SetString(*claim, "kind", reference.kind);
  SetString(*claim, "namespace", reference.namespace_);
  SetString(*claim, "name", reference.name);
  SetString(*claim, "uid", reference.uid);
  SetString(*claim, "resourceVersion", reference.resource_version);
}

void ApplyPatch(const ConfigValue& patch, api::PersistentVolumeClaim& claim) {
  PatchAnnotations(patch, claim.metadata.annotations);
}

// The text up to the next '/', which is taken off `path` with it.
std::string_view TakeRawSegment(std::string_view& path) {
  const size_t end = std::min(path.find('/'), path.size());
  const std::string_view segment = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return segment;
}

// The next segment, without its escapes.
void AppendSegment(std::string_view& path, std::string& out) {
  const std::string_view segment = TakeRawSegment(path);
  if (segment.find('%') == std::string_view::npos) {
    out += segment;
  } else {
    out += base::Unescape(segment).value_or(std::string(segment));
  }
}

// T is a message of wire_types.h.
template <typename T>
Result<void> ReadBody(const client::Request& request, T& out) {
  if (api::EncodingOf(request.content_type) == api::Encoding::kJson) {
    return api::ReadJson(request.body, out);
  }
  const auto envelope = api::OpenEnvelope(request.body);
  if (!envelope) return Fail(envelope.error());
  return api::ReadMessage(envelope->raw, out);
}

void SetScheduled(api::PodStatus& status, Time now) {
  for (api::PodCondition& condition : status.conditions) {
    if (condition.type != "PodScheduled") continue;
    condition = {.type = "PodScheduled",
                 .status = "True",
                 .reason = {},
                 .message = {},
                 .observed_generation = condition.observed_generation,
                 .last_transition_time = now};
    return;
  }
  api::PodCondition& condition = status.conditions.emplace_back();
  condition.type = "PodScheduled";
  condition.status = "True";
  condition.last_transition_time = now;
}

// The same object with this resourceVersion.
api::ObjectPtr WithVersion(const api::ObjectPtr& object, const std::string& version) {
  return api::WithMeta(object,
                       [&version](api::ObjectMeta& meta) { meta.resource_version = version; });
}

// A claim as informers keep it: one that is not allocated with the bytes that it would come in.
api::ObjectPtr WithStored(api::ObjectPtr object) {
  const auto* claim = api::As<api::ResourceClaim>(object);
  if (claim == nullptr || (claim->status.allocation && claim->stored.bytes == nullptr)) {
    return object;
  }
  auto copy = std::make_shared<api::ResourceClaim>(*claim);
  copy->stored = {};
  if (!claim->status.allocation) {
    std::string message;
    api::EncodeProtobuf(*claim, nullptr, message);
    copy->stored = api::StoredFormOf(api::Encoding::kProtobuf, message);
  }
  return std::shared_ptr<const api::ResourceClaim>(std::move(copy));
}

}  // namespace

bool CreatedBefore(const api::ObjectMeta& a, const api::ObjectMeta& b) {
  const Time at_a = a.creation_timestamp.value_or(Time::max());
  const Time at_b = b.creation_timestamp.value_or(Time::max());
  if (at_a != at_b || !a.creation_timestamp) return at_a < at_b;
  return std::tie(a.namespace_, a.name) < std::tie(b.namespace_, b.name);
}

informers::Kind KindOf(const api::ObjectPtr& object) {
  BERTH_CHECK(object.index() > 0, "no object");
  if (const auto* own = api::As<api::PluginObject>(object)) return informers::KindOf(own->kind);
  // The kinds stand in the variant's order, with one place for all that plugins ask for.
  static_assert(std::variant_size_v<api::ObjectOfAnyKind> ==
                static_cast<size_t>(informers::Kind::kFirstPluginKind) + 2);
  return static_cast<informers::Kind>(object.index() - 1);
}

class MemoryApi::Handle final : public client::Call {
 public:
  void Cancel() override { cancelled = true; }
  bool cancelled = false;
};

MemoryApi::MemoryApi(const Clock& clock, base::Executor& executor, informers::EventSink watch)
    : clock_(clock), executor_(executor), watch_(std::move(watch)) {}

std::shared_ptr<client::Call> MemoryApi::Send(client::Request request, client::OnResponse done) {
  auto handle = std::make_shared<Handle>();
  const RequestLatency latency = request_latency_ ? request_latency_() : RequestLatency();
  base::Executor::Task arrive = [this, handle, latency, request = std::move(request),
                                 done = std::move(done)]() mutable {
    if (handle->cancelled) {
      client::ApiError error;
      error.reason = client::kReasonCancelled;
      error.never_sent = true;
      done(tl::unexpected(std::move(error)));
      return;
    }
    client::ResponseResult answer = Answer(request);
    if (latency.back > Duration::zero()) {
      executor_.PostAfter(latency.back, [done, answer = std::move(answer)] { done(answer); });
    } else {
      done(std::move(answer));
    }
    DeliverChanges();
  };
  if (latency.there > Duration::zero()) {
    executor_.PostAfter(latency.there, std::move(arrive));
  } else {
    executor_.Post(std::move(arrive));
  }
  return handle;
}

std::shared_ptr<client::Call> MemoryApi::Stream(client::Request request, Duration silence,
                                                std::shared_ptr<client::StreamHandler> handler) {
  static_cast<void>(silence);
  executor_.Post([handler = std::move(handler), path = std::move(request.path)] {
    handler->OnEnd(Refuse(404, "NotFound", path + " cannot be watched").value());
  });
  return std::make_shared<Handle>();
}

client::ResponseResult MemoryApi::Execute(const client::Request& request) {
  client::ResponseResult answer = Answer(request);
  DeliverChanges();
  return answer;
}

void MemoryApi::Apply(api::ObjectPtr object) {
  Store(std::move(object));
  DeliverChanges();
}

bool MemoryApi::Delete(informers::Kind kind, std::string_view key) {
  const bool removed = Remove(kind, key);
  DeliverChanges();
  return removed;
}

bool MemoryApi::Remove(informers::Kind kind, std::string_view key) {
  Objects& objects = Of(kind);
  const auto it = objects.find(key);
  if (it == objects.end()) return false;
  Changed(informers::EventType::kDeleted, std::move(it->second.object), {});
  objects.erase(it);
  return true;
}

void MemoryApi::NoteVersion(std::string_view version) {
  // Half of the numbers are left for versions of our own.
  constexpr uint64_t kMost = UINT64_MAX / 2;
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(version.data(), version.data() + version.size(), number);
  if (error != std::errc() || end != version.data() + version.size()) return;
  if (number < kMost) last_version_ = std::max(last_version_, number);
}

void MemoryApi::Store(api::ObjectPtr object) {
  NoteVersion(api::MetaOf(object)->resource_version);
  // Those of claims are compared.
  if (KindOf(object) == informers::Kind::kResourceClaim &&
      api::MetaOf(object)->resource_version.empty()) {
    object = WithVersion(object, NextVersion());
  }
  Objects& objects = Of(KindOf(object));
  const std::string key = api::MetaOf(object)->Key();
  const auto it = objects.find(key);
  if (it != objects.end() &&
      api::MetaOf(it->second.object)->resource_version == api::MetaOf(object)->resource_version) {
    object = WithVersion(object, NextVersion());
  }
  object = WithStored(std::move(object));
  if (it == objects.end()) {
    objects.emplace(key, Stored{object, ++num_arrived_});
    Changed(informers::EventType::kAdded, {}, std::move(object));
    return;
  }
  api::ObjectPtr old = std::exchange(it->second.object, object);
  Changed(informers::EventType::kUpdated, std::move(old), std::move(object));
}

void MemoryApi::Changed(informers::EventType type, api::ObjectPtr old_object,
                        api::ObjectPtr new_object) {
  NoteNode(old_object, new_object);
  informers::InformerEvent event;
  event.kind = KindOf(type == informers::EventType::kDeleted ? old_object : new_object);
  event.type = type;
  event.old_object = std::move(old_object);
  event.new_object = std::move(new_object);
  undelivered_.push_back(std::move(event));
  ++num_changes_;
}

void MemoryApi::NoteNode(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  const auto node_of = [](const api::ObjectPtr& object) {
    const auto* pod = api::As<api::Pod>(object);
    return pod == nullptr ? std::string_view() : std::string_view(pod->spec.node_name);
  };
  const std::string_view from = node_of(old_object);
  const std::string_view to = node_of(new_object);
  if (from == to) return;
  if (const auto at = pods_on_node_.find(from); !from.empty() && at != pods_on_node_.end()) {
    at->second.erase(api::MetaOf(old_object)->Key());
    if (at->second.empty()) pods_on_node_.erase(at);
  }
  if (!to.empty()) pods_on_node_[std::string(to)].insert(api::MetaOf(new_object)->Key());
}

void MemoryApi::DeliverChanges() {
  for (informers::InformerEvent& event : undelivered_) watch_(std::move(event));
  undelivered_.clear();
}

api::ObjectPtr MemoryApi::Find(informers::Kind kind, std::string_view key) const {
  const auto it = Of(kind).find(key);
  return it == Of(kind).end() ? api::ObjectPtr() : it->second.object;
}

std::shared_ptr<const api::Pod> MemoryApi::FindPod(std::string_view key) const {
  const Objects& pods = Of(informers::Kind::kPod);
  const auto it = pods.find(key);
  return it == pods.end() ? nullptr : std::get<PodPtr>(it->second.object);
}

void MemoryApi::ForEach(informers::Kind kind,
                        const std::function<void(const api::ObjectPtr&)>& visit) const {
  std::map<std::string_view, api::ObjectPtr> sorted;
  for (const auto& [key, stored] : Of(kind)) sorted.emplace(key, stored.object);
  for (const auto& [key, object] : sorted) visit(object);
}

void MemoryApi::ForEachPodByCreation(
    const std::function<void(const api::ObjectPtr&)>& visit) const {
  std::vector<const Stored*> pods;
  for (const auto& [key, stored] : Of(informers::Kind::kPod)) pods.push_back(&stored);
  std::ranges::sort(pods, {}, &Stored::arrival);
  std::ranges::stable_sort(pods, CreatedBefore, [](const Stored* stored) -> const api::ObjectMeta& {
    return *api::MetaOf(stored->object);
  });
  for (const Stored* stored : pods) visit(stored->object);
}

void MemoryApi::ForEachUnsorted(informers::Kind kind,
                                const std::function<void(const api::ObjectPtr&)>& visit) const {
  for (const auto& [key, stored] : Of(kind)) visit(stored.object);
}

void MemoryApi::ForEachPodOn(
    std::string_view node,
    const std::function<void(const std::shared_ptr<const api::Pod>&)>& visit) const {
  const auto at = pods_on_node_.find(node);
  if (at == pods_on_node_.end()) return;
  for (const std::string& key : at->second) visit(FindPod(key));
}

std::optional<MemoryApi::ObjectPath> MemoryApi::ParsePath(std::string_view path) {
  constexpr std::string_view kHeads[] = {"/api/v1/", "/apis/resource.k8s.io/v1/"};
  const auto* head = std::ranges::find_if(
      kHeads, [path](std::string_view text) { return path.starts_with(text); });
  if (head == std::end(kHeads)) return std::nullopt;
  path.remove_prefix(head->size());
  std::optional<ObjectPath> out(std::in_place);
  // One allocation: what is taken off is no shorter than the key.
  out->key.reserve(path.size());
  out->resource = TakeRawSegment(path);
  if (out->resource == "namespaces") {
    AppendSegment(path, out->key);
    out->key += '/';
    out->resource = TakeRawSegment(path);
  }
  AppendSegment(path, out->key);
  out->subresource = TakeRawSegment(path);
  return out;
}

std::string_view MemoryApi::ObjectPath::namespace_() const {
  const size_t slash = key.find('/');
  return slash == std::string::npos ? "" : std::string_view(key).substr(0, slash);
}

// "namespace/name" of the pod group whose status the request patches, or "".
std::string PatchedPodGroup(const client::Request& request) {
  constexpr std::string_view kHead = "/apis/scheduling.k8s.io/v1beta1/namespaces/";
  std::string_view path = request.path;
  if (request.verb != client::Verb::kPatch || !path.starts_with(kHead)) return "";
  path.remove_prefix(kHead.size());
  std::string key;
  AppendSegment(path, key);
  if (TakeRawSegment(path) != "podgroups") return "";
  key += '/';
  AppendSegment(path, key);
  return TakeRawSegment(path) == "status" ? key : "";
}

client::ResponseResult MemoryApi::Answer(const client::Request& request) {
  if (fault_) {
    if (auto answer = fault_(request)) return *std::move(answer);
  }
  if (const auto path = ParsePath(request.path)) {
    if (path->resource == "pods") return AnswerPod(request, *path);
    if (path->resource == "resourceclaims") return AnswerClaim(request, *path);
    if (path->resource == "persistentvolumes") {
      return Patch<api::PersistentVolume>(request, *path, informers::Kind::kPersistentVolume);
    }
    if (path->resource == "persistentvolumeclaims") {
      return Patch<api::PersistentVolumeClaim>(request, *path,
                                               informers::Kind::kPersistentVolumeClaim);
    }
  }
  if (const std::string key = PatchedPodGroup(request); !key.empty()) {
    const api::ObjectPtr known = Find(informers::Kind::kPodGroup, key);
    const auto* group = api::As<api::PodGroup>(known);
    if (group == nullptr) return Refuse(404, "NotFound", "podgroups \"" + key + "\" not found");
    const auto body = documents::ParseJson(request.body, "");
    if (!body) return Refuse(400, "BadRequest", body.error().message);
    auto patched = std::make_shared<api::PodGroup>(*group);
    if (const ConfigValue* status = body->Find("status"); status != nullptr) {
      if (auto done = ApplyStatusPatch(*status, patched->status); !done) {
        return Refuse(422, "Invalid", done.error().message);
      }
    }
    Store(std::shared_ptr<const api::PodGroup>(std::move(patched)));
    return Ok(200);
  }
  if (request.path.starts_with("/apis/events.k8s.io/v1/namespaces/")) return WriteEvent(request);
  return Refuse(404, "NotFound", "the server could not find the requested resource");
}

client::ResponseResult MemoryApi::AnswerPod(const client::Request& request,
                                            const ObjectPath& path) {
  const PodPtr pod = FindPod(path.key);
  if (pod == nullptr) {
    return Refuse(404, "NotFound", base::Concat("pods \"", path.name(), "\" not found"));
  }
  if (request.verb == client::Verb::kGet && path.subresource.empty()) {
    return Ok(200, api::EncodeJson(*pod));
  }
  if (request.verb == client::Verb::kCreate && path.subresource == "binding") {
    return Bind(pod, path.key, request);
  }
  ConfigValue body;
  if (!request.body.empty()) {
    auto parsed = documents::ParseJson(request.body, "");
    if (!parsed) return Refuse(400, "BadRequest", parsed.error().message);
    body = *std::move(parsed);
  }
  if (request.verb == client::Verb::kPatch && path.subresource == "status") {
    return PatchStatus(pod, path.key, body);
  }
  if (request.verb == client::Verb::kDelete && path.subresource.empty()) {
    const std::string uid = StringAt(body, {"preconditions", "uid"});
    if (!uid.empty() && uid != pod->metadata.uid) {
      return Conflict("the UID in the precondition (" + uid +
                      ") does not match the UID in record (" + pod->metadata.uid + ")");
    }
    DeletePod(pod);
    return Ok(200);
  }
  if (request.verb == client::Verb::kCreate && path.subresource == "eviction") {
    return Evict(pod, StringAt(body, {"deleteOptions", "preconditions", "uid"}));
  }
  return Refuse(405, "MethodNotAllowed", "the simulator does not do that to a pod");
}

// The API server counts down what a budget allows until the controller of budgets counts again.
client::ResponseResult MemoryApi::Evict(const PodPtr& pod, const std::string& uid) {
  if (!uid.empty() && uid != pod->metadata.uid) {
    return Conflict("the UID in the precondition (" + uid + ") does not match the UID in record (" +
                    pod->metadata.uid + ")");
  }
  EvictionBudgets budgets;
  std::vector<std::shared_ptr<const api::PodDisruptionBudget>> objects;
  ForEach(informers::Kind::kPodDisruptionBudget, [&](const api::ObjectPtr& object) {
    objects.push_back(std::get<std::shared_ptr<const api::PodDisruptionBudget>>(object));
    budgets.Add(*objects.back());
  });
  const Leave leave = budgets.Ask(*pod);
  if (leave == Leave::kRefused) {
    return Refuse(429, "TooManyRequests",
                  "Cannot evict pod as it would violate the pod's disruption budget.");
  }
  if (leave == Leave::kCounted) {
    const std::string key = budgets.Of(*pod).front();
    for (const auto& object : objects) {
      if (object->metadata.Key() != key) continue;
      auto counted = std::make_shared<api::PodDisruptionBudget>(*object);
      --counted->status.disruptions_allowed;
      Store(std::shared_ptr<const api::PodDisruptionBudget>(std::move(counted)));
    }
  }
  DeletePod(pod);
  return Ok(201);
}

void MemoryApi::DeletePod(const PodPtr& pod) {
  const std::string key = pod->metadata.Key();
  if (pod->metadata.deletion_timestamp) return;
  evicted_.push_back(key);
  if (!pod_ends_ || pod->spec.node_name.empty()) {
    Remove(informers::Kind::kPod, key);
    return;
  }
  const Duration runs_on = pod_ends_();
  auto ending = std::make_shared<api::Pod>(*pod);
  ending->metadata.deletion_timestamp = clock_.Now() + runs_on;
  Replace(key, std::move(ending));
  executor_.PostAfter(runs_on, [this, key, uid = pod->metadata.uid] {
    const PodPtr left = FindPod(key);
    if (left != nullptr && left->metadata.uid == uid) Delete(informers::Kind::kPod, key);
  });
}

client::ResponseResult MemoryApi::Bind(const PodPtr& pod, std::string_view key,
                                       const client::Request& request) {
  api::BindingMessage binding;
  if (const auto read = ReadBody(request, binding); !read) {
    return Refuse(400, "BadRequest", read.error().message);
  }
  const std::string& uid = binding.metadata.uid;
  const std::string& name = pod->metadata.name;
  if (!uid.empty() && uid != pod->metadata.uid) {
    return Conflict("Precondition failed: UID in precondition: " + uid +
                    ", UID in object meta: " + pod->metadata.uid);
  }
  if (pod->metadata.deletion_timestamp) {
    return Conflict("pod " + name + " is being deleted, cannot be assigned to a host");
  }
  if (!pod->spec.node_name.empty()) {
    return Conflict("pod " + name + " is already assigned to node \"" + pod->spec.node_name + "\"");
  }
  auto bound = std::make_shared<api::Pod>(*pod);
  bound->spec.node_name = std::move(binding.target.name);
  bound->status.nominated_node_name.clear();
  SetScheduled(bound->status, clock_.Now());
  Replace(key, std::move(bound));
  return Ok(201);
}

client::ResponseResult MemoryApi::PatchStatus(const PodPtr& pod, std::string_view key,
                                              const ConfigValue& body) {
  const std::string uid = StringAt(body, {"metadata", "uid"});
  if (!uid.empty() && uid != pod->metadata.uid) {
    return Refuse(422, "Invalid",
                  "metadata.uid: Invalid value: \"" + uid + "\": field is immutable");
  }
  auto patched = std::make_shared<api::Pod>(*pod);
  if (const ConfigValue* status = body.Find("status"); status != nullptr) {
    if (auto done = ApplyStatusPatch(*status, patched->status); !done) {
      return Refuse(422, "Invalid", done.error().message);
    }
  }
  Replace(key, std::move(patched));
  return Ok(200);
}

template <typename T>
client::ResponseResult MemoryApi::Patch(const client::Request& request, const ObjectPath& path,
                                        informers::Kind kind) {
  if (request.verb != client::Verb::kPatch) {
    return Refuse(405, "MethodNotAllowed", "the simulator does not do that to a volume");
  }
  const api::ObjectPtr found = Find(kind, path.key);
  const T* object = api::As<T>(found);
  const std::string name = base::Concat(path.resource, " \"", path.name(), "\"");
  if (object == nullptr) return Refuse(404, "NotFound", name + " not found");
  const auto body = documents::ParseJson(request.body, "");
  if (!body) return Refuse(400, "BadRequest", body.error().message);
  const std::string version = StringAt(*body, {"metadata", "resourceVersion"});
  if (!version.empty() && version != object->metadata.resource_version) {
    return ModifiedMeanwhile(name);
  }
  auto patched = std::make_shared<T>(*object);
  ApplyPatch(*body, *patched);
  if (*patched == *object) return Ok(200);
  Store(std::shared_ptr<const T>(std::move(patched)));
  return Ok(200);
}

void MemoryApi::Replace(std::string_view key, std::shared_ptr<api::Pod> pod) {
  pod->metadata.resource_version = NextVersion();
  const auto it = Of(informers::Kind::kPod).find(key);
  BERTH_CHECK(it != Of(informers::Kind::kPod).end(), "a request changes a pod that is not there");
  api::ObjectPtr now = std::shared_ptr<const api::Pod>(std::move(pod));
  api::ObjectPtr old = std::exchange(it->second.object, now);
  Changed(informers::EventType::kUpdated, std::move(old), std::move(now));
}

client::ResponseResult MemoryApi::WriteEvent(const client::Request& request) {
  const int code = request.verb == client::Verb::kCreate ? 201 : 200;
  if (!keep_events_) return Ok(code);
  if (request.verb == client::Verb::kPatch) {
    auto body = documents::ParseJson(request.body, "");
    if (!body) return Refuse(400, "BadRequest", body.error().message);
    const std::string name = request.path.substr(request.path.rfind('/') + 1);
    const auto it = event_by_name_.find(base::Unescape(name).value_or(name));
    if (it == event_by_name_.end()) {
      return Refuse(404, "NotFound", "events \"" + name + "\" not found");
    }
    const ConfigValue* series = body->Find("series");
    const ConfigValue* count = series == nullptr ? nullptr : series->Find("count");
    if (count != nullptr && count->integer() != nullptr) {
      events_[it->second].count = *count->integer();
    }
    return Ok(code);
  }
  api::EventMessage body;
  if (const auto read = ReadBody(request, body); !read) {
    return Refuse(400, "BadRequest", read.error().message);
  }
  WrittenEvent& event = events_.emplace_back();
  event.reason = std::move(body.reason);
  event.action = std::move(body.action);
  event.type = std::move(body.type);
  event.note = std::move(body.note);
  event.related = std::move(body.related);
  event.controller = std::move(body.controller);
  event.regarding = api::NamespacedKey(body.regarding.namespace_, body.regarding.name);
  event_by_name_[std::move(body.metadata.name)] = events_.size() - 1;
  return Ok(code);
}

}  // namespace berth::simulator
