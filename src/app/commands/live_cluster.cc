// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/live_cluster.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "src/app/commands/daemon_client.h"
#include "src/app/commands/server_error.h"
#include "src/app/version.h"
#include "src/base/clock.h"
#include "src/base/inbox.h"
#include "src/base/mutex.h"
#include "src/base/text.h"
#include "src/client/curl_client.h"
#include "src/documents/parse.h"
#include "src/informers/informers.h"
#include "src/informers/kinds.h"
#include "src/simulator/memory_api.h"

namespace berth::app {
namespace {

// How often is looked whether the caller has given up.
constexpr Duration kLook = std::chrono::milliseconds(200);
// After the first list that may not be read, so that all of these are named.
constexpr Duration kForOtherRefusals = std::chrono::seconds(1);

struct Refusal {
  informers::Kind kind = informers::Kind::kPod;
  client::ApiError error;
};
using News = std::variant<informers::InformerEvent, Refusal>;
using Refusals = std::map<informers::Kind, client::ApiError>;

// The resources whose lists are missing, for messages.
std::string Names(const std::set<informers::Kind>& kinds) {
  std::string names;
  for (const informers::Kind kind : kinds) {
    names += (names.empty() ? "" : ", ") + std::string(informers::InfoOf(kind).resource);
  }
  return names;
}

std::string MissingRights(const Refusals& refusals) {
  std::vector<informers::Kind> kinds;
  for (const auto& [kind, error] : refusals) kinds.push_back(kind);
  return "\nMissing rights, at the cluster scope: " + RightsToList(kinds);
}

// What the lists bring, up to their end.
class Reading {
 public:
  Reading(const std::vector<informers::Kind>& kinds, const Clock& clock, const Patience& patience)
      : missing_(kinds.begin(), kinds.end()), clock_(clock), patience_(patience) {
    if (patience.time > Duration::zero()) deadline_ = clock.Now() + patience.time;
  }

  // How long to wait for more; zero once there is nothing to wait for.
  Duration Left() const {
    if (missing_.empty() || unreachable_ || refused_.size() == missing_.size()) return {};
    if (patience_.interrupted && patience_.interrupted()) return {};
    return deadline_ ? std::min(*deadline_ - clock_.Now(), kLook) : kLook;
  }
  void Take(informers::InformerEvent event) {
    if (event.type != informers::EventType::kSynced) return events_.push_back(std::move(event));
    missing_.erase(event.kind);
    refused_.erase(event.kind);
  }
  void Take(Refusal refusal) {
    if (!IsFinal(refusal.error) || !missing_.contains(refusal.kind)) return;
    if (refusal.error.code != 403) {
      if (!unreachable_) unreachable_ = std::move(refusal.error);
      return;
    }
    const Time soon = clock_.Now() + kForOtherRefusals;
    deadline_ = deadline_ ? std::min(*deadline_, soon) : soon;
    refused_.insert_or_assign(refusal.kind, std::move(refusal.error));
  }

  Result<std::vector<informers::InformerEvent>> Finish(const std::string& server) && {
    if (unreachable_) return Fail(InKubectlsWords(*unreachable_, server));
    if (!refused_.empty()) {
      return Fail(InKubectlsWords(refused_.begin()->second, server) + MissingRights(refused_));
    }
    if (missing_.empty()) return std::move(events_);
    return Fail("the API server has not listed " + Names(missing_) + " within " +
                FormatGoDuration(patience_.time) + "; --request-timeout waits longer");
  }

 private:
  std::set<informers::Kind> missing_;
  const Clock& clock_;
  const Patience& patience_;
  std::optional<Time> deadline_;
  std::optional<client::ApiError> unreachable_;
  Refusals refused_;
  std::vector<informers::InformerEvent> events_;
};

// A client and the informers on it, which begin at once.
class Watches {
 public:
  static Result<Watches> Start(const client::ServerConfig& server,
                               const std::vector<informers::Kind>& kinds, uint64_t seed,
                               const Clock& clock, informers::EventSink sink,
                               const informers::InformerOptions& how) {
    client::ClientOptions options;
    options.server = server;
    options.user_agent = client::UserAgent(kVersion, kKubernetesVersion, "explain");
    options.seed = seed;
    options.quiet = true;
    auto client = client::CurlClient::Make(std::move(options), clock);
    if (!client) return Fail(client.error());
    Watches made;
    made.client_ = *std::move(client);
    made.informers_ =
        std::make_shared<informers::Informers>(*made.client_, clock, seed, std::move(sink), how);
    made.informers_->Start(kinds);
    return made;
  }
  Watches(Watches&&) = default;
  Watches& operator=(Watches&&) = delete;
  ~Watches() {
    if (client_ == nullptr) return;
    // Tasks of the informers may still be in line on the client's thread, so they end there.
    informers_->Stop();
    client_->Close();
    client_->executor().Post([informers = std::move(informers_)] {});
  }

