// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "src/app/metrics_setup.h"
#include "src/app/version.h"
#include "src/base/logging.h"

namespace berth::app {
namespace {

std::string Hostname() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::Make(DaemonOptions options,
                                             const std::vector<PluginRegistration>& registry) {
  const config::ClientConnection& connection = options.configuration.client_connection;
  auto server = client::FindServer(connection.kubeconfig, options.master);
  if (!server) return Fail(server.error());

  std::unique_ptr<Daemon> daemon(new Daemon(std::move(options.metrics)));
  Random seeds(options.seed);
  client::ClientOptions client_options;
  client_options.server = std::move(*server);
  client_options.qps = connection.qps;
  client_options.burst = connection.burst;
  client_options.user_agent = client::UserAgent(kVersion, kKubernetesVersion, "scheduler");
  client_options.seed = seeds.Next();
  client_options.observer = &daemon->request_metrics_;
  auto client = client::CurlClient::Make(std::move(client_options), daemon->clock_);
  if (!client) return Fail(client.error());
  daemon->client_ = std::move(*client);

  scheduler::SchedulerOptions scheduler_options;
  const bool json = connection.content_type == "application/json";
  scheduler_options.configuration = std::move(options.configuration);
  scheduler_options.features = options.features;
  scheduler_options.pod_max_in_unschedulable_pods_duration =
      options.pod_max_in_unschedulable_pods_duration;
  scheduler_options.seed = seeds.Next();
  scheduler_options.hostname = Hostname();
  auto scheduler = scheduler::Scheduler::Make(std::move(scheduler_options), registry,
                                              daemon->clock_, *daemon->client_, daemon->metrics_);
  if (!scheduler) {
    const Error error = scheduler.error().Within("initializing profiles");
    return Fail(options.config_file.empty() ? error : error.Within(options.config_file));
  }
  daemon->scheduler_ = std::move(*scheduler);

  daemon->informers_ = std::make_unique<informers::Informers>(
      *daemon->client_, daemon->clock_, seeds.Next(),
      [target = daemon->scheduler_.get()](informers::InformerEvent event) {
        target->PostFromExecutor(std::move(event));
      },
      informers::InformerOptions{json});
  ReadBeforeExposition(daemon->metrics_, daemon->client_->executor(), *daemon->informers_);
  return daemon;
}

Daemon::~Daemon() {
  if (scheduler_ != nullptr) scheduler_->Stop(Duration::zero());
  thread_.Join();
  if (client_ == nullptr) return;
  if (informers_ != nullptr) informers_->Stop();
  client_->Close();
  // Tasks and timers of both may still be in line on the client's thread, so both end there.
  client_->executor().Post(
      [scheduler = std::shared_ptr<scheduler::Scheduler>(std::move(scheduler_)),
       informers = std::shared_ptr<informers::Informers>(std::move(informers_))] {});
  client_.reset();
}

void Daemon::Start(std::function<void()> finished) {
  thread_ = base::NamedThread("berth-sched", [this, finished = std::move(finished)] {
    scheduler_->Run();
    finished();
  });
  informers_->Start(informers::AllKinds());
}

void Daemon::Stop(Duration patience) { scheduler_->Stop(patience); }

}  // namespace berth::app
