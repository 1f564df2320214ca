// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/meta.h"
#include "src/api/decode.h"
#include "src/api/kinds.h"

// Objects as they were read, and what takes the place of a field in them. Nothing else is touched:
// what no field table has, and text that is passed on unread, keep their bytes.
//
// Thread safety: any thread.
namespace berth::api {

// From a Kubernetes envelope, a bare message or JSON, which has been decoded: what cannot be read
// is lost.
StoredForm StoredFormOf(Encoding encoding, std::string_view bytes);

// The body of a PUT of the object, and its media type.
std::string BodyOf(const StoredForm& stored, std::string_view api_version, std::string_view kind);
std::string_view ContentTypeOf(const StoredForm& stored);

// A field that holds a message, a text, or a list of those: by number and by name.
struct SplicedField {
  uint32_t number = 0;
  std::string_view name;
  bool list = false;
};

// Takes objects apart by one level, and puts them together again: protobuf messages by their
// records, JSON by its members. A *value* is a field's payload there, and JSON text here. Views
// point into what is taken apart.
class Splicer {
 public:
  using Values = std::vector<std::string_view>;

  // The elements of a list; else the value, if the object has one.
  virtual Values Get(std::string_view object, const SplicedField& field) const = 0;
  // The object with these in place of what Get finds; none: without the field.
  virtual std::string Set(std::string_view object, const SplicedField& field,
                          const Values& values) const = 0;
  // A text as a value.
  virtual std::string ValueOf(std::string_view text) const = 0;
  // What an object without fields is.
  virtual std::string_view nothing() const = 0;

  // The value of a field that holds a message; nothing() where there is none.
  std::string Inner(std::string_view object, const SplicedField& field) const;

 protected:
  ~Splicer() = default;
};

const Splicer& SplicerOf(const StoredForm& stored);

}  // namespace berth::api
