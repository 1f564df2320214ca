// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "src/base/inbox.h"
#include "src/base/thread.h"
#include "src/serving/http.h"

namespace berth::serving {

// Where pages are made, one after the other, away from the thread that answers probes. The thread
// is there from the first page on.
//
// Thread safety: one owner, which destroys it on another thread; tasks() may be posted to from any.
class PageThread {
 public:
  using Task = std::function<void()>;
  // The lowest: for pages that may wait, and that hold no lock that others want.
  enum class Priority { kOrdinary, kLowest };

  // `name` is what the operating system shows, at most 15 bytes.
  PageThread(std::string name, Priority priority);
  // Waits for the task under way; later ones are not run.
  ~PageThread();
  PageThread(const PageThread&) = delete;
  PageThread& operator=(const PageThread&) = delete;

  // Does nothing where it has started.
  void Start();
  // May be posted to when this object has gone, too.
  using Tasks = base::Inbox<Task>;
  const std::shared_ptr<Tasks>& tasks() const { return tasks_; }

 private:
  const std::string name_;
  const Priority priority_;
  const std::shared_ptr<Tasks> tasks_ = std::make_shared<Tasks>();  // an empty one: the end
  base::NamedThread thread_;
  bool started_ = false;
};

// A page that takes long to make. It is made on a thread for pages; never twice at a time, and once
// for all who asked before it was begun. They share its bytes. Who asks while it is made waits for
// the next, so that no answer is older than its request.
//
// Thread safety: Serve() on the server's thread; one owner. It and its thread are destroyed before
// that server's loop, and on none of the threads that collect. What the page is made of may be used
// until the thread has gone.
class SharedPage {
 public:
  // Makes the text, on the thread for pages.
  using Make = std::function<std::string()>;
  // Finds what the page is made of; calls `made_by` at most once, from any thread, now or later.
  using Collect = std::function<void(std::function<void(Make)> made_by)>;

  SharedPage(std::shared_ptr<PageThread> thread, Collect collect);
  ~SharedPage();
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;

  // Answers with `response`, whose body will be the page, compressed for a client that takes that
  // where there is enough of it for that to pay.
  void Serve(const RequestPtr& request, const Respond& respond, Response response);

 private:
  struct State;
  std::shared_ptr<PageThread> thread_;
  std::shared_ptr<State> state_;
};

}  // namespace berth::serving
