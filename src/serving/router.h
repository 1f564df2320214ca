// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/serving/http.h"

namespace berth::serving {

// Finds the handler of a path. Paths are compared as they are, after decoding: what authorisation
// looked at is what is served.
//
// Thread safety: filled by one owner, then read by any thread.
class Router {
 public:
  // What a path takes: GET and HEAD, and another method gets 405; or each method, as those paths do
  // that kube-scheduler has.
  enum class Takes { kReads, kEachMethod };

  // Answers requests of exactly this path.
  void Handle(std::string path, Handler handler, Takes takes = Takes::kReads);
  // The same for an answer that needs no waiting.
  void Answer(std::string path, std::function<Response(const Request&)> answer,
              Takes takes = Takes::kReads);
  // This method of the path, which may have others; "" is each that has no handler.
  void HandleMethod(std::string_view path, std::string method, Handler handler);

  // All that `other` handles, with what its handlers answer going through `wrap`.
  void Include(const Router& other, const std::function<Respond(const RequestPtr&, Respond)>& wrap);

  // 404 where there is no such path.
  void Serve(const RequestPtr& request, Respond respond) const;

  // Sorted.
  std::vector<std::string> paths() const;

 private:
  // By method; under "" the one for all others.
  using Methods = std::map<std::string, Handler, std::less<>>;
  std::map<std::string, Methods, std::less<>> paths_;
};

}  // namespace berth::serving
