// SPDX-License-Identifier: Apache-2.0
#include "src/informers/informers.h"

#include <chrono>
#include <map>
#include <utility>

#include "berth/random.h"
#include "src/base/logging.h"
#include "src/informers/reflector.h"

namespace berth::informers {
namespace {

// Events that a resumed watch begins with follow its head at once, but nothing marks the last.
constexpr Duration kReplayed = std::chrono::milliseconds(100);
// A kind that the server no longer serves, or permits, is no reason to do nothing.
constexpr Duration kLongestCatchUp = std::chrono::seconds(10);

}  // namespace

struct Informers::Impl : std::enable_shared_from_this<Impl> {
  client::ApiClient& api;
  const Clock& clock;
  Random random;
  EventSink sink;
  const InformerOptions options;
  // Executor's thread.
  const std::shared_ptr<ServerVersions> versions = std::make_shared<ServerVersions>();
  std::map<Kind, std::shared_ptr<Reflector>> reflectors;
  bool stopped = false;
  EventSink follower;  // may be empty

  Impl(client::ApiClient& an_api, const Clock& a_clock, uint64_t seed, EventSink a_sink,
       InformerOptions some_options)
      : api(an_api),
        clock(a_clock),
        random(seed),
        sink(std::move(a_sink)),
        options(std::move(some_options)) {}

  void Start(Kind kind) {
    if (stopped || reflectors.contains(kind)) return;
    const auto tell = [weak = weak_from_this(), to = sink](InformerEvent event) {
      if (const auto impl = weak.lock()) impl->TellFollower(event);
      to(std::move(event));
    };
    auto reflector = std::make_shared<Reflector>(api, clock, random.Next(), InfoOf(kind), tell,
                                                 options, versions);
    reflectors.emplace(kind, reflector);
    reflector->Start();
  }
  void TellFollower(const InformerEvent& event) const {
    if (follower && event.type != EventType::kSynced) follower(event);
  }
  void Follow(const std::vector<Kind>& kinds, EventSink to) {
    follower = std::move(to);
    for (const Kind kind : kinds) {
      InformerEvent event;
      event.kind = kind;
      if (const auto found = reflectors.find(kind); found != reflectors.end()) {
        for (api::ObjectPtr& object : found->second->Objects()) {
          event.new_object = std::move(object);
          follower(event);
        }
      }
      follower({kind, EventType::kSynced, {}, {}, {}});
    }
  }
  void CatchUp(std::function<void()> done) {
    if (stopped) return;
    const auto tell = [weak = weak_from_this(),
                       done = std::make_shared<std::function<void()>>(std::move(done))] {
      const auto impl = weak.lock();
      if (impl == nullptr || impl->stopped || *done == nullptr) return;
      std::exchange(*done, nullptr)();
    };
    // One more, so that it cannot reach zero within the loop.
    const auto left = std::make_shared<size_t>(reflectors.size() + 1);
    const auto one_done = [executor = &api.executor(), left, tell] {
      if (--*left == 0) executor->PostAfter(kReplayed, tell);
    };
    for (const auto& [kind, reflector] : reflectors) reflector->CatchUp(one_done);
    one_done();
    api.executor().PostAfter(kLongestCatchUp, [left, tell] {
      if (*left > 0) {
        base::LogWarning("Going on with watches that are down", {{"watches", *left}});
      }
      tell();
    });
  }
  void Stop() {
    stopped = true;
    for (const auto& [kind, reflector] : reflectors) reflector->Stop();
  }
};

Informers::Informers(client::ApiClient& api, const Clock& clock, uint64_t seed, EventSink sink,
                     const InformerOptions& options)
    : impl_(std::make_shared<Impl>(api, clock, seed, std::move(sink), options)) {}

Informers::~Informers() { impl_->Stop(); }

void Informers::Start(std::vector<Kind> kinds) {
  impl_->api.executor().Post([weak = std::weak_ptr(impl_), kinds = std::move(kinds)] {
    const auto impl = weak.lock();
    if (impl == nullptr) return;
    for (const Kind kind : kinds) impl->Start(kind);
  });
}

void Informers::CatchUp(std::function<void()> done) {
  impl_->api.executor().Post([weak = std::weak_ptr(impl_), done = std::move(done)]() mutable {
    if (const auto impl = weak.lock()) impl->CatchUp(std::move(done));
  });
}

void Informers::Stop() {
  impl_->api.executor().Post([weak = std::weak_ptr(impl_)] {
    if (const auto impl = weak.lock()) impl->Stop();
  });
}

void Informers::CollectObjects(Kind kind, OnObjects done) const {
  impl_->api.executor().Post([weak = std::weak_ptr(impl_), kind, done = std::move(done)] {
    const auto impl = weak.lock();
    if (impl == nullptr) return;
    const auto found = impl->reflectors.find(kind);
    done(found == impl->reflectors.end() ? std::vector<api::ObjectPtr>{}
                                         : found->second->Objects());
  });
}

void Informers::Follow(std::vector<Kind> kinds, EventSink sink) const {
  impl_->api.executor().Post(
      [weak = std::weak_ptr(impl_), kinds = std::move(kinds), sink = std::move(sink)]() mutable {
        if (const auto impl = weak.lock()) impl->Follow(kinds, std::move(sink));
      });
}

void Informers::Unfollow() const {
  impl_->api.executor().Post([weak = std::weak_ptr(impl_)] {
    if (const auto impl = weak.lock()) impl->follower = nullptr;
  });
}

InformerStats Informers::Stats(Kind kind) const {
  const auto found = impl_->reflectors.find(kind);
  return found == impl_->reflectors.end() ? InformerStats{} : found->second->stats();
}

}  // namespace berth::informers
