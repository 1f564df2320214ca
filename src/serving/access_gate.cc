// SPDX-License-Identifier: Apache-2.0
#include "src/serving/access_gate.h"

#include <algorithm>
#include <utility>

#include "berth/config_value.h"
#include "src/base/logging.h"
#include "src/serving/http.h"
#include "src/serving/refusal.h"

namespace berth::serving {
namespace {

// AccessObserver's results.
constexpr std::string_view kSuccess = "success";
constexpr std::string_view kError = "error";
constexpr std::string_view kAllowed = "allowed";
constexpr std::string_view kDenied = "denied";
constexpr std::string_view kNoOpinion = "no-opinion";

// So that no browser takes a message for a page.
std::string Sanitized(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Quoted(const std::string& text) { return ConfigValue(text).ToJson(); }

Response Forbidden(const Request& request, const AccessAttributes& attributes,
                   const std::string& reason) {
  std::string what = "User " + Quoted(attributes.user.name) + " cannot " + attributes.verb +
                     " path " + Quoted(attributes.path);
  if (const auto& object = attributes.resource) {
    what += ", nor " + object->verb + " resource " + Quoted(object->resource) + " in API group " +
            Quoted(object->group) + " in the namespace " + Quoted(object->namespace_);
  }
  std::string message = "forbidden: " + Sanitized(what);
  if (!reason.empty()) message += ": " + reason;
  return Refusal(request, 403, "Forbidden", message, Details::kEmpty);
}

// The reason behind a refusal. One without a denial comes with the name that kube-scheduler gives
// to the API server among those who decide.
std::string ReasonOf(const AccessDecision& decision) {
  if (decision.denied || decision.reason.empty()) return decision.reason;
  return "kubernetes.io/webhook: " + decision.reason;
}

// As the API server says it of itself.
Response Overloaded(const Request& request) {
  Response response =
      Refusal(request, 429, "TooManyRequests", "too many requests, please try again later");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

std::string LowerVerb(const std::string& method) {
  std::string verb = method;
  for (char& c : verb) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return verb;
}

}  // namespace

AccessGate::AccessGate(std::unique_ptr<Authenticator> authenticator,
                       std::shared_ptr<AccessReviews> reviews,
                       std::vector<std::string> always_allow_paths,
                       std::shared_ptr<const Router> router, const Clock& clock,
                       AboutObject about_object, AccessObserver* observer)
    : authenticator_(std::move(authenticator)),
      reviews_(std::move(reviews)),
      always_allow_(std::move(always_allow_paths)),
      router_(std::move(router)),
      clock_(clock),
      about_object_(std::move(about_object)),
      observer_(observer) {
  for (std::string& path : always_allow_) {
    if (!path.starts_with('/')) path.insert(path.begin(), '/');
  }
}

bool AccessGate::AlwaysAllowed(const std::string& path) const {
  return std::any_of(always_allow_.begin(), always_allow_.end(), [&path](const std::string& rule) {
    if (rule.ends_with('*')) return path.starts_with(rule.substr(0, rule.size() - 1));
    return path == rule;
  });
}

void AccessGate::Serve(const RequestPtr& request, const Respond& respond) {
  const Respond answer = [respond](Response response) {
    response.headers.emplace_back("Cache-Control", "no-cache, private");
    respond(std::move(response));
  };
  Judge(request, Counts::kAlways,
        [router = router_, request, answer](std::optional<Response> refused) {
          if (refused) return answer(*std::move(refused));
          router->Serve(request, answer);
        });
}

void AccessGate::Admit(const RequestPtr& request, const Decide& decide) {
  Judge(request, Counts::kRefused, [decide](std::optional<Response> refused) {
    if (refused) refused->headers.emplace_back("Cache-Control", "no-cache, private");
    decide(std::move(refused));
  });
}

void AccessGate::Judge(const RequestPtr& request, Counts counts, const Decide& answer) {
  const Time begun = clock_.Now();
  authenticator_->Authenticate(*request, [this, begun, request, counts, answer](Answer<User> user) {
    const Time known = clock_.Now();
    const bool counts_later = user && counts == Counts::kRefused;
    if (observer_ != nullptr && !counts_later) {
      observer_->OnAuthenticated(user ? kSuccess : kError, user ? &*user : nullptr, known - begun);
    }
    if (!user && user.error().overloaded) return answer(Overloaded(*request));
    if (!user) {
      base::LogV(2, "Unable to authenticate the request",
                 {{"path", request->path}, {"err", user.error().message}});
      return answer(Refusal(*request, 401, "Unauthorized", "Unauthorized"));
    }
    const std::optional<User> uncounted = counts_later ? std::optional(*user) : std::nullopt;
    Authorize(request, std::move(*user),
              [=, this](std::string_view result, std::optional<Response> refused) {
                if (observer_ != nullptr && (refused || !uncounted)) {
                  if (uncounted) observer_->OnAuthenticated(kSuccess, &*uncounted, known - begun);
                  observer_->OnAuthorized(result, clock_.Now() - known);
                }
                answer(std::move(refused));
              });
  });
}

void AccessGate::Authorize(const RequestPtr& request, User user, const Authorized& decide) {
  const auto is_master = [&user] {
    return std::find(user.groups.begin(), user.groups.end(), kMastersGroup) != user.groups.end();
  };
  if (is_master() || AlwaysAllowed(request->path)) return decide(kAllowed, std::nullopt);
  const AccessAttributes attributes{std::move(user), LowerVerb(request->method), request->path};
  if (reviews_ == nullptr) return decide(kNoOpinion, Forbidden(*request, attributes, ""));
  const auto refuse = [request, decide](const AccessAttributes& about,
                                        const AccessDecision& decision) {
    decide(decision.denied ? kDenied : kNoOpinion, Forbidden(*request, about, ReasonOf(decision)));
  };
  Review(request, attributes, decide, [=, this](const AccessDecision& decision) {
    AccessAttributes about = attributes;
    if (about_object_) about.resource = about_object_(*request);
    if (!about.resource) return refuse(attributes, decision);
    Review(request, about, decide, [=](const AccessDecision& second) { refuse(about, second); });
  });
}

void AccessGate::Review(const RequestPtr& request, const AccessAttributes& attributes,
                        const Authorized& decide,
                        const std::function<void(const AccessDecision&)>& refused) {
  const auto decided = [request, decide, refused](const Answer<AccessDecision>& decision) {
    if (!decision && decision.error().overloaded) return decide(kError, Overloaded(*request));
    if (!decision) {
      return decide(kError,
                    ErrorText(500, Sanitized("Internal Server Error: " + Quoted(request->target) +
                                             ": " + decision.error().message)));
    }
    if (!decision->allowed) return refused(*decision);
    decide(kAllowed, std::nullopt);
  };
  reviews_->Review(attributes, request->peer, *request->departure, decided);
}

}  // namespace berth::serving
