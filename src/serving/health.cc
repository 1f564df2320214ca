// SPDX-License-Identifier: Apache-2.0
#include "src/serving/health.h"

#include <set>
#include <utility>

#include "src/base/logging.h"

namespace berth::serving {
namespace {

Response AnswerOfOne(const HealthCheck& check) {
  if (const auto failure = check.failure()) {
    return ErrorText(500, "internal server error: " + *failure);
  }
  Response response;
  response.body = "ok";
  return response;
}

std::string UnknownNames(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "\"" : ",\"") + name + "\"";
  return text;
}

Response AnswerOfAll(const std::string& title, const std::vector<HealthCheck>& checks,
                     const OnHealthCheck& observe, const Request& request) {
  std::set<std::string> excluded;
  for (const auto& [name, value] : request.query) {
    if (name == "exclude") excluded.insert(value);
  }
  std::set<std::string> unknown = excluded;
  std::string lines;
  bool failed = false;
  for (const HealthCheck& check : checks) {
    if (excluded.contains(check.name)) {
      unknown.erase(check.name);
      lines += "[+]" + check.name + " excluded: ok\n";
      continue;
    }
    const auto failure = check.failure();
    if (observe) observe(check.name, title, !failure);
    if (failure) {
      failed = true;
      lines += "[-]" + check.name + " failed: reason withheld\n";
      base::LogV(2, "Health check failed",
                 {{"path", request.path}, {"check", check.name}, {"reason", *failure}});
    } else {
      lines += "[+]" + check.name + " ok\n";
    }
  }
  if (!unknown.empty()) {
    lines += "warn: some health checks cannot be excluded: no matches for " +
             UnknownNames(unknown) + "\n";
  }
  if (failed) return ErrorText(500, lines + title + " check failed");
  Response response;
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  const bool verbose = request.FindQuery("verbose") != nullptr;
  response.body = verbose ? lines + title + " check passed\n" : "ok";
  return response;
}

}  // namespace

void InstallHealth(Router& router, const std::string& path, std::vector<HealthCheck> checks,
                   OnHealthCheck observe) {
  if (checks.empty()) checks.push_back({"ping", [] { return std::nullopt; }});
  for (const HealthCheck& check : checks) {
    router.Answer(
        path + "/" + check.name, [check](const Request& /*request*/) { return AnswerOfOne(check); },
        Router::Takes::kEachMethod);
  }
  router.Answer(
      path,
      [title = path.substr(1), checks = std::move(checks), observe = std::move(observe)](
          const Request& request) { return AnswerOfAll(title, checks, observe, request); },
      Router::Takes::kEachMethod);
}

}  // namespace berth::serving
