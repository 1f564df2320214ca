// SPDX-License-Identifier: Apache-2.0
#include "src/election/leader_elector.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "berth/random.h"
#include "src/api/lease.h"
#include "src/api/writes.h"
#include "src/base/logging.h"
#include "src/base/text.h"

namespace berth::election {
namespace {

// What metrics and messages call the lease, whatever its name: as kube-scheduler does, so that its
// alerts find it.
constexpr std::string_view kElectionName = "kube-scheduler";

// The requests about one Lease, one at a time. They count against no rate and have a connection
// to themselves.
//
// Thread safety: the executor's thread.
class LeaseClient {
 public:
  using OnLease = std::function<void(tl::expected<api::LeaseDocument, client::ApiError>)>;

  // `api` must outlive the client. `timeout` is that of each request.
  LeaseClient(client::ApiClient& api, std::string lease_namespace, std::string name,
              Duration timeout)
      : api_(api),
        namespace_(std::move(lease_namespace)),
        name_(std::move(name)),
        timeout_(timeout) {}

  std::string Describe() const { return namespace_ + "/" + name_; }

  // `done` is called once, unless Cancel() or another request came first, with the Lease as the
  // server has it. An answer that cannot be read is an error without a code.
  void Get(OnLease done);
  void Create(const api::LeaseRecord& record, OnLease done);
  // Replaces `lease` if it is still the newest version.
  void Update(const api::LeaseDocument& lease, const api::LeaseRecord& record, OnLease done);
  // Forgets the request under way; it may be executed all the same.
  void Cancel();

  // Writes an event about the lease. Best effort: what comes of it is only logged.
  void RecordEvent(const api::LeaseDocument& lease, const std::string& component,
                   const std::string& message, Time now);

 private:
  std::string LeasesPath() const;  // of the namespace
  std::string LeasePath() const;
  void Send(client::Request request, OnLease done);