  // Runs `look` on the informers' own thread, later.
  void Post(std::function<void(const informers::Informers&)> look) const {
    client_->executor().Post(
        [informers = informers_, look = std::move(look)] { look(*informers); });
  }

 private:
  Watches() = default;

  std::unique_ptr<client::CurlClient> client_;
  std::shared_ptr<informers::Informers> informers_;
};

// Takes what comes, until all lists are in or waiting is in vain.
void Await(base::Inbox<News>& inbox, Reading& reading) {
  std::vector<News> arrived;
  for (Duration left = reading.Left(); left > Duration::zero(); left = reading.Left()) {
    inbox.Drain(arrived, left);
    for (News& news : arrived) {
      std::visit([&reading](auto& one) { reading.Take(std::move(one)); }, news);
    }
  }
}

// Of a node and of a pod what a page or a verdict may depend on: heartbeats are no news.
bool SayTheSame(const api::ObjectPtr& before, const api::ObjectPtr& after) {
  const auto alike = [](const auto& a, const auto& b) {
    return a.metadata.labels == b.metadata.labels &&
           a.metadata.deletion_timestamp == b.metadata.deletion_timestamp && a.spec == b.spec &&
           a.status == b.status;
  };
  if (const auto* node = api::As<api::Node>(after)) {
    const auto* old = api::As<api::Node>(before);
    return old != nullptr && alike(*old, *node);
  }
  const auto* pod = api::As<api::Pod>(after);
  const auto* old = api::As<api::Pod>(before);
  return pod != nullptr && old != nullptr && alike(*old, *pod);
}

}  // namespace

Result<std::vector<informers::InformerEvent>> ReadLiveCluster(const client::ServerConfig& server,
                                                              const Features& features,
                                                              uint64_t seed,
                                                              const Patience& patience,
                                                              bool all_kinds) {
  const base::RealClock clock;
  base::Inbox<News> inbox;
  informers::InformerOptions how;
  how.on_watch = [&inbox](informers::Kind kind, const client::ApiError* error) {
    if (error != nullptr) inbox.Push(Refusal{kind, *error});
  };
  how.tells_absent = !all_kinds;
  const std::vector<informers::Kind> kinds =
      all_kinds ? informers::AllKinds() : informers::WatchedKinds(features);
  Reading reading(kinds, clock, patience);
  {
    const auto watches = Watches::Start(
        server, kinds, seed, clock,
        [&inbox](informers::InformerEvent event) { inbox.Push(std::move(event)); }, how);
    if (!watches) return Fail(watches.error());
    Await(inbox, reading);
  }
  return std::move(reading).Finish(server.cluster.server);
}

namespace {

using Each = std::function<Result<void>(const ConfigValue& item)>;

Result<void> ForEachListed(const client::ServerConfig& server, const std::string& path,
                           Duration patience, const Each& each) {
  const auto answer = Get(server, path, "application/json", patience);
  if (!answer) return Fail(InKubectlsWords(answer.error(), server.cluster.server));
  const auto list = documents::ParseJson(answer->body, path);
  if (!list) return Fail(list.error());
  const ConfigValue* items = list->Find("items");
  if (items == nullptr || items->list() == nullptr) return {};
  for (const ConfigValue& item : *items->list()) {
    if (auto read = each(item); !read) return Fail(read.error().Within(path));
  }
  return {};
}

api::TypeMeta TypeOf(const WorkloadKind& kind) {
  return {.api_version = std::string(kind.api_version), .kind = std::string(kind.kind)};
}

}  // namespace

Result<void> ReadAdmissionObjects(const client::ServerConfig& server,
                                  const simulator::AdmissionKind& kind, Duration patience,
                                  simulator::AdmissionObjects& out) {
  return ForEachListed(server, std::string(kind.path), patience, [&](const ConfigValue& item) {
    return simulator::ReadAdmissionObject(item, kind.kind, "", out);
  });
}

Result<void> ReadIdleWorkloads(const client::ServerConfig& server, const WorkloadKind& kind,
                               Duration patience, std::vector<simulator::PodController>& out) {
  return ForEachListed(server, base::Concat(kind.root, "/", kind.resource), patience,
                       [&](const ConfigValue& item) -> Result<void> {
                         if (!simulator::HasNoReplicas(item)) return {};
                         if (auto stored = simulator::ReadStored(item, TypeOf(kind)))
                           out.push_back(*std::move(stored));
                         return {};
                       });
}

Result<std::optional<simulator::PodController>> FindWorkload(const client::ServerConfig& server,
                                                             const questions::Scale& scale,
                                                             Duration patience) {
  const auto kind = std::ranges::find(kWorkloadKinds, scale.kind, &WorkloadKind::kind);
  if (kind == kWorkloadKinds.end()) return std::nullopt;
  const std::string path = base::Concat(kind->root, "/namespaces/", base::Escape(scale.namespace_),
                                        "/", kind->resource, "/", base::Escape(scale.name));
  const auto answer = Get(server, path, "application/json", patience);
  if (!answer && answer.error().code == 404) return std::nullopt;
  if (!answer) return Fail(answer.error().message);
  const auto object = documents::ParseJson(answer->body, path);
  if (!object) return Fail(object.error());
  return simulator::ReadStored(*object, TypeOf(*kind));
}

std::string PhaseOfEndedPod(const client::ServerConfig& server, std::string_view key,
                            Duration patience) {
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos) return "";
  const std::string path = base::Concat("/api/v1/namespaces/", base::Escape(key.substr(0, slash)),
                                        "/pods/", base::Escape(key.substr(slash + 1)));
  const auto answer = Get(server, path, "application/json", patience);
  if (!answer) return "";
  const auto pod = documents::ParseJson(answer->body, path);
  const ConfigValue* status = pod && pod->map() != nullptr ? pod->Find("status") : nullptr;
  const ConfigValue* phase =
      status == nullptr || status->map() == nullptr ? nullptr : status->Find("phase");
  if (phase == nullptr || phase->string() == nullptr) return "";
  const std::string& text = *phase->string();
  return text == "Succeeded" || text == "Failed" ? text : "";
}

