// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "berth/result.h"
#include "src/base/event_loop.h"
#include "src/base/thread.h"
#include "src/serving/http_server.h"
#include "src/serving/loopback_guard.h"
#include "src/serving/router.h"

namespace berth::ui {

// Serves the page's files, and under /api/ what a router answers, on 127.0.0.1 alone and to those
// alone who know the token in the address; on a thread of its own, "berth-page". No answer may be
// kept by a browser, framed or read by another site's page, and the page itself may load nothing
// from elsewhere.
//
// Thread safety: one owner.
class PageServer {
 public:
  // `port` 0: any free one. `clock` and `router` outlive the server; the router's handlers run on
  // its thread and may answer from any, as long as the server is there. Errors: the port is taken.
  static Result<std::unique_ptr<PageServer>> Start(int port, const Clock& clock,
                                                   const serving::Router& api);
  // Ends at once.
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  int port() const { return http_->port(); }
  // "http://127.0.0.1:4321/?token=..."
  const std::string& address() const { return address_; }

 private:
  PageServer(const Clock& clock, const serving::Router& api);
  void Serve(const serving::RequestPtr& request, const serving::Respond& respond) const;

  base::EventLoop loop_;
  const serving::Router& api_;
  serving::Router files_;
  std::unique_ptr<serving::HttpServer> http_;
  std::unique_ptr<const serving::LoopbackGuard> guard_;
  std::string address_;
  base::NamedThread thread_;
};

}  // namespace berth::ui