  client::ApiClient& api_;
  const std::string namespace_;
  const std::string name_;
  const Duration timeout_;
  // The request under way holds the other end.
  std::shared_ptr<OnLease> waiting_;
  std::shared_ptr<client::Call> call_;
};

using client::ApiError;

std::string LeaseClient::LeasesPath() const {
  return "/apis/coordination.k8s.io/v1/namespaces/" + base::Escape(namespace_) + "/leases";
}

std::string LeaseClient::LeasePath() const { return LeasesPath() + "/" + base::Escape(name_); }

void LeaseClient::Get(OnLease done) {
  client::Request request;
  request.verb = client::Verb::kGet;
  request.path = LeasePath();
  Send(std::move(request), std::move(done));
}

void LeaseClient::Create(const api::LeaseRecord& record, OnLease done) {
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.path = LeasesPath();
  request.body = api::NewLeaseBody(namespace_, name_, record);
  Send(std::move(request), std::move(done));
}

void LeaseClient::Update(const api::LeaseDocument& lease, const api::LeaseRecord& record,
                         OnLease done) {
  client::Request request;
  request.verb = client::Verb::kUpdate;
  request.path = LeasePath();
  request.body = api::LeaseBody(lease, record);
  Send(std::move(request), std::move(done));
}

void LeaseClient::Send(client::Request request, OnLease done) {
  Cancel();
  request.priority = client::Priority::kUnlimited;
  request.content_type = api::kJsonContentType;
  request.timeout = timeout_;
  // The caller tries again in its own time.
  request.max_retries = 0;
  waiting_ = std::make_shared<OnLease>(std::move(done));
  call_ = api_.Send(std::move(request),
                    [this, weak = std::weak_ptr(waiting_)](const client::ResponseResult& result) {
                      const auto waiting = weak.lock();
                      if (waiting == nullptr) return;
                      waiting_ = nullptr;
                      call_ = nullptr;
                      if (!result) {
                        (*waiting)(tl::unexpected(result.error()));
                        return;
                      }
                      auto lease = api::ReadLease(result->body);
                      if (!lease) {
                        ApiError error;
                        error.message = lease.error().message;
                        (*waiting)(tl::unexpected(std::move(error)));
                        return;
                      }
                      (*waiting)(std::move(*lease));
                    });
}

void LeaseClient::Cancel() {
  waiting_ = nullptr;
  if (const auto call = std::exchange(call_, nullptr)) call->Cancel();
}

void LeaseClient::RecordEvent(const api::LeaseDocument& lease, const std::string& component,
                              const std::string& message, Time now) {
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.priority = client::Priority::kEvent;
  request.path = "/api/v1/namespaces/" + base::Escape(namespace_) + "/events";
  request.content_type = api::kJsonContentType;
  request.body = api::LeaseEventBody(namespace_, name_, lease, component, message, now);
  api_.Send(std::move(request), [](const client::ResponseResult& result) {
    if (result) return;
    base::LogV(2, "Unable to write event about the lease", {{"err", result.error().ToString()}});
  });
}

using client::ApiError;
using LeaseResult = tl::expected<api::LeaseDocument, ApiError>;
using metrics::Metric;

constexpr double kJitterFactor = 1.2;

Duration Times(Duration duration, double factor) {
  return Duration(static_cast<Duration::rep>(static_cast<double>(duration.count()) * factor));
}

// A lease carries whole seconds.
int32_t LeaseSeconds(const config::LeaderElection& config) {
  return static_cast<int32_t>(
      std::chrono::duration_cast<std::chrono::seconds>(config.lease_duration).count());
}

Duration RequestTimeout(const config::LeaderElection& config) {
  return std::max<Duration>(config.renew_deadline / 2, std::chrono::seconds(1));
}

}  // namespace

std::string MakeIdentity(const std::string& hostname, uint64_t high, uint64_t low) {
  return hostname + "_" + base::UuidText(high, low);
}

Result<void> CheckTimes(const config::LeaderElection& config) {
  if (config.renew_deadline <= Times(config.retry_period, kJitterFactor)) {
    return Fail("leaderElection: renewDeadline must be greater than retryPeriod*JitterFactor");
  }
  if (LeaseSeconds(config) < 1) {
    return Fail("leaderElection: leaseDuration must be at least a second");
  }
  return {};
}

class LeaderElector::Impl : public std::enable_shared_from_this<LeaderElector::Impl> {
 public:
  Impl(client::ApiClient& api, const Clock& clock, metrics::Registry& metrics,
       ElectionOptions options, ElectionCallbacks callbacks);

  void Start();
  void Stop(std::function<void()> done);
  // Runs `task` on the executor's thread, unless the elector is gone by then.
  void Post(std::function<void(Impl&)> task) {
    api_.executor().Post([weak = weak_from_this(), task = std::move(task)] {
      if (const auto self = weak.lock()) task(*self);
    });
  }

  bool leading() const { return leading_; }
  bool MayWrite() const { return clock_.Now() < write_until_.load(); }
  std::optional<std::string> Check(Duration tolerance) const;

 private:
  enum class State { kIdle, kAcquiring, kLeading, kReleasing, kEnded };
  using Timer = std::optional<base::Executor::TimerId>;

  bool IsHolder() const { return observed_.holder_identity == options_.identity; }
  bool LeaseValid(Time now) const {
    return observed_time_ + std::chrono::seconds(observed_.lease_duration_seconds) > now;
  }
  // A record that makes this process the holder.
  api::LeaseRecord OwnRecord() const;
  std::string Note() const;
  void Observe(const api::LeaseRecord& record);
  // Our write succeeded: `lease` is what it left.
  void Accept(api::LeaseDocument lease);

  enum class Outcome { kFailed, kSucceeded };
  static Outcome OutcomeOf(const LeaseResult& result) {
    return result ? Outcome::kSucceeded : Outcome::kFailed;
  }
  // One try to acquire or to renew; ends in OnTried().
  void Try();
  void UpdateKnownLease();
  void ReadLease();
  void CreateLease();
  void OnLeaseRead(api::LeaseDocument lease);
  void UpdateReadLease(const api::LeaseDocument& lease);
  void OnTried(Outcome outcome);

  void BecomeLeader();
  void BeginRenewal();
  void OnRenewalTried(Outcome outcome);
  void OnDeadline();
  void Lose(const std::string& why);
  void StopLeading();