struct LiveCluster::Impl {
  // Written on the client's thread, also after the cluster has been given up.
  struct Shared {
    base::Inbox<News> inbox;  // until all lists are in
    std::atomic<bool> listing = true;
    std::atomic<bool> watching = true;
    base::Mutex mutex;
    base::CondVar changed;
    uint64_t changes BERTH_GUARDED_BY(mutex) = 0;
    std::map<informers::Kind, std::map<std::string, api::ObjectPtr>> objects
        BERTH_GUARDED_BY(mutex);
    std::map<std::pair<informers::Kind, std::string>, std::string> undecodable
        BERTH_GUARDED_BY(mutex);  // why
    std::string server;
    Say say;
    std::set<informers::Kind> down;  // the kinds that the server does not answer for

    void Take(informers::InformerEvent event);
    void OnWatch(informers::Kind kind, const client::ApiError* error);
  };

  base::RealClock clock;
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  std::optional<Watches> watches;
};

void LiveCluster::Impl::Shared::Take(informers::InformerEvent event) {
  if (event.type == informers::EventType::kSynced) {
    if (listing) inbox.Push(std::move(event));
    return;
  }
  const bool gone = event.type == informers::EventType::kDeleted;
  const api::ObjectMeta* meta = api::MetaOf(gone ? event.old_object : event.new_object);
  std::string key = event.undecodable ? event.undecodable->key : meta->Key();
  const base::MutexLock lock(mutex);
  if (event.type == informers::EventType::kUndecodable) {
    std::string& why = undecodable[{event.kind, key}];
    if (why == event.undecodable->error) return;
    why = event.undecodable->error;
    if (!listing) {
      ++changes;
      changed.NotifyAll();
    }
    return;  // the object is as it was
  }
  undecodable.erase({event.kind, key});
  if (meta == nullptr) return;
  if (!listing && !SayTheSame(event.old_object, event.new_object)) {
    ++changes;
    changed.NotifyAll();
  }
  if (gone) {
    objects[event.kind].erase(key);
  } else {
    objects[event.kind].insert_or_assign(std::move(key), std::move(event.new_object));
  }
}

void LiveCluster::Impl::Shared::OnWatch(informers::Kind kind, const client::ApiError* error) {
  if (listing) {
    if (error != nullptr) inbox.Push(Refusal{kind, *error});
  } else if (error == nullptr) {
    if (down.erase(kind) > 0 && down.empty()) say("The cluster is watched again.");
  } else if (down.insert(kind).second && down.size() == 1) {
    say("Warning: the cluster cannot be watched, until the server answers again: " +
        InKubectlsWords(*error, server));
  }
}

