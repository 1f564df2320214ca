// SPDX-License-Identifier: Apache-2.0
#include "src/serving/router.h"

#include <utility>

#include "berth/check.h"

namespace berth::serving {

void Router::Handle(std::string path, Handler handler, Takes takes) {
  const auto [found, added] = paths_.emplace(std::move(path), Methods());
  BERTH_CHECK(added, "a path is handled twice");
  if (takes == Takes::kEachMethod) {
    found->second.emplace("", std::move(handler));
    return;
  }
  found->second.emplace("GET", handler);
  found->second.emplace("HEAD", std::move(handler));
}

void Router::Answer(std::string path, std::function<Response(const Request&)> answer, Takes takes) {
  Handle(
      std::move(path),
      [answer = std::move(answer)](const RequestPtr& request, const Respond& respond) {
        respond(answer(*request));
      },
      takes);
}

void Router::HandleMethod(std::string_view path, std::string method, Handler handler) {
  Methods& methods = paths_[std::string(path)];
  const bool added = methods.emplace(std::move(method), std::move(handler)).second;
  BERTH_CHECK(added, "a method of a path is handled twice");
}

void Router::Include(const Router& other,
                     const std::function<Respond(const RequestPtr&, Respond)>& wrap) {
  for (const auto& [path, methods] : other.paths_) {
    for (const auto& [method, handler] : methods) {
      const auto wrapped = [inner = handler, wrap](const RequestPtr& request, Respond respond) {
        inner(request, wrap(request, std::move(respond)));
      };
      HandleMethod(path, method, wrapped);
    }
  }
}

void Router::Serve(const RequestPtr& request, Respond respond) const {
  const auto found = paths_.find(request->path);
  if (found == paths_.end()) return respond(ErrorText(404, "404 page not found"));
  auto handler = found->second.find(request->method);
  if (handler == found->second.end()) handler = found->second.find("");
  if (handler != found->second.end()) return handler->second(request, std::move(respond));
  Response refused = ErrorText(405, "method not allowed");
  std::string allowed;
  for (const auto& [method, unused] : found->second) {
    allowed += (allowed.empty() ? "" : ", ") + method;
  }
  refused.headers.emplace_back("Allow", allowed);
  respond(std::move(refused));
}

std::vector<std::string> Router::paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, unused] : paths_) paths.push_back(path);
  return paths;
}

}  // namespace berth::serving
