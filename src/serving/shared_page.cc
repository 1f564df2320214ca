// SPDX-License-Identifier: Apache-2.0
#include "src/serving/shared_page.h"

#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "src/base/mutex.h"
#include "src/base/thread.h"
#include "src/serving/gzip.h"

namespace berth::serving {
namespace {

struct PageReader {
  Respond respond;
  Response response;
  bool compressed = false;
};
using PageReaders = std::list<std::shared_ptr<PageReader>>;

void RunPageTasks(PageThread::Tasks& tasks, PageThread::Priority priority) {
  if (priority == PageThread::Priority::kLowest) base::LowerThreadPriority();
  std::vector<PageThread::Task> arrived;
  while (true) {
    tasks.Drain(arrived, std::nullopt);
    for (const PageThread::Task& task : arrived) {
      if (!task) return;
      task();
    }
  }
}

}  // namespace

PageThread::PageThread(std::string name, Priority priority)
    : name_(std::move(name)), priority_(priority) {}

PageThread::~PageThread() {
  tasks_->Push(Task());
  thread_.Join();
}

void PageThread::Start() {
  if (std::exchange(started_, true)) return;
  thread_ = base::NamedThread(
      name_, [tasks = tasks_, priority = priority_] { RunPageTasks(*tasks, priority); });
}

// Outlives the page where what is collected comes late.
struct SharedPage::State : std::enable_shared_from_this<SharedPage::State> {
  State(std::shared_ptr<PageThread::Tasks> of_thread, Collect how)
      : tasks(std::move(of_thread)), collect(std::move(how)) {}

  void BeginUnlessBusy() {
    {
      base::MutexLock lock(mutex);
      if (busy || waiting.empty()) return;
      busy = true;
      readers = std::exchange(waiting, {});
    }
    collect([weak = weak_from_this(), to = tasks](Make make) {
      to->Push([weak, make = std::move(make)] {
        if (const auto state = weak.lock()) state->MakeOnce(make);
      });
    });
  }

  void Leave(const std::shared_ptr<PageReader>& reader) {
    base::MutexLock lock(mutex);
    waiting.remove(reader);
    readers.remove(reader);
  }

  // On the thread for pages.
  void MakeOnce(const Make& make) {
    std::shared_ptr<const std::string> plain;
    std::shared_ptr<const std::string> compressed;
    // Those who have gone meanwhile leave the list, and where none is left nothing is made.
    while (const std::shared_ptr<PageReader> reader = NextReader()) {
      if (plain == nullptr) plain = std::make_shared<const std::string>(make());
      const bool compresses = reader->compressed && plain->size() >= kWorthwhileBytes;
      if (compresses && compressed == nullptr) {
        compressed = std::make_shared<const std::string>(Gzip(*plain));
      }
      if (compresses) reader->response.headers.emplace_back("Content-Encoding", "gzip");
      reader->response.shared_body = compresses ? compressed : plain;
      reader->respond(std::move(reader->response));
    }
    {
      base::MutexLock lock(mutex);
      busy = false;
    }
    BeginUnlessBusy();
  }

  std::shared_ptr<PageReader> NextReader() {
    base::MutexLock lock(mutex);
    if (readers.empty()) return nullptr;
    auto reader = std::move(readers.front());
    readers.pop_front();
    return reader;
  }

  const std::shared_ptr<PageThread::Tasks> tasks;
  const Collect collect;
  base::Mutex mutex;
  PageReaders waiting BERTH_GUARDED_BY(mutex);  // for the next page
  PageReaders readers BERTH_GUARDED_BY(mutex);  // of the one that is made
  bool busy BERTH_GUARDED_BY(mutex) = false;
};

SharedPage::SharedPage(std::shared_ptr<PageThread> thread, Collect collect)
    : thread_(std::move(thread)),
      state_(std::make_shared<State>(thread_->tasks(), std::move(collect))) {}

SharedPage::~SharedPage() = default;

void SharedPage::Serve(const RequestPtr& request, const Respond& respond, Response response) {
  thread_->Start();
  auto reader = std::make_shared<PageReader>(PageReader{respond, std::move(response), false});
  reader->compressed = TakesGzip(*request);
  reader->response.headers.emplace_back("Vary", "Accept-Encoding");
  {
    base::MutexLock lock(state_->mutex);
    state_->waiting.push_back(reader);
  }
  request->departure->OnGone([state = std::weak_ptr(state_), gone = std::weak_ptr(reader)] {
    const auto page = state.lock();
    const auto found = gone.lock();
    if (page != nullptr && found != nullptr) page->Leave(found);
  });
  state_->BeginUnlessBusy();
}

}  // namespace berth::serving
