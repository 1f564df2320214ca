// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/result.h"
#include "src/api/protobuf_writer.h"
#include "src/base/string_map.h"
#include "src/informers/informer_event.h"

namespace berth::recording {

// The last recorded version of each object. An informer's event names the version before,
// which a recording need not write again.
//
// Thread safety: one owner.
class KnownObjects {
 public:
  KnownObjects() : by_kind_(informers::kMostKinds) {}

  // The last recorded version of an object that is still there; none where there is none.
  const api::ObjectPtr& Find(informers::Kind kind, std::string_view key) const;
  // An added or updated object is known from now on, a deleted one is not.
  // `bytes` is what the object takes, encoded.
  void Note(const informers::InformerEvent& event, size_t bytes = 0);
  // What they take together.
  uint64_t bytes() const { return bytes_; }

 private:
  struct Known {
    api::ObjectPtr object;
    size_t bytes = 0;
  };

  std::vector<base::StringMap<Known>> by_kind_;
  uint64_t bytes_ = 0;
};

// Appends the object as protobuf, by its field table; a plugin's object with its text as it is;
// nothing for none.
void AppendObject(const api::ObjectPtr& object, api::TextFilter* filter, std::string& out);
// Reads it back. Errors: it cannot be decoded.
Result<api::ObjectPtr> ReadObject(informers::Kind kind, std::string_view bytes);

}  // namespace berth::recording