  void Release();
  void OnReadForRelease(const LeaseResult& lease);
  void End();

  void After(Timer& timer, Duration wait, void (Impl::*step)());
  void Cancel(Timer& timer);

  client::ApiClient& api_;
  const Clock& clock_;
  metrics::Registry& metrics_;
  const ElectionOptions options_;
  const ElectionCallbacks callbacks_;
  const metrics::SeriesId status_;

  // Executor's thread.
  LeaseClient leases_;
  Random random_;
  State state_ = State::kIdle;
  std::optional<api::LeaseDocument> lease_;  // as it was read or written last
  api::LeaseRecord observed_;
  Time observed_time_;  // when `observed_` was first seen
  Time tried_;          // when the try under way began
  Time sent_;           // when its write was sent
  Timer next_;          // the next try
  Timer deadline_;      // of renewals, or of the release
  std::function<void()> stopped_;

  std::atomic<bool> leading_ = false;
  std::atomic<Time> renewed_{Time()};
  std::atomic<Time> write_until_{Time()};
};

LeaderElector::Impl::Impl(client::ApiClient& api, const Clock& clock, metrics::Registry& metrics,
                          ElectionOptions options, ElectionCallbacks callbacks)
    : api_(api),
      clock_(clock),
      metrics_(metrics),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      status_(metrics.Intern(Metric::kLeaderElectionMasterStatus, {kElectionName})),
      leases_(api, options_.config.resource_namespace, options_.config.resource_name,
              RequestTimeout(options_.config)),
      random_(options_.seed) {}

void LeaderElector::Impl::Start() {
  if (state_ != State::kIdle) return;
  state_ = State::kAcquiring;
  base::LogInfo("Attempting to acquire leader lease...", {{"lock", leases_.Describe()}});
  Try();
}

void LeaderElector::Impl::Stop(std::function<void()> done) {
  stopped_ = std::move(done);
  leases_.Cancel();
  Cancel(next_);
  Cancel(deadline_);
  const bool led = state_ == State::kLeading;
  if (led) {
    StopLeading();
    state_ = State::kReleasing;
    // What is not given up by then runs out by itself.
    After(deadline_, options_.config.renew_deadline, &Impl::End);
    Release();
  } else {
    End();
  }
}

void LeaderElector::Impl::End() {
  leases_.Cancel();
  Cancel(next_);
  Cancel(deadline_);
  state_ = State::kEnded;
  if (const auto stopped = std::exchange(stopped_, nullptr)) stopped();
}

std::optional<std::string> LeaderElector::Impl::Check(Duration tolerance) const {
  if (!leading_) return std::nullopt;
  if (clock_.Now() - renewed_.load() <= options_.config.lease_duration + tolerance) {
    return std::nullopt;
  }
  return "failed election to renew leadership on lease " + std::string(kElectionName);
}

api::LeaseRecord LeaderElector::Impl::OwnRecord() const {
  api::LeaseRecord record;
  record.holder_identity = options_.identity;
  record.lease_duration_seconds = LeaseSeconds(options_.config);
  record.acquire_time = clock_.WallNow();
  record.renew_time = record.acquire_time;
  record.unfinished_pods = Note();
  return record;
}

// Until the work has begun, what the leader before left.
std::string LeaderElector::Impl::Note() const {
  if (state_ == State::kAcquiring) return observed_.unfinished_pods;
  return callbacks_.unfinished_pods ? callbacks_.unfinished_pods() : "";
}

void LeaderElector::Impl::Observe(const api::LeaseRecord& record) {
  if (record == observed_) return;
  observed_ = record;
  observed_time_ = clock_.Now();
}

void LeaderElector::Impl::Accept(api::LeaseDocument lease) {
  observed_ = lease.record;
  observed_time_ = clock_.Now();
  lease_ = std::move(lease);
  const config::LeaderElection& config = options_.config;
  const Duration lease_duration = std::chrono::seconds(LeaseSeconds(config));
  renewed_ = sent_;
  write_until_ = sent_ + std::min(lease_duration, (lease_duration + config.renew_deadline) / 2);
}

void LeaderElector::Impl::Try() {
  tried_ = clock_.Now();
  if (callbacks_.healthy && !callbacks_.healthy()) {
    OnTried(Outcome::kFailed);
  } else if (IsHolder() && LeaseValid(tried_) && lease_) {
    UpdateKnownLease();
  } else {
    ReadLease();
  }
}

// No other process may have written in between, so that no read is needed.
void LeaderElector::Impl::UpdateKnownLease() {
  api::LeaseRecord record = OwnRecord();
  record.acquire_time = observed_.acquire_time;
  record.lease_transitions = observed_.lease_transitions;
  sent_ = clock_.Now();
  leases_.Update(*lease_, record, [this](LeaseResult result) {
    if (result) {
      Accept(std::move(*result));
      OnTried(Outcome::kSucceeded);
      return;
    }
    base::LogV(2, "Failed to update lease optimistically, falling back to slow path",
               {{"lock", leases_.Describe()}, {"err", result.error().ToString()}});
    ReadLease();
  });
}

void LeaderElector::Impl::ReadLease() {
  leases_.Get([this](LeaseResult result) {
    if (result) {
      OnLeaseRead(std::move(*result));
    } else if (result.error().code == 404) {
      CreateLease();
    } else {
      base::LogError("Error retrieving lease lock",
                     {{"lock", leases_.Describe()}, {"err", result.error().ToString()}});
      OnTried(Outcome::kFailed);
    }
  });
}

void LeaderElector::Impl::CreateLease() {
  const api::LeaseRecord record = OwnRecord();
  sent_ = clock_.Now();
  leases_.Create(record, [this](LeaseResult result) {
    if (result) {
      Accept(std::move(*result));
    } else {
      base::LogError("Error initially creating lease lock",
                     {{"lock", leases_.Describe()}, {"err", result.error().ToString()}});
    }
    OnTried(OutcomeOf(result));
  });
}

void LeaderElector::Impl::OnLeaseRead(api::LeaseDocument lease) {
  Observe(lease.record);
  lease_ = std::move(lease);
  if (!observed_.holder_identity.empty() && !IsHolder()) {
    if (state_ == State::kLeading) {
      Lose("the lease is held by " + observed_.holder_identity);
      return;
    }
    if (LeaseValid(tried_)) {
      base::LogV(4, "Lease is held by and has not yet expired",
                 {{"lock", leases_.Describe()}, {"holder", observed_.holder_identity}});
      OnTried(Outcome::kFailed);
      return;
    }
  }
  UpdateReadLease(*lease_);
}

void LeaderElector::Impl::UpdateReadLease(const api::LeaseDocument& lease) {
  api::LeaseRecord record = OwnRecord();
  record.lease_transitions = observed_.lease_transitions;
  if (IsHolder()) {
    record.acquire_time = observed_.acquire_time;
    metrics_.Add(metrics_.Intern(Metric::kLeaderElectionSlowpath, {kElectionName}));
  } else {
    ++record.lease_transitions;
  }
  sent_ = clock_.Now();
  leases_.Update(lease, record, [this](LeaseResult result) {
    if (result) {
      Accept(std::move(*result));
    } else {
      base::LogError("Failed to update lease",
                     {{"lock", leases_.Describe()}, {"err", result.error().ToString()}});
    }
    OnTried(OutcomeOf(result));
  });
}

void LeaderElector::Impl::OnTried(Outcome outcome) {
  if (state_ == State::kLeading) {
    OnRenewalTried(outcome);
  } else if (outcome == Outcome::kSucceeded) {
    BecomeLeader();
  } else {
    base::LogV(4, "Failed to acquire lease", {{"lock", leases_.Describe()}});
    // Stretched, so that candidates do not march in step.
    After(next_, Times(options_.config.retry_period, 1 + kJitterFactor * random_.Unit()),
          &Impl::Try);
  }
}

void LeaderElector::Impl::BecomeLeader() {
  state_ = State::kLeading;
  leading_ = true;
  metrics_.Set(status_, 1);
  base::LogInfo("Successfully acquired lease",
                {{"lock", leases_.Describe()}, {"identity", options_.identity}});
  leases_.RecordEvent(*lease_, options_.component, options_.identity + " became leader",
                      clock_.WallNow());
  After(next_, options_.config.retry_period, &Impl::BeginRenewal);
  if (callbacks_.started_leading) callbacks_.started_leading(observed_.unfinished_pods);
}

void LeaderElector::Impl::BeginRenewal() {
  After(deadline_, options_.config.renew_deadline, &Impl::OnDeadline);
  Try();
}

void LeaderElector::Impl::OnRenewalTried(Outcome outcome) {
  const Duration period = options_.config.retry_period;
  if (outcome == Outcome::kSucceeded) {
    base::LogV(5, "Successfully renewed lease", {{"lock", leases_.Describe()}});
    Cancel(deadline_);
    After(next_, period, &Impl::BeginRenewal);
    return;
  }
  // At each retryPeriod, however long the failure took.
  After(next_, std::max(tried_ + period - clock_.Now(), Duration::zero()), &Impl::Try);
}

void LeaderElector::Impl::OnDeadline() { Lose("context deadline exceeded"); }

void LeaderElector::Impl::Lose(const std::string& why) {
  base::LogInfo("Failed to renew lease", {{"lock", leases_.Describe()}, {"err", why}});
  StopLeading();
  End();
  if (callbacks_.lost) callbacks_.lost();
}

void LeaderElector::Impl::StopLeading() {
  leading_ = false;
  write_until_ = Time();
  metrics_.Set(status_, 0);
  leases_.RecordEvent(*lease_, options_.component, options_.identity + " stopped leading",
                      clock_.WallNow());
}

void LeaderElector::Impl::Release() {
  leases_.Get([this](const LeaseResult& result) { OnReadForRelease(result); });
}

void LeaderElector::Impl::OnReadForRelease(const LeaseResult& lease) {
  if (!lease) {
    base::LogError("error retrieving resource lock",
                   {{"lock", leases_.Describe()}, {"err", lease.error().ToString()}});
    End();
    return;
  }
  if (lease->record.holder_identity != options_.identity) {
    End();
    return;
  }
  api::LeaseRecord record;
  record.lease_duration_seconds = 1;
  record.lease_transitions = lease->record.lease_transitions;
  record.acquire_time = clock_.WallNow();
  record.renew_time = record.acquire_time;
  record.unfinished_pods = Note();
  leases_.Update(*lease, record, [this](const LeaseResult& result) {
    if (!result && result.error().code == 409) {
      // A renewal of ours that was under way came first.
      base::LogV(4, "Conflict when releasing lease, retrying", {{"lock", leases_.Describe()}});
      Release();
      return;
    }
    if (result) {
      base::LogInfo("Released lease", {{"lock", leases_.Describe()}});
    } else {
      base::LogError("Failed to release lease",
                     {{"lock", leases_.Describe()}, {"err", result.error().ToString()}});
    }
    End();
  });
}

void LeaderElector::Impl::After(Timer& timer, Duration wait, void (Impl::*step)()) {
  Cancel(timer);
  timer = api_.executor().PostAfter(wait, [weak = weak_from_this(), &timer, step] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    timer.reset();
    (self.get()->*step)();
  });
}

void LeaderElector::Impl::Cancel(Timer& timer) {
  if (timer) api_.executor().Cancel(*timer);
  timer.reset();
}

LeaderElector::LeaderElector(client::ApiClient& api, const Clock& clock, metrics::Registry& metrics,
                             ElectionOptions options, ElectionCallbacks callbacks)
    : impl_(std::make_shared<Impl>(api, clock, metrics, std::move(options), std::move(callbacks))) {
}
LeaderElector::~LeaderElector() = default;

void LeaderElector::Start() {
  impl_->Post([](Impl& self) { self.Start(); });
}

void LeaderElector::Stop(std::function<void()> done) {
  impl_->Post([done = std::move(done)](Impl& self) { self.Stop(done); });
}

bool LeaderElector::leading() const { return impl_->leading(); }
bool LeaderElector::MayWrite() const { return impl_->MayWrite(); }
std::optional<std::string> LeaderElector::Check(Duration tolerance) const {
  return impl_->Check(tolerance);
}

}  // namespace berth::election