LiveCluster::LiveCluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LiveCluster::~LiveCluster() = default;

Result<std::unique_ptr<LiveCluster>> LiveCluster::Open(const client::ServerConfig& server,
                                                       const Features& features, uint64_t seed,
                                                       const Patience& patience, Say say) {
  auto impl = std::make_unique<Impl>();
  const std::shared_ptr<Impl::Shared> shared = impl->shared;
  shared->server = server.cluster.server;
  shared->say = std::move(say);
  informers::InformerOptions how;
  how.on_watch = [shared](informers::Kind kind, const client::ApiError* error) {
    shared->OnWatch(kind, error);
  };
  const std::vector<informers::Kind> kinds = informers::WatchedKinds(features);
  Reading reading(kinds, impl->clock, patience);
  auto watches = Watches::Start(
      server, kinds, seed, impl->clock,
      [shared](informers::InformerEvent event) { shared->Take(std::move(event)); }, how);
  if (!watches) return Fail(watches.error());
  impl->watches.emplace(*std::move(watches));
  Await(shared->inbox, reading);
  shared->listing = false;
  if (auto read = std::move(reading).Finish(server.cluster.server); !read) {
    return Fail(read.error());
  }
  return std::unique_ptr<LiveCluster>(new LiveCluster(std::move(impl)));
}

ui::Following LiveCluster::following() const {
  // What the informers' thread says comes with the next question.
  impl_->watches->Post([shared = impl_->shared](const informers::Informers& informers) {
    shared->watching = informers.Stats(informers::Kind::kPod).watching &&
                       informers.Stats(informers::Kind::kNode).watching;
  });
  const base::MutexLock lock(impl_->shared->mutex);
  return {.changes = impl_->shared->changes, .reached = impl_->shared->watching};
}

std::vector<api::ObjectPtr> LiveCluster::Objects() const {
  std::vector<api::ObjectPtr> all;
  const base::MutexLock lock(impl_->shared->mutex);
  const auto add = [&](const auto& by_key) {
    for (const auto& [key, object] : by_key) all.push_back(object);
  };
  for (const auto& [kind, by_key] : impl_->shared->objects) {
    if (kind != informers::Kind::kPod) add(by_key);
  }
  if (const auto pods = impl_->shared->objects.find(informers::Kind::kPod);
      pods != impl_->shared->objects.end()) {
    const auto first = static_cast<std::ptrdiff_t>(all.size());
    add(pods->second);
    std::ranges::stable_sort(
        all.begin() + first, all.end(), simulator::CreatedBefore,
        [](const api::ObjectPtr& pod) -> const api::ObjectMeta& { return *api::MetaOf(pod); });
  }
  return all;
}

std::vector<std::string> LiveCluster::Undecodable() const {
  std::vector<std::string> texts;
  const base::MutexLock lock(impl_->shared->mutex);
  for (const auto& [of, why] : impl_->shared->undecodable) {
    texts.push_back(std::string(informers::InfoOf(of.first).resource) + " " + of.second +
                    " cannot be read: " + why);
  }
  return texts;
}

void LiveCluster::AwaitChange(Duration longest) const {
  const Time end = impl_->clock.Now() + longest;
  const base::MutexLock lock(impl_->shared->mutex);
  const uint64_t before = impl_->shared->changes;
  while (impl_->shared->changes == before) {
    const Duration left = end - impl_->clock.Now();
    if (left <= Duration::zero()) return;
    impl_->shared->changed.WaitFor(impl_->shared->mutex, left);
  }
}

std::vector<std::shared_ptr<const api::Pod>> LiveCluster::PodsOf(
    std::string_view pod_namespace) const {
  std::vector<std::shared_ptr<const api::Pod>> found;
  const std::string prefix = std::string(pod_namespace) + '/';
  const base::MutexLock lock(impl_->shared->mutex);
  const auto pods = impl_->shared->objects.find(informers::Kind::kPod);
  if (pods == impl_->shared->objects.end()) return found;
  for (auto it = pods->second.lower_bound(prefix);
       it != pods->second.end() && it->first.starts_with(prefix); ++it) {
    found.push_back(std::get<std::shared_ptr<const api::Pod>>(it->second));
  }
  return found;
}

}  // namespace berth::app
