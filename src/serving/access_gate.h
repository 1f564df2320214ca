// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/serving/authenticator.h"
#include "src/serving/http.h"
#include "src/serving/reviews.h"
#include "src/serving/router.h"

namespace berth::serving {

// Lets a request through to the router, or does not:
//
//   who is it? --401--> may they? --403--> router
//
// 429 where too many others wait for the API server's word already.
//
// Members of system:masters may do everything, all callers may read the paths that are always
// allowed, and all else is the API server's to say; without one it is refused. Refusals are Status
// objects, as the API server's own.
//
// Thread safety: the executor's thread (see AuthenticationConfig).
class AccessGate {
 public:
  // `reviews` may be nullptr. A path that ends in '*' allows all that begin with what is before it.
  AccessGate(std::unique_ptr<Authenticator> authenticator, std::shared_ptr<AccessReviews> reviews,
             std::vector<std::string> always_allow_paths, std::shared_ptr<const Router> router);

  // Calls `respond` exactly once, now or later; not at all once the client has gone.
  void Serve(const RequestPtr& request, const Respond& respond);

 private:
  bool AlwaysAllowed(const std::string& path) const;
  void Authorize(const RequestPtr& request, User user, const Respond& respond);

  std::unique_ptr<Authenticator> authenticator_;
  std::shared_ptr<AccessReviews> reviews_;
  std::vector<std::string> always_allow_;
  std::shared_ptr<const Router> router_;
};

}  // namespace berth::serving
