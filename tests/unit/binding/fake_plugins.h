// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "berth/in_tree/points.h"
#include "src/framework/profile.h"

namespace berth::test {

// One call of an asynchronous plugin that the test completes.
struct PluginCall {
  std::string pod_uid;
  std::string node_name;
  CycleState* state = nullptr;
  Cancellation* cancellation = nullptr;
  AsyncDone done;
  bool heard_cancel = false;

  void Finish(AsyncStatus status = {}) { std::exchange(done, nullptr)(std::move(status)); }
};

// What the asynchronous plugins below have in common: they note their calls, and answer at once
// where told to.
class AsyncCalls {
 public:
  // Answer every call with this, within it.
  void AnswerAtOnce(AsyncStatus status) {
    at_once_ = true;
    answer_ = std::move(status);
  }
  // Lose the completion of every call.
  void LoseCompletions() { lose_ = true; }
  // Throw from every call, once it has been noted.
  void Throw(std::string what) { throws_ = std::move(what); }
  // End with an error as soon as cancelled, as a well-behaved plugin does.
  void ObeyCancel() { obey_ = true; }

  std::vector<std::unique_ptr<PluginCall>> calls;

 protected:
  void Take(CycleState& state, const PodInfo& pod, std::string_view node_name,
            Cancellation& cancellation, AsyncDone done) {
    calls.push_back(std::make_unique<PluginCall>());
    PluginCall& call = *calls.back();
    call.pod_uid = pod.pod->metadata.uid;
    call.node_name = node_name;
    call.state = &state;
    call.cancellation = &cancellation;
    if (!throws_.empty()) throw std::runtime_error(throws_);
    if (lose_) return;
    if (at_once_) {
      done(answer_);
      return;
    }
    call.done = std::move(done);
    cancellation.OnCancel([this, &call] {
      call.heard_cancel = true;
      if (obey_ && call.done) call.Finish({Code::kError, "context canceled"});
    });
  }

 private:
  bool at_once_ = false;
  bool lose_ = false;
  bool obey_ = false;
  std::string throws_;
  AsyncStatus answer_;
};

class FakePreBind final : public PreBindPlugin, public AsyncCalls {
 public:
  explicit FakePreBind(std::string name, bool parallel = false)
      : name_(std::move(name)), parallel_(parallel) {}
  framework::Entry<PreBindPlugin> entry() { return {.plugin = this, .name = name_}; }
  Status PreBindPreFlight(CycleState&, const PodInfo&, std::string_view) override {
    return Status::Success();
  }
  bool AllowParallel() const override { return parallel_; }
  void PreBind(CycleState& state, const PodInfo& pod, std::string_view node_name,
               Cancellation& cancellation, AsyncDone done) override {
    Take(state, pod, node_name, cancellation, std::move(done));
  }

 private:
  std::string name_;
  bool parallel_;
};

class FakeBind final : public BindPlugin, public AsyncCalls {
 public:
  explicit FakeBind(std::string name) : name_(std::move(name)) {}
  framework::Entry<BindPlugin> entry() { return {.plugin = this, .name = name_}; }
  void Bind(CycleState& state, const PodInfo& pod, std::string_view node_name,
            Cancellation& cancellation, AsyncDone done) override {
    Take(state, pod, node_name, cancellation, std::move(done));
  }

 private:
  std::string name_;
};

class FakePostBind final : public PostBindPlugin {
 public:
  framework::Entry<PostBindPlugin> entry() { return {.plugin = this, .name = "Post"}; }
  void PostBind(CycleState&, const PodInfo& pod, std::string_view node_name) override {
    bound.push_back(pod.pod->metadata.name + " on " + std::string(node_name));
    if (throws) throw std::runtime_error("out of order");
  }

  bool throws = false;

  std::vector<std::string> bound;
};

}  // namespace berth::test
