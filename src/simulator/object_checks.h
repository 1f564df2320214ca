// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "berth/api/object.h"
#include "berth/result.h"

namespace berth::simulator {

// The first label or node selector of the object that the API server would not have taken, with the
// field's path; nullopt when all are well.
//
// Thread safety: any thread.
std::optional<Error> FindBadSelector(const api::ObjectPtr& object);

// The first value of a manifest, beside selectors, that scheduling goes by and that the API server
// would not have taken: a word that is none of the field's, a resource that no container may ask
// for, a request that its limit does not allow. With the field's path; nullopt when all are well.
//
// Thread safety: any thread.
std::optional<Error> FindBadValue(const api::ObjectPtr& object);

// What is odd about an object of a live cluster, for people: the first field that cannot be
// read, else that selector, with kind and key of the object. "": nothing.
std::string OddityOf(const api::ObjectPtr& object);

}  // namespace berth::simulator
