// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

// What a client would take (RFC 9110, 12.5), read as Kubernetes' servers read it.
//
// Thread safety: any thread.
namespace berth::serving {

// One clause of an Accept header: "application/json;as=Flagz;q=0.5".
struct MediaRange {
  std::string type;     // "application", or "*"
  std::string subtype;  // "json", or "*"
  double quality = 1;
  std::map<std::string, std::string> parameters;  // without q

  bool Includes(std::string_view other_type, std::string_view other_subtype) const;
};

// The clauses, best first: by quality, then by how little they leave open, then as they stand. What
// is no media range is left out; a parameter without a value, too.
std::vector<MediaRange> ParseAccept(std::string_view header);

// Whether an Accept-Encoding header takes gzip.
bool AcceptsGzip(std::string_view header);

}  // namespace berth::serving
