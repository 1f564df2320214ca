// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "berth/result.h"
#include "src/api/kinds.h"

namespace berth::api {

// Reads JSON objects one after another, each parsed once, whatever is then asked of it. Errors are
// those of ReadObject() in decode.h.
//
// Thread safety: one owner.
class JsonObjectReader {
 public:
  JsonObjectReader();
  ~JsonObjectReader();
  JsonObjectReader(const JsonObjectReader&) = delete;
  JsonObjectReader& operator=(const JsonObjectReader&) = delete;

  // What the object says it is; "" where it does not. `before` is what stands ahead of `text` in
  // its file, for the lines of syntax errors; `kind_around` is its kind where it states none.
  // `text` must outlive what is read of it.
  Result<TypeMeta> Parse(std::string_view text, std::string_view before = {},
                         std::string_view kind_around = {});
  // Reads what can be read of the object that was parsed last, successfully, as one of
  // BERTH_WATCHED_KINDS; the rest is listed in its metadata.damage.
  template <typename T>
  Result<void> Read(T& out) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::api
